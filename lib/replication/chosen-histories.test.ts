/** Chosen histories, cut at every commit: each rebuilt file is byte for byte what a reader sees. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cutBase, cutSegment, type LogPosition } from './log/cut.ts';
import { rebuild } from './ltx/rebuild.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-chosen-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What a reader sees who comes now, as one file. */
function seen(main: string): Buffer {
  const copy = join(folder, 'copy');
  for (const end of ['', '-wal', '-shm']) {
    rmSync(copy + end, { force: true });
    if (end !== '-shm' && existsSync(main + end)) copyFileSync(main + end, copy + end);
  }
  const reader = new DatabaseSync(copy);
  reader.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  reader.close();
  return readFileSync(copy);
}

const CHECKPOINT = 'PRAGMA wal_checkpoint(RESTART)';
const grows = (rows: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) INSERT INTO t (b) SELECT randomblob(9000) FROM n`;

/** One commit each; a checkpoint comes between two. */
const HISTORIES: Record<string, readonly string[]> = {
  'VACUUM, of full pages and of free ones': [
    grows(30),
    'VACUUM',
    'DELETE FROM t WHERE id % 2 = 0',
    'VACUUM',
    grows(5),
    'VACUUM',
  ],
  'a truncation to nothing, and growth after it': [
    grows(40),
    'DELETE FROM t',
    'VACUUM',
    grows(60),
    CHECKPOINT,
    'DELETE FROM t',
    'VACUUM',
    grows(3),
  ],
  'growth after a shrinking, in one log and over two': [
    ...[grows(50), CHECKPOINT, 'DELETE FROM t WHERE id > 5', 'PRAGMA incremental_vacuum', grows(20)],
    ...[
      'DELETE FROM t WHERE id > 3',
      'PRAGMA incremental_vacuum',
      CHECKPOINT,
      grows(50),
      'DELETE FROM t WHERE id > 40',
      'VACUUM',
    ],
  ],
  'what is rolled back, and what is written twice': [
    ...[grows(10), `BEGIN; ${grows(20)}; ROLLBACK`, `BEGIN; ${grows(20)}; DELETE FROM t WHERE id > 15; COMMIT`],
    ...[
      'UPDATE t SET b = randomblob(12000)',
      CHECKPOINT,
      'UPDATE t SET b = zeroblob(10)',
      'UPDATE t SET b = randomblob(40000) WHERE id < 4',
    ],
  ],
};

for (const pageSize of [1024, 65_536]) {
  for (const [name, autoVacuum] of [
    ['no', 0],
    ['full', 1],
    ['incremental', 2],
  ] as const) {
    test.each(Object.entries(HISTORIES))(`%s: pages of ${pageSize}, ${name} auto_vacuum`, async (_, commits) => {
      const main = join(folder, 'db');
      const log = `${main}-wal`;
      const db = new DatabaseSync(main);
      db.exec(`PRAGMA page_size = ${pageSize}; PRAGMA auto_vacuum = ${autoVacuum};
        CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB); PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
        PRAGMA wal_autocheckpoint = 0`);
      const segments: string[] = [];
      const next = () => {
        const txid = segments.length + 1;
        return { target: join(folder, `${txid}.ltx`), txid, timeMs: txid, sync: false };
      };
      const base = next();
      const made = await cutBase({ main, log, ...base });
      if (made.kind === 'gap') throw new Error(made.why);
      segments.push(base.target);
      let { position }: { position: LogPosition | null } = made;
      let confirmed: LogPosition | null = null;
      for (const commit of commits) {
        if (commit === CHECKPOINT) {
          confirmed = position;
          db.exec(commit);
          continue;
        }
        db.exec(commit);
        for (let isMore = true; isMore; ) {
          const target = next();
          const options = { withFirstPage: segments.length === 1, mostBytes: 1, pageSize };
          const cut = await cutSegment({ log, main, position, restartsAt: confirmed, ...options, ...target });
          if (cut.kind === 'gap') throw new Error(`${commit}: ${cut.why}`);
          isMore = cut.kind === 'segment' && cut.isMore;
          if (cut.kind !== 'segment') break;
          segments.push(target.target);
          position = cut.position;
        }
        const target = join(folder, 'rebuilt');
        await rebuild({ segments, target });
        expect(readFileSync(target).equals(seen(main)), commit).toBe(true);
        rmSync(target);
      }
      db.close();
      expect(segments.length).toBeGreaterThan(commits.length / 2);
    });
  }
}
