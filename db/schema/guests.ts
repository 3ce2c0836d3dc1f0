/** What guests are given from outside: variables of their environment, and secrets that the server adds to requests. */
import type { InstanceId } from '../../lib/base/ids.ts';
import type { EnvironmentKind, Variables } from '../../lib/registry/environments.ts';
import { jsonColumn } from '../columns.ts';
import { index, integer, primaryKey, sqliteTable, text } from '../drizzle.ts';

/**
 * Variables of a tenant, a blueprint, a snapshot (names alone) or a sandbox. Triggers remove those of what is removed.
 */
export const environments = sqliteTable(
  'environments',
  {
    kind: text('kind').$type<EnvironmentKind>().notNull(),
    /** Name of the tenant or blueprint, id of the snapshot or sandbox. */
    owner: text('owner').notNull(),
    /** Null for a blueprint without one. */
    tenant: text('tenant'),
    /** A name without a value wants one. */
    variables: jsonColumn<Variables>('variables').notNull(),
    updated: integer('updated').notNull(),
    updatedBy: text('updated_by').notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.owner] }), index('environments_by_tenant').on(table.tenant)],
);

/** Secrets of a tenant, and of its sandboxes. Triggers remove those of a deleted sandbox. */
export const secrets = sqliteTable(
  'secrets',
  {
    tenant: text('tenant').notNull(),
    /** Empty: every sandbox of the tenant. */
    instance: text('instance').$type<InstanceId | ''>().notNull(),
    name: text('name').notNull(),
    /** Requests to what begins with it carry the secret. */
    url: text('url').notNull(),
    header: text('header').notNull(),
    /** Value of the header, with `{}` in the secret's place. */
    format: text('format').notNull(),
    /** The secret, encrypted for exactly the columns above. */
    sealed: text('sealed').notNull(),
    created: integer('created').notNull(),
    createdBy: text('created_by').notNull(),
    updated: integer('updated').notNull(),
    updatedBy: text('updated_by').notNull(),
    lastUsed: integer('last_used'),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.instance, table.name] })],
);
