/**
 * For tests: readers behind the walls that this machine gives. As a program: has one of them run endless queries, one
 * after the other. Arguments: the data folder, the file.
 */

import { createReaders } from '../../vfs/readers.ts';
import type { Readers } from '../../vfs/types.ts';
import { findHelperWalls } from '../../workers/walls/helper-walls.ts';

const QUERY_TIMEOUT_MS = 120_000;
const MAX_FILE_BYTES = 1024 * 1024;
export const ENDLESS_SQL = 'WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n';

/** `missing`: the walls that this machine does not give, and why. */
export async function walledReaders(
  dataFolder: string,
): Promise<{ readers: Readers; missing: ReadonlyMap<string, string>; stop: () => Promise<void> }> {
  const { walls, missing } = await findHelperWalls({ dataFolder, cacheFolder: null });
  const readers = createReaders({ maxFileBytes: MAX_FILE_BYTES, walls, queryTimeoutMs: QUERY_TIMEOUT_MS });
  const stop = async () => {
    await readers.stop();
    walls?.close();
  };
  return { readers, missing, stop };
}

if (import.meta.main) {
  const [dataFolder = '', path = ''] = process.argv.slice(2);
  const { readers } = await walledReaders(dataFolder);
  for (;;) {
    await readers.read({ path, mode: 'rest' }, { op: 'query', sql: ENDLESS_SQL }).catch(() => undefined);
  }
}
