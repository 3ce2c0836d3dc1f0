import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LITESTREAM_VFS } from '#peers/litestream.ts';
import { cutBase, cutSegment, type LogPosition } from './cut.ts';
import { rebuild } from './rebuild.ts';

const run = promisify(execFile);
const READER = fileURLToPath(new URL('./testing/litestream-reader.ts', import.meta.url));
const QUERY = 'SELECT count(*) AS n, total(length(body)) AS bytes, total(unicode(hex(body))) AS first FROM t';
/** 2026-11-28, in epoch milliseconds. */
const BEGIN_MS = 1_795_000_000_000;
const STEP_MS = 1500;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-litestream-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const name = (level: number, txid: number) => {
  const hex = txid.toString(16).padStart(16, '0');
  return join(folder, 'lineage', 'ltx', String(level), `${hex}-${hex}.ltx`);
};

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
    const times = segments.map((_, at) => String(BEGIN_MS + at * STEP_MS + 1));
    const { stdout } = await run(process.execPath, [READER, LITESTREAM_VFS ?? '', QUERY, ...times], {
      env: { PATH: '/usr/bin:/bin', NODE_ENV: 'test', LITESTREAM_REPLICA_URL: `file://${join(folder, 'lineage')}` },
    });
    const lines = stdout.trim().split('\n');
    expect(lines.map((line, at) => asOf(line, commits[at]))).toEqual(expected);
  });
});
