/**
 * What makes a registry on Postgres, and brings an older one forward: steps, each made once and all in one transaction.
 * Knows nothing of connections.
 */
import { ACCESS_CHANGES } from './access-changes.ts';
import { REGISTRY_FUNCTIONS } from './functions.ts';
import { tablesInPostgres } from './tables.ts';
import { REGISTRY_TRIGGERS } from './triggers.ts';

/**
 * Numbers of the steps that contract: after one of them a version that does not know it cannot use the registry, and is
 * refused. Every other step only expands: it adds tables, columns that may be left out, functions and indexes, and a
 * version from before it goes on as if it were not there (docs/operations.md, "A registry on Postgres").
 */
export const CONTRACTING: ReadonlySet<number> = new Set();

/** Statements of each step, in their order. */
export const STEPS: readonly (() => readonly string[])[] = [
  () => [...REGISTRY_FUNCTIONS, ...tablesInPostgres(), ...REGISTRY_TRIGGERS],
  () => ACCESS_CHANGES,
];
