import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { linkSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DRAWS_ALL } from '../testing/draw.ts';
import { cutBase, cutFirstPage, cutSegment } from './log/cut.ts';
import { rebuild } from './ltx/rebuild.ts';

const run = promisify(execFile);
const PROBE = fileURLToPath(new URL('./testing/cut-memory.ts', import.meta.url));
const MEBIBYTE = 1024 * 1024;
/** More than the keys of pages have room for at once: the log is gone through twice. */
const LARGE_BYTES = 300 * MEBIBYTE;
const OF_A_DAY_BYTES = 48 * MEBIBYTE;
/** Of memory. 300 MiB of 512-byte pages took 12 MB, of 4 KiB pages 4 MB. */
const MOST_BYTES = 16 * MEBIBYTE;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-large-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A database (absolute) with so many bytes in its log, in one transaction, and its connection. */
function withLog(main: string, bytes: number): DatabaseSync {
  const db = new DatabaseSync(main);
  db.exec(`PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF;
    PRAGMA cache_size = 100; CREATE TABLE t (b); BEGIN`);
  const insert = db.prepare('INSERT INTO t VALUES (zeroblob(?))');
  for (let rest = bytes; rest > 0; rest -= MEBIBYTE) insert.run(Math.min(rest, MEBIBYTE));
  db.exec('COMMIT');
  return db;
}

test('a large log in one transaction is cut in bounded memory', async () => {
  const [small, large] = [join(folder, 'small'), join(folder, 'large')];
  const open = [withLog(small, 1000), withLog(large, DRAWS_ALL ? LARGE_BYTES : OF_A_DAY_BYTES)];
  const { stdout } = await run(process.execPath, ['--max-semi-space-size=1', PROBE, small, large]);
  const { kind, bytes } = JSON.parse(stdout) as { kind: string; bytes: number };
  expect(kind).toBe('segment');
  expect(bytes).toBeLessThan(MOST_BYTES);
  for (const db of open) db.close();
});

test.skipIf(!DRAWS_ALL)('a database of more than one GiB goes over the page of locks and comes to rest', async () => {
  const main = join(folder, 'db');
  const log = `${main}-wal`;
  const db = new DatabaseSync(main);
  db.exec('PRAGMA page_size = 65536; PRAGMA synchronous = OFF; CREATE TABLE t (id INTEGER PRIMARY KEY, b)');
  const insert = db.prepare('INSERT INTO t (b) VALUES (zeroblob(?))');
  while (statSync(main).size < 1020 * MEBIBYTE) insert.run(20 * MEBIBYTE);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
  const at = (txid: number) => ({ target: join(folder, `${txid}.ltx`), txid, timeMs: txid, sync: false });
  const base = await cutBase({ main, log, ...at(1) });
  expect(base.kind).toBe('base');
  insert.run(20 * MEBIBYTE);
  db.exec('INSERT INTO t (b) VALUES (randomblob(3000000))');
  const kept = join(folder, 'kept');
  linkSync(log, kept);
  db.exec('PRAGMA wal_checkpoint(PASSIVE); PRAGMA journal_mode = MEMORY');
  db.close();
  const options = { position: null, restartsAt: null, withFirstPage: true, mostBytes: 2 ** 30 };
  const cut = await cutSegment({ log: kept, main, ...options, ...at(2) });
  if (cut.kind !== 'segment') throw new Error(JSON.stringify(cut));
  expect((await cutFirstPage({ main, position: cut.position, ...at(3) })).kind).toBe('segment');
  const segments = [1, 2, 3].map((txid) => at(txid).target);
  const { sha256, bytes } = await rebuild({ segments, target: join(folder, 'rebuilt') });
  expect(bytes).toBeGreaterThan(2 ** 30 + 65_536);
  expect(sha256).toBe(hash('sha256', readFileSync(main)));
});
