/**
 * What makes a registry on Postgres, and brings an older one forward: steps, each made once and in one transaction. The
 * first makes everything that this version has. Knows nothing of connections.
 */
import { REGISTRY_FUNCTIONS } from './functions.ts';
import { tablesInPostgres } from './tables.ts';
import { REGISTRY_TRIGGERS } from './triggers.ts';

/** Statements of each step, in their order. */
export const STEPS: readonly (() => readonly string[])[] = [
  () => [...REGISTRY_FUNCTIONS, ...tablesInPostgres(), ...REGISTRY_TRIGGERS],
];
