import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifySegment } from '../ltx/ltx-reader.ts';
import { rebuild } from '../ltx/rebuild.ts';
import { numbersOf } from '../testing/history.ts';
import { type CutResult, cutBase, cutSegment, type LogPosition } from './cut.ts';
import { cutNow } from './cut-now.ts';

const MIB = 1024 * 1024;

let folder: string;
let db: DatabaseSync;
let segments: string[];
let position: LogPosition;

const main = () => join(folder, 'a.sqlite');
const log = () => `${main()}-wal`;
const target = () => ({
  target: join(folder, `${segments.length + 1}.ltx`),
  txid: segments.length + 1,
  timeMs: 1000 + segments.length,
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-cut-now-'));
  segments = [];
  db = new DatabaseSync(main());
  db.exec('PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
  db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, body BLOB); INSERT INTO rows (body) VALUES (randomblob(9000))');
  const base = await cutBase({ main: main(), log: log(), ...target(), sync: false });
  if (base.kind === 'gap' || base.position === null) throw new Error('There is no base.');
  segments.push(target().target);
  position = base.position;
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

const now = (mostBytes = MIB) => cutNow({ log: log(), position, ...target(), mostBytes });

function take(cut: CutResult | null): void {
  if (cut?.kind !== 'segment') throw new Error(`It was not cut: ${cut?.kind}`);
  segments.push(target().target);
  position = cut.position;
}

/** Every commit of the log in the file, byte for byte. */
async function expectWhole(): Promise<void> {
  const whole = join(folder, 'whole.sqlite');
  copyFileSync(main(), whole);
  copyFileSync(log(), `${whole}-wal`);
  const client = new DatabaseSync(whole);
  client.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  client.close();
  await rebuild({ segments, target: join(folder, 'rebuilt.sqlite') });
  expect(readFileSync(join(folder, 'rebuilt.sqlite')).equals(readFileSync(whole))).toBe(true);
}

test('what is cut at once follows what was cut before, and is what a reader sees, commit for commit', async () => {
  const random = numbersOf(7);
  for (let n = 0; n < 60; n += 1) {
    const bytes = Math.floor(random() * 20_000);
    if (random() < 0.6) db.exec(`INSERT INTO rows (body) VALUES (randomblob(${bytes}))`);
    else db.exec(`UPDATE rows SET body = randomblob(${bytes}) WHERE id % 3 = ${n % 3}`);
    take(
      random() < 0.7
        ? now()
        : await cutSegment({
            ...{ log: log(), position, restartsAt: null, withFirstPage: false, mostBytes: MIB, sync: false },
            ...{ ...target(), main: { bytes: statSync(main()).size } },
          }),
    );
    if (n % 20 === 19) await expectWhole();
  }
  for (const segment of segments) await verifySegment(segment);
  expect(now()).toEqual({ kind: 'nothing' });
});

test('what is too long, or lost its frames, is left to the others, and nothing is written', () => {
  db.exec('INSERT INTO rows (body) VALUES (randomblob(50000))');
  db.exec('INSERT INTO rows (body) VALUES (randomblob(50000))');
  const names = () => readdirSync(folder).sort();
  const before = names();
  expect(now(20_000)).toBeNull();
  take(now());
  truncateSync(log(), 40);
  expect(now()).toBeNull();
  rmSync(log());
  expect(now()).toBeNull();
  expect(names().filter((name) => !before.includes(name))).toEqual(['2.ltx']);
});

test('a log that began anew after it was let go goes on from there', async () => {
  for (const how of ['RESTART', 'TRUNCATE']) {
    db.exec('INSERT INTO rows (body) VALUES (randomblob(50000))');
    take(now());
    db.exec(`PRAGMA wal_checkpoint(${how}); INSERT INTO rows (body) VALUES (1)`);
    take(now());
    await expectWhole();
  }
});

test('a database that became smaller and larger again needs more than its last frames', async () => {
  const shared = { withFirstPage: false, restartsAt: null, mostBytes: MIB, sync: false };
  db.exec('INSERT INTO rows (body) VALUES (randomblob(200000))');
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const base = await cutBase({
    main: main(),
    log: log(),
    target: join(folder, 'again.ltx'),
    txid: 1,
    timeMs: 1,
    sync: false,
  });
  expect(base.kind).toBe('base');
  db.exec('DELETE FROM rows');
  const first = { ...shared, log: log(), position: null, main: { bytes: statSync(main()).size } };
  const cut = await cutSegment({ ...first, target: join(folder, 'first.ltx'), txid: 2, timeMs: 2 });
  if (cut.kind !== 'segment') throw new Error('It was not cut.');
  position = cut.position;
  db.exec('VACUUM');
  expect(now()).toBeNull();
  expect(existsSync(target().target)).toBe(false);
});

test('a page that only the unopened file has is a gap', async () => {
  db.exec('CREATE TABLE numbers (n INTEGER); INSERT INTO numbers VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)');
  db.exec('UPDATE numbers SET n = 2');
  const request = { log: log(), position: null, restartsAt: null, mostBytes: MIB, sync: false, ...target() };
  const { size } = statSync(main());
  const unopened = { ...request, main: { bytes: size } };
  expect(await cutSegment({ ...unopened, withFirstPage: true })).toMatchObject({ kind: 'gap' });
  expect(existsSync(target().target)).toBe(false);
  expect(await cutSegment({ ...unopened, withFirstPage: false })).toMatchObject({ kind: 'segment', pages: 1 });
  expect(await cutSegment({ ...request, main: main(), withFirstPage: true })).toMatchObject({ pages: 2 });
});
