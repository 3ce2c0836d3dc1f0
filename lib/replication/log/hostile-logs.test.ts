import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LtxReader } from '../ltx/ltx-reader.ts';
import { rebuild } from '../ltx/rebuild.ts';
import { numbersOf } from '../testing/history.ts';
import { type MadeFrame, madeDatabase, madeLog } from '../testing/made-log.ts';
import { type CutResult, cutBase, cutFirstPage, cutSegment, type LogPosition, type SegmentRequest } from './cut.ts';
import { Cutter } from './cutter.ts';
import { lastFrames } from './last-frames.ts';
import { LogReader } from './log-reader.ts';

const TWO = [
  { page: 1, commit: 0, text: 'a' },
  { page: 2, commit: 2, text: 'b' },
  { page: 2, commit: 2, text: 'c' },
];

let folder: string;
let log: string;
let main: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-hostile-'));
  [log, main] = [join(folder, 'log'), join(folder, 'main')];
  writeFileSync(main, madeDatabase(['1', '2']));
});
afterEach(() => rmSync(folder, { recursive: true }));

function cut(more: Partial<SegmentRequest> = {}): Promise<CutResult> {
  return cutSegment({
    log,
    main,
    position: null,
    restartsAt: null,
    withFirstPage: false,
    mostBytes: 2 ** 26,
    target: join(folder, 'cut.ltx'),
    txid: 2,
    timeMs: 1,
    sync: false,
    ...more,
  });
}

async function cutOf(frames: readonly MadeFrame[], more: Partial<SegmentRequest> = {}): Promise<LogPosition> {
  writeFileSync(log, madeLog(frames));
  const result = await cut(more);
  if (result.kind !== 'segment') throw new Error(JSON.stringify(result));
  return result.position;
}

/** What the segment has: numbers of pages, and the character that each is full of. */
async function inSegment(): Promise<[number, string][]> {
  const reader = await LtxReader.open(join(folder, 'cut.ltx'));
  const found: [number, string][] = [];
  for (let page = await reader.next(); page !== 0; page = await reader.next()) {
    found.push([page, reader.page.toString('latin1', 100, 101)]);
  }
  await reader.close();
  return found;
}

