/** How many workbooks and versions there may be, and the number of the plan builder. */

/** Versions that a workbook keeps, those apart that a sandbox is docked to. */
export const KEPT_VERSIONS = 100;
/** Workbooks of one tenant. */
export const MAX_WORKBOOKS = 1000;

/**
 * Raise it when the same source gives another plan, or other problems: stored plans of an older number are made anew
 * when they are read. A plan that was accepted stays as it was when the new builder refuses its source, so a builder
 * adds members to a plan and takes none away.
 */
export const PLAN_BUILDER = 2;
