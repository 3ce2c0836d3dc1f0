/** The network of sandboxes: what they and their tenants may reach, and what they did reach. */
import type { InstanceId } from '../../lib/base/ids.ts';
import type { UrlRule } from '../../lib/outgoing/url-rules.ts';
import type { NetworkSubject } from '../../lib/registry/network.ts';
import { jsonColumn } from '../columns.ts';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from '../drizzle.ts';

/** The lists of sandboxes and of tenants. Triggers remove that of a deleted sandbox, and refuse forgotten tenants. */
export const networkRules = sqliteTable(
  'network_rules',
  {
    kind: text('kind').$type<NetworkSubject>().notNull(),
    /** Of the sandbox or the tenant. */
    id: text('id').notNull(),
    tenant: text('tenant').notNull(),
    /** Null: none of its own. */
    rules: jsonColumn<readonly UrlRule[]>('rules'),
    /** Null: the server's. */
    requestsPerMinute: integer('requests_per_minute'),
    bytesPerDay: integer('bytes_per_day'),
    updated: integer('updated').notNull(),
    updatedBy: text('updated_by').notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.id] }), index('network_rules_by_tenant').on(table.tenant)],
);

/** An hour (since the epoch, in UTC) in which a sandbox called a host. Numbered in the order of their hours. */
export const networkHours = sqliteTable(
  'network_hours',
  {
    seq: integer('seq').primaryKey(),
    instance: text('instance').$type<InstanceId>().notNull(),
    tenant: text('tenant').notNull(),
    hour: integer('hour').notNull(),
    /** Scheme, host and port; empty for the hosts of an hour beyond those that are told apart. */
    host: text('host').notNull(),
    calls: integer('calls').notNull(),
    refused: integer('refused').notNull(),
    bytesOut: integer('bytes_out').notNull(),
    bytesIn: integer('bytes_in').notNull(),
  },
  (table) => [
    uniqueIndex('network_hours_of').on(table.instance, table.hour, table.host),
    index('network_hours_by_tenant').on(table.tenant, table.hour),
  ],
);