describe('a log', () => {
  test('is read in both orders of bytes and with every size of a page', async () => {
    for (let pageSize = 512; pageSize <= 65_536; pageSize *= 2) {
      for (const isBigEndian of [false, true]) {
        writeFileSync(main, madeDatabase(['1', '2'], pageSize));
        writeFileSync(log, madeLog(TWO, { pageSize, isBigEndian }));
        expect(await cut()).toMatchObject({ kind: 'segment', pages: 2, commit: 2, pageSize });
        expect(await inSegment()).toEqual([
          [1, 'a'],
          [2, 'c'],
        ]);
      }
    }
  });

  test('that is cut off anywhere has what was committed before', async () => {
    const whole = madeLog(TWO);
    for (let length = 0; length < whole.length; length += 23) {
      writeFileSync(log, whole.subarray(0, length));
      const result = await cut();
      const frames = Math.floor((length - 32) / 536);
      if (frames < 2) expect(result).toEqual({ kind: 'nothing' });
      else expect(result).toMatchObject({ kind: 'segment', position: { frames: 2 } });
    }
  });

  test('of which any byte is another has what was committed before it', async () => {
    const whole = madeLog(TWO);
    for (let at = 0; at < whole.length; at += 13) {
      const wrong = Buffer.from(whole);
      wrong[at] = (wrong[at] ?? 0) ^ 0x10;
      writeFileSync(log, wrong);
      // The number of checkpoints in the header is covered by its checksum as well.
      const frames = at < 32 + 2 * 536 ? 0 : 2;
      const result = await cut();
      expect([at, result.kind === 'segment' ? result.position.frames : 0]).toEqual([at, frames]);
    }
  });

  test('says what no database has: nothing of it is in a segment', async () => {
    const odd: [MadeFrame[], string | [number, string][]][] = [
      [[{ page: 0, commit: 2, text: 'a' }], 'nothing'],
      [[{ page: 1, commit: 0, text: 'a' }], 'nothing'],
      [[{ page: 1, commit: 2 ** 32 - 1, text: 'a' }], 'gap'],
      [
        [
          { page: 2 ** 32 - 1, commit: 0, text: 'x' },
          { page: 1, commit: 2, text: 'a' },
        ],
        [[1, 'a']],
      ],
      [[{ page: 9, commit: 2, text: 'x' }], []],
      [[{ page: 1, commit: 2 ** 30, text: 'x' }], 'gap'],
    ];
    for (const [frames, expected] of odd) {
      writeFileSync(log, madeLog(frames));
      const result = await cut();
      if (typeof expected === 'string') expect([frames, result.kind]).toEqual([frames, expected]);
      else {
        expect(result.kind).toBe('segment');
        expect(await inSegment()).toEqual(expected);
      }
    }
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('that is no regular file, or any bytes, is no log; after a position that is a gap', async () => {
    const position = await cutOf(TWO);
    const makes: (() => void)[] = [
      () => undefined,
      () => mkdirSync(log),
      () => symlinkSync(main, log),
      () => symlinkSync(log, log),
      () => execFileSync('mkfifo', [log]),
      () => writeFileSync(log, ''),
      () => writeFileSync(log, Buffer.alloc(32)),
      () => {
        writeFileSync(log, '');
        truncateSync(log, 2 ** 41);
      },
    ];
    for (const make of makes) {
      rmSync(log, { recursive: true, force: true });
      make();
      expect(await cut()).toEqual({ kind: 'nothing' });
      expect(await cut({ position, restartsAt: position })).toEqual({ kind: 'nothing' });
      expect((await cut({ position })).kind).toBe('gap');
    }
    rmSync(log, { recursive: true });
    const server = createServer().listen(log);
    await new Promise((resolve) => server.once('listening', resolve));
    expect(await cut()).toEqual({ kind: 'nothing' });
    await new Promise((resolve) => server.close(resolve));
    const random = numbersOf(11);
    for (let round = 0; round < 100; round += 1) {
      const bytes = madeLog(TWO);
      for (let flips = 1 + Math.floor(random() * 8); flips > 0; flips -= 1) {
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      }
      writeFileSync(log, round % 2 === 0 ? bytes : bytes.subarray(Math.floor(random() * 64)));
      expect(['nothing', 'segment']).toContain((await cut()).kind);
    }
  });

  test('after a long one that was written over is read no further than its own frames', async () => {
    const old = madeLog([...TWO, ...TWO, ...TWO], { salts: 'aaaaaaaabbbbbbbb' });
    madeLog(TWO).copy(old);
    writeFileSync(log, old);
    expect(await cut()).toMatchObject({ kind: 'segment', position: { frames: 3 }, isMore: false });
  });
});

describe('a position', () => {
  test('is followed in its own log, and into the next where all of it was confirmed', async () => {
    const position = await cutOf(TWO);
    expect(await cut({ position })).toEqual({ kind: 'nothing' });
    await cutOf([...TWO, { page: 1, commit: 2, text: 'd' }], { position });
    expect(await inSegment()).toEqual([[1, 'd']]);
    writeFileSync(log, madeLog([{ page: 2, commit: 2, text: 'e' }], { salts: 'ffffffff00000000' }));
    expect((await cut({ position })).kind).toBe('gap');
    expect((await cut({ position, restartsAt: { ...position, frames: 2 } })).kind).toBe('gap');
    expect(await cut({ position, restartsAt: position })).toMatchObject({ kind: 'segment', position: { frames: 1 } });
    expect(await inSegment()).toEqual([[2, 'e']]);
  });

  test('that the log does not have any more is a gap', async () => {
    const position = await cutOf(TWO);
    writeFileSync(log, madeLog(TWO.slice(0, 2)));
    expect((await cut({ position })).kind).toBe('gap');
    writeFileSync(log, madeLog([...TWO.slice(0, 2), { page: 2, commit: 2, text: 'other' }]));
    expect((await cut({ position })).kind).toBe('gap');
    expect((await cut({ pageSize: 1024 })).kind).toBe('gap');
    writeFileSync(main, madeDatabase(['1', '2'], 1024));
    expect((await cut()).kind).toBe('gap');
  });

  test('is moved on by so many bytes at a time, and never within a transaction', async () => {
    const frames = [...TWO, { page: 1, commit: 0, text: 'd' }, { page: 2, commit: 2, text: 'e' }];
    const ends: number[] = [];
    let position: LogPosition | null = null;
    for (;;) {
      writeFileSync(log, madeLog(frames));
      const result = await cut({ position, mostBytes: 1 });
      if (result.kind !== 'segment') break;
      position = result.position;
      ends.push(position.frames);
    }
    expect(ends).toEqual([2, 3, 5]);
  });
});

describe('pages that are in no frame', () => {
  const SHRUNK = [
    ...[1, 2, 3, 4].map((page) => ({ page, commit: 0, text: 'a' })),
    { page: 5, commit: 5, text: 'a' },
    { page: 1, commit: 2, text: 'b' },
  ];
  const GROWN = [...SHRUNK, { page: 4, commit: 5, text: 'c' }];

  test('are taken from the database where it was as long, and are zeros where it was not', async () => {
    writeFileSync(main, madeDatabase(['1', '2', '3', '4']));
    await cutOf([
      { page: 1, commit: 2, text: 'b' },
      { page: 5, commit: 6, text: 'c' },
    ]);
    expect(await inSegment()).toEqual([
      [1, 'b'],
      [3, '3'],
      [4, '4'],
      [5, 'c'],
      [6, '\0'],
    ]);
    rmSync(main);
    await cutOf([{ page: 2, commit: 3, text: 'c' }], { withFirstPage: true });
    expect(await inSegment()).toEqual([
      [1, '\0'],
      [2, 'c'],
      [3, '\0'],
    ]);
  });

  test('are taken from earlier frames, and from the database again once the log was written back', async () => {
    const shrunk = await cutOf(SHRUNK);
    const grown = await cutOf(GROWN, { position: shrunk });
    expect(await inSegment()).toEqual([
      [3, 'a'],
      [4, 'c'],
      [5, 'a'],
    ]);
    expect(grown.doubtful).toEqual([3, 5]);
    // What a checkpoint before the growth has cut off is zeros.
    writeFileSync(main, Buffer.concat([madeDatabase(['b', '2', '\0', 'c', '\0'])]));
    writeFileSync(log, madeLog([{ page: 5, commit: 5, text: 'd' }], { salts: 'ffffffff00000000' }));
    const next = await cut({ position: grown, restartsAt: grown });
    expect(await inSegment()).toEqual([
      [3, '\0'],
      [5, 'd'],
    ]);
    expect(next).toMatchObject({ kind: 'segment', position: { doubtful: [] } });
    const rest = { main, position: grown, target: join(folder, 'cut.ltx'), txid: 3, timeMs: 3, sync: false };
    expect(await cutFirstPage(rest)).toMatchObject({ kind: 'segment', pages: 3, commit: 5 });
    expect(await inSegment()).toEqual([
      [1, 'b'],
      [3, '\0'],
      [5, '\0'],
    ]);
    expect((await cutFirstPage({ ...rest, position: { ...grown, commit: 4 } })).kind).toBe('gap');
  });

  test('never are the page of locks, wherever the database ends', async () => {
    const lock = 2 ** 30 / 65_536 + 1;
    const before = { ...(await cutOf(TWO)), commit: lock - 2 };
    writeFileSync(main, madeDatabase(['1'], 65_536));
    for (const commit of [lock, lock + 1]) {
      const frames = [
        { page: 1, commit: 0, text: 'a' },
        { page: lock, commit, text: 'x' },
      ];
      writeFileSync(log, madeLog(frames, { pageSize: 65_536, salts: 'ffffffff00000000' }));
      const result = await cut({ position: before, restartsAt: before });
      expect(result).toMatchObject({ kind: 'segment', commit });
      const beyond: [number, string][] = commit > lock ? [[lock + 1, '\0']] : [];
      expect(await inSegment()).toEqual([[1, 'a'], [lock - 1, '\0'], ...beyond]);
    }
  });
});

test('the last frames of many pages are found in any small memory', () => {
  const random = numbersOf(7);
  const frames = Array.from({ length: 400 }, () => ({ page: 1 + Math.floor(random() * 90), commit: 90, text: 'a' }));
  writeFileSync(log, madeLog(frames));
  const reader = LogReader.open(log);
  if (reader === null) throw new Error('no log');
  const last = new Map(frames.map(({ page }, frame) => [page, frame]));
  const expected = [...last].filter(([page]) => page > 4 && page < 80).sort(([one], [other]) => one - other);
  for (const most of [2, 3, 10, 64, 100, 1000]) {
    const found = [...lastFrames(reader, { from: 0, end: 400, firstPage: 5, lastPage: 79 }, most)];
    expect(found.map(({ page, frame }) => [page, frame])).toEqual(expected);
    expect(found.every(({ frame, runEnd }) => runEnd > frame)).toBe(true);
  }
  reader.close();
});

test('a base is refused of what is no database of whole pages, and of one that is written to meanwhile', async () => {
  const base = () => cutBase({ main, log, target: join(folder, 'cut.ltx'), txid: 1, timeMs: 1, sync: false });
  const sound = madeDatabase(['1', '2']);
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(1024), sound.subarray(0, 1000), sound.subarray(0, 99)]) {
    writeFileSync(main, bytes);
    await expect(base()).rejects.toMatchObject({ code: 'corrupt' });
  }
  rmSync(main);
  await expect(base()).rejects.toMatchObject({ code: 'corrupt' });
  symlinkSync(log, main);
  await expect(base()).rejects.toMatchObject({ code: 'corrupt' });
  expect(readdirSync(folder)).toEqual(['main']);
  rmSync(main);
  writeFileSync(main, madeDatabase(Array.from({ length: 4000 }, () => 'x')));
  writeFileSync(log, madeLog(TWO));
  const whole = base();
  writeFileSync(log, madeLog(TWO, { salts: 'ffffffff00000000' }));
  expect((await whole).kind).toBe('gap');
  expect(readdirSync(folder)).toEqual(['log', 'main']);
  const shorter = base();
  truncateSync(main, 512 * 3000);
  expect((await shorter).kind).toBe('gap');
  expect(await base()).toMatchObject({ kind: 'base', commit: 3000, position: { frames: 0, commit: 3000 } });
});

