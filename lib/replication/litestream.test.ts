import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LITESTREAM_VFS } from '#peers/litestream.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { cutBase, cutSegment, type LogPosition } from './log/cut.ts';
import { mergeSegments } from './ltx/merge.ts';
import { rebuild } from './ltx/rebuild.ts';
import { segmentFile } from './names/replica-names.ts';

const run = promisify(execFile);
const READER = fileURLToPath(new URL('./testing/litestream-reader.ts', import.meta.url));
const QUERY = 'SELECT count(*) AS n, total(length(body)) AS bytes, total(unicode(hex(body))) AS first FROM t';
/** 2026-11-28, in epoch milliseconds. */
const BEGIN_MS = 1_795_000_000_000;
const STEP_MS = 1500;
const CONNECTION = { endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-litestream-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const name = (level: number, min: number, max = min) =>
  join(folder, 'lineage', 'ltx', String(level), segmentFile(min, max));

interface Line {
  integrity: string;
  rows: unknown;
}

/**
 * What the reader said of a moment. It takes the database for as long as the highest page that it has ever seen, so
 * after a VACUUM it finds pages beyond the end that nothing uses: of its own replicas too.
 */
function asOf(line: string, commit = 0): Line {
  const { integrity, rows } = JSON.parse(line) as Line;
  const faults = integrity.split('\n').filter((fault) => {
    const [, page] = /^Page (\d+): never used$/.exec(fault) ?? [];
    return !(fault.startsWith('***') || Number(page) > commit);
  });
  return { integrity: faults.join('\n') || 'ok', rows };
}

describe.skipIf(LITESTREAM_VFS === null)('a replica of a file (where Litestream’s own reader is installed)', () => {
  test.each([0, 1])('is read by Litestream at every moment, with segments of level %i', async (level) => {
    for (const each of [level, 9]) mkdirSync(join(folder, 'lineage', 'ltx', String(each)), { recursive: true });
    const main = join(folder, 'db');
    const log = `${main}-wal`;
    const db = new DatabaseSync(main);
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
      CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB);
      INSERT INTO t (body) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
        SELECT randomblob(3000) FROM n`);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const base = await cutBase({ main, log, target: name(9, 1), txid: 1, timeMs: BEGIN_MS, sync: false });
    if (base.kind === 'gap') throw new Error(base.why);
    const segments = [name(9, 1)];
    const expected: Line[] = [];
    const commits: number[] = [];
    const rebuilt = join(folder, 'rebuilt');
    const note = async () => {
      const { bytes } = await rebuild({ segments, target: rebuilt, atRest: true });
      commits.push(bytes / base.pageSize);
      const copy = new DatabaseSync(rebuilt);
      expected.push({ integrity: 'ok', rows: copy.prepare(QUERY).all() });
      copy.close();
    };
    await note();
    let position: LogPosition | null = base.position;
    let restartsAt: LogPosition | null = null;
    const works = [
      'INSERT INTO t (body) VALUES (randomblob(100000))',
      'UPDATE t SET body = randomblob(200) WHERE id % 3 = 0',
      'DELETE FROM t WHERE id > 20; VACUUM',
      'checkpoint',
      'INSERT INTO t (body) SELECT zeroblob(5000) FROM t',
      'INSERT INTO t (body) SELECT randomblob(900) FROM t',
    ];
    for (const work of works) {
      if (work === 'checkpoint') {
        restartsAt = position;
        db.exec('PRAGMA wal_checkpoint(PASSIVE)');
        continue;
      }
      db.exec(work);
      const txid = segments.length + 1;
      const target = name(level, txid);
      const timeMs = BEGIN_MS + (txid - 1) * STEP_MS;
      const cut = await cutSegment({
        log,
        main,
        position,
        restartsAt,
        withFirstPage: txid === 2,
        mostBytes: 2 ** 26,
        target,
        txid,
        timeMs,
        sync: false,
      });
      if (cut.kind !== 'segment') throw new Error(JSON.stringify(cut));
      position = cut.position;
      segments.push(target);
      await note();
    }
    db.close();
    // As they are shipped: a copy has the time of its segment, and not that of its storing.
    const store = await openObjectStore(`file://${join(folder, 'store')}`, CONNECTION);
    for (const [at, path] of segments.entries()) {
      utimesSync(path, 1, 1);
      await store.upload(path.slice(folder.length + 1), path, { timeMs: BEGIN_MS + at * STEP_MS });
    }
    await store.close();
    const times = segments.map((_, at) => String(BEGIN_MS + at * STEP_MS + 1));
    const { stdout } = await run(process.execPath, [READER, LITESTREAM_VFS ?? '', QUERY, ...times], {
      env: {
        PATH: '/usr/bin:/bin',
        NODE_ENV: 'test',
        LITESTREAM_REPLICA_URL: `file://${join(folder, 'store', 'lineage')}`,
      },
    });
    const lines = stdout.trim().split('\n');
    expect(lines.map((line, at) => asOf(line, commits[at]))).toEqual(expected);
  });

  // What is merged, by its first and last number: an hour of two minutes and a minute after it, or minutes alone.
  test.each([
    [
      '1 and 9',
      [
        [2, 3],
        [4, 5],
        [6, 6],
      ],
      [],
    ],
    [
      '1, 2 and 9',
      [
        [2, 3],
        [4, 5],
        [6, 6],
      ],
      [[2, 5]],
    ],
  ])('is read by Litestream at the end of each merged segment, with levels %s', async (_, minutes, hours) => {
    for (const each of [0, 1, 2, 9]) mkdirSync(join(folder, 'lineage', 'ltx', String(each)), { recursive: true });
    const raw = join(folder, 'raw');
    mkdirSync(raw);
    const of = (min: number, max: number) =>
      Array.from({ length: max - min + 1 }, (_each, at) => join(raw, `${min + at}.ltx`));
    const [main, rebuilt] = [join(folder, 'db'), join(folder, 'rebuilt')];
    const db = new DatabaseSync(main);
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
      CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB);
      INSERT INTO t (body) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
        SELECT randomblob(3000) FROM n`);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const log = `${main}-wal`;
    const base = await cutBase({ main, log, target: name(9, 1), txid: 1, timeMs: BEGIN_MS, sync: false });
    if (base.kind === 'gap') throw new Error(base.why);
    let { position } = base;
    const works = [
      'INSERT INTO t (body) VALUES (randomblob(100000))',
      'DELETE FROM t WHERE id > 20; VACUUM',
      'INSERT INTO t (body) SELECT zeroblob(5000) FROM t',
      'UPDATE t SET body = randomblob(200) WHERE id % 3 = 0',
      'INSERT INTO t (body) SELECT randomblob(900) FROM t',
    ];
    for (const [at, work] of works.entries()) {
      db.exec(work);
      const txid = at + 2;
      const [target] = of(txid, txid);
      const next = { target: target ?? '', txid, timeMs: BEGIN_MS + (txid - 1) * STEP_MS, sync: false };
      const from = { log, main, position, restartsAt: null, withFirstPage: txid === 2, mostBytes: 2 ** 26 };
      const cut = await cutSegment({ ...from, ...next });
      if (cut.kind !== 'segment') throw new Error(JSON.stringify(cut));
      position = cut.position;
    }
    db.close();
    const expected: Line[] = [];
    const commits: number[] = [];
    const times: string[] = [];
    for (const [level, spans] of [
      [1, minutes],
      [2, hours],
    ] as const) {
      for (const [min = 0, max = 0] of spans) {
        await mergeSegments({ segments: of(min, max), target: name(level, min, max), sync: false });
        // As the retention does.
        if (level === 2) for (const [from = 0, to = 0] of minutes) if (to <= max) rmSync(name(1, from, to));
      }
    }
    for (const [, max = 0] of [...hours, ...minutes.filter(([min = 0]) => hours.every(([, to = 0]) => min > to))]) {
      const segments = [name(9, 1), ...of(2, max)];
      const { bytes } = await rebuild({ segments, target: rebuilt, atRest: true });
      commits.push(bytes / base.pageSize);
      times.push(String(BEGIN_MS + (max - 1) * STEP_MS + 1));
      const copy = new DatabaseSync(rebuilt);
      expected.push({ integrity: 'ok', rows: copy.prepare(QUERY).all() });
      copy.close();
    }
    const { stdout } = await run(process.execPath, [READER, LITESTREAM_VFS ?? '', QUERY, ...times], {
      env: { PATH: '/usr/bin:/bin', NODE_ENV: 'test', LITESTREAM_REPLICA_URL: `file://${join(folder, 'lineage')}` },
    });
    const lines = stdout.trim().split('\n');
    expect(lines.map((line, at) => asOf(line, commits[at]))).toEqual(expected);
  });
});
