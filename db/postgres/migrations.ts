/**
 * What makes a registry on Postgres, and brings an older one forward: steps, each made once and all in one transaction.
 * Knows nothing of connections.
 */
import { ACCESS_CHANGES } from './access-changes.ts';
import { ACTIVE_LEFT, DUE_AT, LEDGER_APPEND, LEDGER_CHAINED, REGISTRY_FUNCTIONS } from './functions.ts';
import { NOT_NEEDED, tablesInPostgres } from './tables.ts';
import { TEXT_INDEX } from './texts.ts';
import { INSTANCES_CHANGED, REGISTRY_TRIGGERS } from './triggers.ts';

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
  // What a commit costs: functions that do the same with fewer statements, and indexes that only SQLite needs.
  () => [
    ...[DUE_AT, ACTIVE_LEFT, LEDGER_APPEND, LEDGER_CHAINED, INSTANCES_CHANGED],
    ...NOT_NEEDED.map((name) => `DROP INDEX IF EXISTS ${name}`),
    ...TEXT_INDEX,
  ],
  // Named moments, which go with their sandbox.
  () => [
    'ALTER TABLE snapshots ADD COLUMN IF NOT EXISTS moment_ms bigint',
    `CREATE UNIQUE INDEX IF NOT EXISTS snapshots_by_moment ON snapshots (source, tag)
      WHERE deleted IS NULL AND moment_ms IS NOT NULL`,
    INSTANCES_CHANGED,
  ],
  // What hosts say of themselves, and the renewals of their leases.
  () => [
    ...['url', 'capacity', 'version', 'labels', 'token', 'public_key'].map(
      (name) => `ALTER TABLE hosts ADD COLUMN IF NOT EXISTS ${name} text COLLATE "C"`,
    ),
    ...['renewed_ms', 'lease_ms'].map((name) => `ALTER TABLE hosts ADD COLUMN IF NOT EXISTS ${name} bigint`),
    ...['draining', 'renewals'].map(
      (name) => `ALTER TABLE hosts ADD COLUMN IF NOT EXISTS ${name} bigint NOT NULL DEFAULT 0`,
    ),
  ],
  // What a host has.
  () => [
    `CREATE INDEX IF NOT EXISTS instances_by_host_updated ON instances (owner_host, updated)
      WHERE owner_host IS NOT NULL AND tombstone = 0`,
  ],
  // What orders the series of replicas: what is a host's was acquired by it.
  () => [
    ...['series_term', 'series_host_term'].map(
      (name) => `ALTER TABLE instances ADD COLUMN IF NOT EXISTS ${name} bigint`,
    ),
    'UPDATE instances SET series_term = owner_term, series_host_term = owner_term WHERE owner_term IS NOT NULL',
  ],
  // How a host is emptied.
  () => ['ALTER TABLE hosts ADD COLUMN IF NOT EXISTS drain text COLLATE "C"'],
];
