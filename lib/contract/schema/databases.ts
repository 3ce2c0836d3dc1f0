/** Contract schemas of SQLite databases that lie in a volume: their tables, and rows of one. Safe for the browser. */
import { z } from 'zod';
import { parseVfsPath } from '../../vfs/paths.ts';
import { PAST } from './moments.ts';

const path = z.string().min(1).max(4096).transform(parseVfsPath);
const limit = z.coerce.number<number | string>().int().min(1).max(500).default(100);
const cursor = z.string().max(50).optional();

export const databaseQuerySchema = z.strictObject({ path, limit, cursor, ...PAST });
export type DatabaseQuery = z.infer<typeof databaseQuerySchema>;

export const databaseRowsQuerySchema = z.strictObject({
  path,
  table: z.string().max(1000),
  limit,
  cursor,
  ...PAST,
});
export type DatabaseRowsQuery = z.infer<typeof databaseRowsQuerySchema>;

const tableMembers = {
  name: z.string(),
  kind: z.enum(['table', 'view', 'virtual']).meta({ description: 'A virtual table is listed and never opened' }),
  columns: z
    .array(z.object({ name: z.string(), type: z.string() }))
    .meta({ description: 'The first 100; in a list none of a view' }),
  column_count: z.int(),
  row_count: z.int().nullable().meta({ description: 'Counted to 10 000; null for a view, and for what is not opened' }),
  more_rows: z.boolean().meta({ description: 'There are more than `row_count`' }),
  problem: z.string().nullable().meta({ description: 'Why it cannot be opened' }),
};
const wal = z.boolean().meta({ description: 'In WAL mode: rows still in its log are in another file, and not shown' });
const next = z.string().nullable().meta({ description: 'The `cursor` of the next page' });

export const databaseTableSchema = z.object(tableMembers).meta({ id: 'DatabaseTable' });
export type DatabaseTable = z.infer<typeof databaseTableSchema>;

export const databaseSchema = z
  .object({ tables: z.array(databaseTableSchema), total: z.int(), wal, next })
  .meta({ id: 'Database' });
export type Database = z.infer<typeof databaseSchema>;

/** Text is cut to 500 characters, and says its size then; of a blob there are its size and first 32 bytes. */
const cellSchema = z.union([
  z.null(),
  z.number(),
  z.string(),
  z.object({ text: z.string(), bytes: z.int() }),
  z.object({ hex: z.string(), bytes: z.int() }),
]);
export type DatabaseCell = z.infer<typeof cellSchema>;

export const databaseRowsSchema = z
  .object({
    ...tableMembers,
    wal,
    offset: z.int().meta({ description: 'How many rows come before these' }),
    rows: z.array(z.array(cellSchema)),
    next,
  })
  .meta({ id: 'DatabaseRows' });
export type DatabaseRows = z.infer<typeof databaseRowsSchema>;
