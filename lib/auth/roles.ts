/** The roles. What each may do is one table: contract/access.ts. Pure; imports nothing. */

/** `tenant` is for programs: only API keys have it. */
export const ROLES = ['admin', 'operator', 'support', 'viewer', 'tenant'] as const;
export type Role = (typeof ROLES)[number];

/** The roles that a person can have. */
export const PERSON_ROLES = ['admin', 'operator', 'support', 'viewer'] as const satisfies readonly Role[];
export type PersonRole = (typeof PERSON_ROLES)[number];
