/** Exported bundles. */
import type { InstanceId } from '../../lib/base/ids.ts';
import type { ShareMember } from '../../lib/registry/shares.ts';
import { jsonColumn } from '../columns.ts';
import { index, integer, sqliteTable, text, uniqueIndex } from '../drizzle.ts';

/** One row per exported bundle, written before its first byte was sent, never changed. */
export const shares = sqliteTable(
  'shares',
  {
    seq: integer('seq').primaryKey(),
    /** The id in the bundle's manifest. */
    id: text('id').notNull(),
    instance: text('instance').$type<InstanceId>().notNull(),
    tenant: text('tenant').notNull(),
    format: text('format').notNull(),
    volumes: jsonColumn<string[]>('volumes').notNull(),
    privateIncluded: integer('private_included', { mode: 'boolean' }).notNull(),
    /** The `did:key` that signed; null when it is not signed. */
    issuer: text('issuer'),
    /** Each member by its name. */
    members: jsonColumn<Record<string, ShareMember>>('members').notNull(),
    /** Lower-case hex: of `vfs.sqlite`, and of the whole bundle. */
    diskSha256: text('disk_sha256').notNull(),
    sha256: text('sha256').notNull(),
    bytes: integer('bytes').notNull(),
    created: integer('created').notNull(),
    actor: text('actor').notNull(),
    requestId: text('request_id'),
  },
  (table) => [
    uniqueIndex('shares_by_id').on(table.id),
    index('shares_by_tenant').on(table.tenant, table.seq),
    index('shares_by_instance').on(table.instance, table.seq),
    index('shares_by_sha256').on(table.sha256),
    index('shares_by_disk').on(table.diskSha256),
  ],
);
