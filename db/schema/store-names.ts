/** The names that were given to objects in the store, each once. */
import type { InstanceId } from '../../lib/base/ids.ts';
import type { StoreNameState } from '../../lib/registry/store-names.ts';
import { index, integer, sql, sqliteTable, text } from '../drizzle.ts';

export const storeNames = sqliteTable(
  'store_names',
  {
    /** Relative to the installation's prefix. */
    name: text('name').primaryKey().notNull(),
    /** Null for a copy. */
    instance: text('instance').$type<InstanceId>(),
    tenant: text('tenant').notNull(),
    kind: text('kind').notNull(),
    /** Of a copy: the SHA-256 of its bytes, by which it is found. */
    hash: text('hash'),
    host: text('host').notNull(),
    state: text('state').$type<StoreNameState>().notNull(),
    begunMs: integer('begun_ms').notNull(),
    supersededMs: integer('superseded_ms'),
  },
  (table) => [
    index('store_names_by_instance').on(table.instance).where(sql`instance is not null`),
    index('store_names_by_hash').on(table.hash, table.kind).where(sql`hash is not null`),
    index('store_names_by_tenant').on(table.tenant, table.name),
    index('store_names_begun').on(table.host).where(sql`state = 'uploading'`),
    index('store_names_superseded').on(table.supersededMs).where(sql`superseded_ms is not null`),
  ],
);