test('a log that grows while it is read is cut at commits, and nothing of it is lost', async () => {
  const cutter = new Cutter();
  rmSync(main);
  const db = new DatabaseSync(main);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF; CREATE TABLE t (b)');
  const at = (txid: number) => join(folder, `${txid}.ltx`);
  const files = { main, log: `${main}-wal` };
  const base = await cutter.cutBase({ ...files, target: at(1), txid: 1, timeMs: 1, sync: false });
  if (base.kind !== 'base') throw new Error(base.why);
  let { position } = base;
  const segments = [at(1)];
  const begin = () =>
    cutter.cutSegment({
      ...files,
      position,
      restartsAt: null,
      withFirstPage: segments.length === 1,
      mostBytes: 2 ** 26,
      target: at(segments.length + 1),
      txid: segments.length + 1,
      timeMs: segments.length,
      sync: false,
    });
  const insert = db.prepare('INSERT INTO t VALUES (randomblob(30000))');
  for (let rows = 0; rows < 300; ) {
    let isDone = false;
    const asked = begin().finally(() => {
      isDone = true;
    });
    do {
      insert.run();
      rows += 1;
      await new Promise(setImmediate);
    } while (!isDone && rows < 300);
    const result = await asked;
    expect(['nothing', 'segment']).toContain(result.kind);
    if (result.kind !== 'segment') continue;
    position = result.position;
    segments.push(at(segments.length + 1));
  }
  const last = await begin();
  if (last.kind === 'segment') segments.push(at(segments.length + 1));
  await cutter.close();
  await rebuild({ segments, target: join(folder, 'rebuilt') });
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  expect(readFileSync(join(folder, 'rebuilt')).equals(readFileSync(main))).toBe(true);
  expect(segments.length).toBeGreaterThan(2);
  db.close();
});
