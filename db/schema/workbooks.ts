/** Workbooks: the newest version of each, and every version with its source and what was read from it. */
import { index, integer, primaryKey, sqliteTable, text } from '../drizzle.ts';

/** What a list shows of a workbook is here, so that no list reads a source. Ids are a tenant's own. */
export const workbooks = sqliteTable(
  'workbooks',
  {
    tenant: text('tenant').notNull(),
    id: text('id').notNull(),
    /** From the source: `#+TITLE:`. */
    title: text('title'),
    /** The newest. */
    version: integer('version').notNull(),
    /** Of the source's bytes: lower-case hex. */
    hash: text('hash').notNull(),
    bytes: integer('bytes').notNull(),
    /** Null when the source has problems. */
    components: integer('components'),
    /** How many there are. */
    problems: integer('problems').notNull(),
    created: integer('created').notNull(),
    updated: integer('updated').notNull(),
    updatedBy: text('updated_by').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.id] }), index('workbooks_by_id').on(table.id, table.tenant)],
);

export const workbookVersions = sqliteTable(
  'workbook_versions',
  {
    tenant: text('tenant').notNull(),
    id: text('id').notNull(),
    version: integer('version').notNull(),
    title: text('title'),
    hash: text('hash').notNull(),
    bytes: integer('bytes').notNull(),
    components: integer('components'),
    problems: integer('problems').notNull(),
    created: integer('created').notNull(),
    createdBy: text('created_by').notNull(),
    /** Org text, byte for byte. */
    source: text('source').notNull(),
    /** JSON of the plan; null when there are problems. */
    plan: text('plan'),
    /** JSON of the problems. */
    problemList: text('problem_list').notNull(),
    /** Which plan builder made the plan; an older one's is made anew when it is read. */
    builder: integer('builder').notNull().default(0),
    /** How many schedules the plan declares. */
    schedules: integer('schedules').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.id, table.version] })],
);
