/** Agents of the session API: files under a name of a tenant, with what its clients say of them. */
import type { InstanceId } from '../../lib/base/ids.ts';
import { jsonColumn } from '../columns.ts';
import { integer, primaryKey, sqliteTable, text } from '../drizzle.ts';

export const agents = sqliteTable(
  'agents',
  {
    tenant: text('tenant').notNull(),
    name: text('name').notNull(),
    /** A UUID, which stays when the agent is deployed again. */
    id: text('id').notNull(),
    version: integer('version').notNull(),
    /** The snapshot that holds its files. Null: it is being made for the first time. */
    snapshot: text('snapshot'),
    /** The sandbox that its next files are put into; null while nobody deploys it. */
    making: text('making').$type<InstanceId>(),
    /** The snapshot of the version before, until that is deleted. */
    replaced: text('replaced'),
    description: text('description'),
    model: text('model'),
    /** Variables that its sessions begin with. */
    env: jsonColumn<Record<string, string>>('env').notNull(),
    created: integer('created').notNull(),
    updated: integer('updated').notNull(),
    updatedBy: text('updated_by').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.name] })],
);
