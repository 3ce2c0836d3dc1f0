/** What answers of load have at most. Of its own: pages know it without the schemas. */

/** Points of an answer. */
export const LOAD_POINTS = 400;
