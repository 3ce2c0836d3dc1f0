import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rebuild } from '../ltx/rebuild.ts';
import type { LogPosition } from './cut.ts';
import { Cutter } from './cutter.ts';

let folder: string;
let db: DatabaseSync;
let cutter: Cutter;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-cutter-'));
  cutter = new Cutter();
  db = new DatabaseSync(join(folder, 'db'));
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)');
});
afterEach(async () => {
  await cutter.close();
  db.close();
  rmSync(folder, { recursive: true });
});

const at = (name: string) => join(folder, name);
const files = () => ({ log: at('db-wal'), main: at('db') });
const base = (target: string) => cutter.cutBase({ ...files(), target, txid: 1, timeMs: 1, sync: false });
const segment = (target: string, txid: number, position: LogPosition | null) =>
  cutter.cutSegment({
    ...files(),
    position,
    restartsAt: null,
    withFirstPage: true,
    mostBytes: 2 ** 26,
    target,
    txid,
    timeMs: txid,
    sync: true,
  });

test('cuts are those of the thread, and many at once come each to its own', async () => {
  const based = await base(at('1.ltx'));
  if (based.kind !== 'base') throw new Error(based.why);
  const segments = [at('1.ltx')];
  let { position } = based;
  for (let txid = 2; txid < 6; txid += 1) {
    db.prepare('INSERT INTO t (b) VALUES (randomblob(20000))').run();
    const [cut] = await Promise.all([segment(at(`${txid}.ltx`), txid, position), base(at(`other-${txid}.ltx`))]);
    if (cut.kind !== 'segment') throw new Error(cut.kind);
    position = cut.position;
    segments.push(at(`${txid}.ltx`));
  }
  expect(await segment(at('none.ltx'), 6, position)).toEqual({ kind: 'nothing' });
  expect(existsSync(at('none.ltx'))).toBe(false);
  const { sha256, txid, bytes } = await rebuild({ segments, target: at('rebuilt'), atRest: true });
  expect(txid).toBe(5);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const expected = readFileSync(at('db'));
  expect([...expected.subarray(18, 20)]).toEqual([2, 2]);
  expected.fill(1, 18, 20);
  expect(readFileSync(at('rebuilt')).equals(expected)).toBe(true);
  expect([sha256, bytes]).toEqual([hash('sha256', expected), expected.length]);
  const rebuilt = new DatabaseSync(at('rebuilt'), { readOnly: true });
  expect(rebuilt.prepare('SELECT count(*) AS n FROM t').get()?.n).toBe(4);
  rebuilt.close();
});

test('errors come over as they are: of a damaged file, and of the system with its code', async () => {
  const missing = cutter.merge({ segments: [at('none.ltx')], target: at('merged'), sync: false });
  await expect(missing).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' });
  const damaged = cutter.merge({ segments: [at('db')], target: at('merged'), sync: false });
  await expect(damaged).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining('db') });
  await expect(base(join(folder, 'no folder', '1.ltx'))).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' });
  expect(readdirSync(folder).filter((name) => name.startsWith('.') || name === 'merged')).toEqual([]);
});

test('closing waits for what was asked for, and nothing is begun afterwards', async () => {
  const asked = base(at('1.ltx'));
  await cutter.close();
  expect((await asked).kind).toBe('base');
  expect(existsSync(at('1.ltx'))).toBe(true);
  await expect(base(at('2.ltx'))).rejects.toThrow('closed');
  await cutter.close();
});
