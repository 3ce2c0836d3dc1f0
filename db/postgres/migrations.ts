/**
 * What makes a registry on Postgres, and brings an older one forward: steps, each made once and all in one transaction.
 * Knows nothing of connections.
 */
import { ACCESS_CHANGES } from './access-changes.ts';
import { REGISTRY_FUNCTIONS } from './functions.ts';
import { tablesInPostgres } from './tables.ts';
import { REGISTRY_TRIGGERS } from './triggers.ts';

/** Statements of each step, in their order. */
export const STEPS: readonly (() => readonly string[])[] = [
  () => [...REGISTRY_FUNCTIONS, ...tablesInPostgres(), ...REGISTRY_TRIGGERS],
  () => ACCESS_CHANGES,
];
