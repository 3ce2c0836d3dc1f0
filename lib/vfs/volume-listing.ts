/** Reads over whole volumes: listings and sums. Reads no contents. */
import { WinterdockError } from '../base/errors.ts';
import type { Statements } from './statements.ts';
import { MTIME, SIZE, WITH_NODE, withoutNodes } from './table-reader.ts';
import { VOLUMES, type Volume } from './volumes.ts';

/** Largest page of a listing. */
const MAX_PAGE = 10_000;

/**
 * Files of one volume in SQLite's byte order. The upper bound of a prefix is the prefix and byte 255, which occurs in
 * no UTF-8 text. Throws `validation` for a limit that is not 1 to 10 000.
 */
export function listFiles(
  statements: Statements,
  nodes: boolean,
  volume: Volume,
  options: { prefix?: string; limit: number; after?: string },
): { files: { path: string; size: number; mtime: number }[]; next: string | null } {
  if (!Number.isInteger(options.limit) || options.limit < 1 || options.limit > MAX_PAGE) {
    throw new WinterdockError('validation', `A page has 1 to ${MAX_PAGE} files, not ${options.limit}.`);
  }
  const sql = `SELECT v.path AS path, ${SIZE} AS size, ${MTIME} AS mtime FROM ${WITH_NODE}
    WHERE v.volume = ? AND v.path >= ? AND v.path < ? || CAST(x'FF' AS TEXT) AND v.path > ? ORDER BY v.path LIMIT ?`;
  const prefix = options.prefix ?? '';
  const files = statements.all<{ path: string; size: number; mtime: number }>(
    nodes ? sql : withoutNodes(sql),
    volume,
    prefix,
    prefix,
    options.after ?? '',
    options.limit + 1,
  );
  const page = files.slice(0, options.limit).map(({ path, size, mtime }) => ({ path, size, mtime }));
  return { files: page, next: files.length > options.limit ? (page.at(-1)?.path ?? null) : null };
}

/**
 * Files and bytes of the three volumes, in their order: one pass over the rows without reading contents. Summed without
 * GROUP BY, whose sorter would copy the contents.
 */
export function volumeSizes(statements: Statements): { volume: Volume; files: number; bytes: number }[] {
  const columns = VOLUMES.map(
    (volume) =>
      `count(*) FILTER (WHERE volume = '${volume}') AS ${volume}Files, total(octet_length(content)) FILTER (WHERE volume = '${volume}') AS ${volume}Bytes`,
  );
  const sums = statements.get<Record<string, number>>(`SELECT ${columns.join(', ')} FROM vfs NOT INDEXED`) ?? {};
  return VOLUMES.map((volume) => ({ volume, files: sums[`${volume}Files`] ?? 0, bytes: sums[`${volume}Bytes`] ?? 0 }));
}
