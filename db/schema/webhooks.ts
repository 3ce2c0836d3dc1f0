/** Webhooks: who is told of ledger lines, and what was delivered. */
import type { DeliveryState } from '../../lib/registry/webhooks.ts';
import { jsonColumn } from '../columns.ts';
import { index, integer, real, sql, sqliteTable, text, uniqueIndex } from '../drizzle.ts';

/** A trigger removes the deliveries of a removed webhook. */
export const webhooks = sqliteTable(
  'webhooks',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull(),
    name: text('name').notNull(),
    url: text('url').notNull(),
    /** The only tenant whose lines it is told; null: all lines. */
    tenant: text('tenant'),
    /** Types of lines, `instance.*` for a whole subject, `problems` for faults and refusals; null: all. */
    types: jsonColumn<readonly string[]>('types'),
    /** Encrypted with the data folder's key. */
    secret: text('secret').notNull(),
    /** The secret before the last rotation, which signs too until then. */
    oldSecret: text('old_secret'),
    oldSecretUntil: integer('old_secret_until'),
    enabled: integer('enabled', { mode: 'boolean' }).notNull(),
    /** Why the server turned it off; null when a person did. */
    offReason: text('off_reason'),
    /** Number of the last ledger line that was looked at for it. */
    cursor: integer('cursor').notNull(),
    /** Consecutive attempts without success, and when the first of them was made. */
    failures: integer('failures').notNull().default(0),
    failingSinceMs: integer('failing_since_ms'),
    lastSuccessMs: integer('last_success_ms'),
    created: integer('created').notNull(),
    createdBy: text('created_by').notNull(),
  },
  (table) => [uniqueIndex('webhooks_by_id').on(table.id), index('webhooks_by_tenant').on(table.tenant)],
);

/** What is to be delivered and the last that was. The text is made of the ledger line when it is sent. */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    seq: integer('seq').primaryKey(),
    /** The `webhook-id` of every attempt. */
    id: text('id').notNull(),
    webhook: text('webhook').notNull(),
    /** Number of the ledger line; null for a test. */
    line: integer('line'),
    type: text('type').notNull(),
    state: text('state').$type<DeliveryState>().notNull(),
    attempts: integer('attempts').notNull(),
    createdMs: integer('created_ms').notNull(),
    /** When it is tried next; null when it is not. */
    nextMs: integer('next_ms'),
    /** Of the last attempt: when, how long, the answer's status, why not. */
    attemptedMs: integer('attempted_ms'),
    tookMs: real('took_ms'),
    status: integer('status'),
    error: text('error'),
  },
  (table) => [
    uniqueIndex('webhook_deliveries_by_id').on(table.id),
    index('webhook_deliveries_of').on(table.webhook, table.seq),
    index('webhook_deliveries_due').on(table.webhook, table.nextMs).where(sql`next_ms is not null`),
  ],
);
