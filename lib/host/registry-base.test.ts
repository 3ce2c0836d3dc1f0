import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { createLogger } from '../base/log.ts';
import { rebuild } from '../replication/ltx/rebuild.ts';
import { buildWalls } from '../workers/walls/walls.ts';
import { cutRegistryBase } from './registry-base.ts';

test('a base of a file that this process has open is cut by another one, whole, and given up when it is told to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-base-'));
  const [dataFolder, cacheFolder] = [join(folder, 'data'), join(folder, 'cache')];
  const spool = join(dataFolder, 'spool');
  mkdirSync(spool, { recursive: true });
  const walls = await buildWalls({ dataFolder, cacheFolder, maxStartMs: 60_000 });
  const main = join(dataFolder, 'registry.sqlite');
  const db = new DatabaseSync(main);
  onTestFinished(() => {
    db.close();
    walls.close();
    rmSync(folder, { recursive: true });
  });
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE rows (body BLOB); INSERT INTO rows VALUES (zeroblob(100000))');
  db.exec('PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO rows VALUES (1)');
  const parts = { config: { dataFolder, cacheFolder }, states: walls.states, log: createLogger('fatal') };
  const target = join(spool, 'base.ltx');
  const request = { main, log: `${main}-wal`, target, txid: 1, timeMs: 1, sync: true };
  const cut = await cutRegistryBase(parts, request, new AbortController().signal);
  expect(cut).toMatchObject({ kind: 'base', position: { frames: 0 } });
  const { sha256 } = await rebuild({ segments: [target], target: join(folder, 'rebuilt.sqlite') });
  expect(cut.kind === 'base' && cut.sha256).toBe(sha256);
  const gone = { ...request, target: join(spool, 'gone.ltx') };
  const failed = { code: 'storage_unavailable' };
  await expect(cutRegistryBase(parts, gone, AbortSignal.abort())).rejects.toMatchObject(failed);
});
