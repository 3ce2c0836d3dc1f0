import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { observeEffects } from '../base/effects.ts';
import { createLogger } from '../base/log.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { Cutter } from './log/cutter.ts';
import { findMoment, restoreMoment } from './moments/replica-reader.ts';
import { newSeries, segmentName } from './names/replica-names.ts';
import type { SeriesPoint } from './names/series-point.ts';
import { ShippedFile } from './shipped-file.ts';
import { SegmentUploads } from './shipping/segment-uploads.ts';
import { canUse } from './testing/can-use.ts';

let folder: string;
let file: string;
let store: ObjectStore;
let uploads: SegmentUploads;
let cutter: Cutter;
let confirmed: { salts: string; frames: number } | null;
let gaps: string[];
let db: DatabaseSync;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-shipped-'));
  mkdirSync(join(folder, 'live'));
  file = join(folder, 'live', 'vfs.sqlite');
  store = await openObjectStore(pathToFileURL(join(folder, 'store')).href, {
    ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
  });
  uploads = new SegmentUploads({ store, log: createLogger('silent'), isBack: () => canUse(store) });
  cutter = new Cutter();
  confirmed = null;
  gaps = [];
  open();
  db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)');
});
afterEach(async () => {
  if (db.isOpen) db.close();
  await uploads.stop();
  await cutter.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

function open(): void {
  db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF');
}

function shipping(point: SeriesPoint | null = null, spoolBytes = 1024 ** 3): ShippedFile {
  return new ShippedFile(
    {
      id: 'a',
      file,
      spool: join(folder, 'spool', 'a'),
      term: 1,
      cutter,
      uploads,
      clock: systemClock,
      log: createLogger('silent'),
      spoolBytes,
      confirm: (at) => {
        confirmed = { salts: at.salts, frames: at.frames };
      },
      onGap: (why) => gaps.push(why),
    },
    point,
    point?.timeMs ?? 0,
  );
}

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const write = (bytes = 5000) =>
  db.exec(`INSERT INTO t (data) VALUES (randomblob(${bytes})); UPDATE t SET data = randomblob(300) WHERE id % 3 = 1`);

/** What a reader sees now, as one file: a checkpoint of a copy. */
function seen(): Buffer {
  const copy = join(folder, 'copy.sqlite');
  for (const end of ['', '-wal']) {
    rmSync(copy + end, { force: true });
    if (existsSync(file + end)) copyFileSync(file + end, copy + end);
  }
  const reader = new DatabaseSync(copy);
  reader.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const bytes = readFileSync(copy);
  reader.close();
  return bytes;
}

async function restored(): Promise<Buffer> {
  await uploads.whenShipped('a');
  const moment = await findMoment(store, 'a', null, null);
  if (moment === null) throw new Error('There is no moment.');
  const target = join(folder, 'restored.sqlite');
  await restoreMoment(store, moment, { target, tmp: join(folder, 'tmp') });
  return readFileSync(target);
}

test('each look ships what was committed, across checkpoints that were confirmed', async () => {
  const shipped = shipping();
  for (let round = 0; round < 4; round += 1) {
    for (let more = 0; more < 30; more += 1) write(40_000);
    await shipped.ship();
    expect(hashOf(await restored())).toBe(hashOf(seen()));
    if (confirmed !== null) db.exec('PRAGMA wal_checkpoint(RESTART)');
  }
  expect(confirmed).not.toBeNull();
  expect(gaps).toEqual([]);
});

test('a log that was written over unconfirmed ends the series, and a base begins another', async () => {
  const shipped = shipping();
  write();
  await shipped.ship();
  write();
  db.exec('PRAGMA wal_checkpoint(RESTART)');
  write();
  await shipped.ship();
  expect(gaps).toHaveLength(1);
  expect(hashOf(await restored())).toBe(hashOf(seen()));
});

test('a log that was kept is shipped to its end after SQLite has removed it, and the file at rest is the same', async () => {
  const shipped = shipping();
  write();
  await shipped.ship();
  write();
  shipped.keepLog();
  write();
  db.exec('PRAGMA wal_checkpoint(PASSIVE); PRAGMA journal_mode = DELETE');
  db.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  await shipped.shipLast();
  const point = await shipped.rest(file);
  expect(hashOf(await restored())).toBe(hashOf(readFileSync(file)));
  expect(readdirSync(join(folder, 'spool', 'a'))).toEqual([]);

  open();
  const next = shipping(point);
  write();
  await next.ship();
  expect(next.point?.series).toEqual(point?.series);
  expect(hashOf(await restored())).toBe(hashOf(seen()));
  expect(gaps).toEqual([]);
});

test('while the store is away no base is written that a full spool has no room for, log included', async () => {
  const shipped = shipping(null, 300_000);
  write();
  await shipped.ship();
  await uploads.whenShipped('a');
  rmSync(join(folder, 'store'), { recursive: true });
  for (let more = 0; more < 8; more += 1) {
    write(1_000_000);
    await shipped.ship();
    if (more === 0) await vi.waitFor(() => expect(uploads.away).not.toBeNull(), { timeout: 240_000 });
  }
  // Nothing was checkpointed: a base of the file alone would be small.
  expect(statSync(file).size).toBeLessThan(100_000);
  expect(gaps).toEqual(['the spool is full']);
  expect(uploads.bytes).toBe(0);
});

test('times of segments grow, whatever the clock does', async () => {
  const ahead = Date.now() + 86_400_000;
  const shipped = shipping({
    series: newSeries(1, ahead),
    txid: 1,
    timeMs: ahead,
    baseBytes: 0,
    sinceBytes: 0,
  });
  write();
  await shipped.ship();
  expect(shipped.lastTimeMs).toBe(ahead + 1);
});

test('a file that cannot be read ships nothing, and goes on once it can', async () => {
  const shipped = shipping();
  rmSync(join(folder, 'spool'), { recursive: true, force: true });
  copyFileSync(file, join(folder, 'spool'));
  write();
  await shipped.ship();
  expect(shipped.isBehind).toBe(true);
  rmSync(join(folder, 'spool'));
  await shipped.ship();
  expect(shipped.isBehind).toBe(false);
  expect(hashOf(await restored())).toBe(hashOf(seen()));
});

test('a series ends after a day, and when its base is outweighed; a restore needs the last one alone', async () => {
  const yesterday = Date.now() - 86_400_001;
  const shipped = shipping();
  write();
  await shipped.ship();
  const { point } = shipped;
  if (point === null) throw new Error('Nothing was shipped.');
  for (const grown of [
    { ...point, sinceBytes: 65 * 1024 * 1024 },
    { ...point, series: newSeries(1, yesterday) },
  ]) {
    write();
    const next = shipping(grown);
    await next.ship();
    expect(next.point?.series).not.toEqual(grown.series);
    expect(hashOf(await restored())).toBe(hashOf(seen()));
  }
  expect(gaps).toEqual([]);
});

test('a long log stays confirmed when nothing was committed since, and is not shipped again', async () => {
  const shipped = shipping();
  for (let more = 0; more < 18; more += 1) db.exec('INSERT INTO t (data) VALUES (randomblob(4000000))');
  await shipped.ship();
  const told = confirmed;
  expect(told?.frames).toBeGreaterThan(1000);
  const { point } = shipped;
  utimesSync(`${file}-wal`, 1, 1);
  await shipped.ship();
  expect(confirmed).toEqual(told);
  expect(shipped.point).toEqual(point);
});

test('a log that was confirmed is confirmed again after a base was read beside it', async () => {
  const shipped = shipping();
  write(5_000_000);
  await shipped.ship();
  const told = confirmed;
  shipped.endSeries('it is tested');
  await shipped.ship();
  expect(told?.frames).toBeGreaterThan(1000);
  expect(confirmed).toEqual(told);
});

test('a file that is gone when it is at rest leaves no log in the spool', async () => {
  const shipped = shipping();
  write();
  await shipped.ship();
  shipped.keepLog();
  write();
  expect(await shipped.rest(join(folder, 'nowhere'))).toBeNull();
  expect(readdirSync(join(folder, 'spool', 'a')).filter((name) => name.startsWith('log-'))).toEqual([]);
  expect(gaps).toHaveLength(1);
});

test('a moment after which a segment is missing says that later ones cannot be made', async () => {
  const shipped = shipping();
  for (let more = 0; more < 4; more += 1) {
    write();
    await shipped.ship();
  }
  await uploads.whenShipped('a');
  const whole = await findMoment(store, 'a', null, null);
  expect(whole?.isShort).toBe(false);
  const missing = whole?.chain[2];
  if (missing === undefined) throw new Error('There is no such segment.');
  rmSync(join(folder, 'store', segmentName(missing)));
  const short = await findMoment(store, 'a', null, null);
  expect(short?.chain.at(-1)?.max).toBe(missing.max - 1);
  expect(short?.isShort).toBe(true);
});

test('a base whose log is not in the store yet is no moment: what was whole before it is', async () => {
  const shipped = shipping();
  write();
  await shipped.ship();
  await uploads.whenShipped('a');
  const before = await findMoment(store, 'a', null, null);
  shipped.endSeries('it is tested');
  for (let more = 0; more < 30; more += 1) write(1_000_000);
  await shipped.ship();
  await uploads.whenShipped('a');
  const after = await findMoment(store, 'a', null, null);
  // All of the log is one segment, however long it is.
  expect(after?.chain.map(({ level, max }) => [level, max])).toEqual([
    [9, 1],
    [0, 2],
  ]);
  const first = after?.chain[1];
  if (first === undefined) throw new Error('There is no segment.');
  rmSync(join(folder, 'store', segmentName(first)));
  const left = await findMoment(store, 'a', null, null);
  expect(left).toMatchObject({ series: before?.series, timeMs: before?.timeMs, isShort: true });
});

test('a log that cannot be removed from the spool costs no series', async () => {
  const shipped = shipping();
  write();
  await shipped.ship();
  shipped.keepLog();
  write();
  db.exec('PRAGMA wal_checkpoint(PASSIVE); PRAGMA journal_mode = DELETE');
  db.close();
  observeEffects({
    before({ kind, path }) {
      if (kind === 'remove' && path.includes('/log-')) throw Object.assign(new Error('EIO'), { code: 'EIO' });
    },
  });
  const point = await shipped.rest(file).finally(() => observeEffects(null));
  expect(point).not.toBeNull();
  expect(hashOf(await restored())).toBe(hashOf(readFileSync(file)));
  expect(gaps).toEqual([]);
});
