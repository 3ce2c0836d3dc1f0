/** The ledger's lines and its sealed months. */
import type { InstanceId } from '../../lib/base/ids.ts';
import type { State } from '../../lib/lifecycle/state-map.ts';
import type { Source, Trigger, Via } from '../../lib/lifecycle/words.ts';
import { index, integer, real, sql, sqliteTable, text } from '../drizzle.ts';

/**
 * The ledger: append-only, enforced by triggers, so no number is ever used again. Each line's hash covers the line and
 * all earlier ones.
 */
export const events = sqliteTable(
  'events',
  {
    seq: integer('seq').primaryKey(),
    timeMs: integer('time_ms').notNull(),
    instance: text('instance').$type<InstanceId>(),
    tenant: text('tenant'),
    type: text('type').notNull(),
    from: text('from').$type<State>(),
    to: text('to').$type<State>(),
    trigger: text('trigger').$type<Trigger>().notNull(),
    actor: text('actor').notNull(),
    via: text('via').$type<Via>().notNull(),
    source: text('source').$type<Source>(),
    tookMs: real('took_ms'),
    reason: text('reason'),
    error: text('error'),
    requestId: text('request_id'),
    /** The peer's address, where a request had one. */
    address: text('address'),
    /** Lower-case hex. A trigger refuses a line without it. */
    hash: text('hash'),
    /** JSON of the signed note that replaces its texts after its tenant was forgotten; null otherwise. */
    blanked: text('blanked'),
  },
  (table) => [
    index('events_blanked').on(table.seq).where(sql`blanked is not null`),
    index('events_by_time').on(table.timeMs),
    index('events_by_instance').on(table.instance, table.timeMs),
    index('events_by_tenant').on(table.tenant, table.timeMs),
    index('events_by_type').on(table.type, table.timeMs),
    index('events_by_actor').on(table.actor, table.timeMs),
    index('events_by_request').on(table.requestId, table.timeMs).where(sql`request_id is not null`),
    index('events_by_trigger').on(table.trigger, table.timeMs),
  ],
);

/** A sealed month of the ledger; it stays when its lines are dropped. Triggers allow one export and one drop. */
export const ledgerSegments = sqliteTable('ledger_segments', {
  /** `2026-11`. */
  id: text('id').primaryKey().notNull(),
  firstSeq: integer('first_seq').notNull(),
  lastSeq: integer('last_seq').notNull(),
  lines: integer('lines').notNull(),
  /** The hash before its first line. */
  previousHash: text('previous_hash').notNull(),
  firstHash: text('first_hash').notNull(),
  lastHash: text('last_hash').notNull(),
  sealedMs: integer('sealed_ms').notNull(),
  /** The `did:key` of the signatures. */
  issuer: text('issuer').notNull(),
  signature: text('signature').notNull(),
  exportedMs: integer('exported_ms'),
  /** Set before the first of its lines is dropped. */
  droppedMs: integer('dropped_ms'),
  dropSignature: text('drop_signature'),
});
