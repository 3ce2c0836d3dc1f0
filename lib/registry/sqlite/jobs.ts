/**
 * Jobs as rows: what was asked, which instances were chosen, what became of each. The choice is of one moment and never changes; it is kept
 * as row numbers in pages. Knows nothing of what the verbs do.
 */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { instances } from '../../../db/schema.ts';
import { WinterdockError } from '../../errors.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { Feed } from '../feed.ts';
import { endedInWords, type JobResult, type JobRow, type Jobs, type Surveyed } from '../jobs.ts';
import type { LedgerLine, ListFilter, Page } from '../registry.ts';
import { type Query, type RegistryDatabase, sqliteCode, type Value } from './database.ts';
import { bytesOf, numbersIn, PAGE } from './job-pages.ts';
import { JOB_COLUMNS, jobOf, resultOf, surveyedOf, valuesOf } from './job-rows.ts';
import type { Ledger } from './ledger.ts';
import type { Synchronous } from './promised.ts';
import { rowid } from './raw.ts';

/** Rows looked at before others have their turn: some milliseconds. */
const PIECE = 1000;
const SELECT = `SELECT seq, ${JOB_COLUMNS} FROM jobs`;
const INSERT = `INSERT INTO jobs(${JOB_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', NULL, ?, 0, 0, 0) RETURNING seq`;
const RECORD =
  'INSERT INTO job_results(job, position, outcome, reason, time_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const COUNT = 'UPDATE jobs SET done = done + ?, failed = failed + ?, skipped = skipped + ? WHERE seq = ?';
const ENDED = `SELECT seq FROM jobs WHERE state <> 'running' AND finished < ? ORDER BY seq LIMIT 1`;
const FORGET_RESULTS = `DELETE FROM job_results WHERE job = ? AND position IN
  (SELECT position FROM job_results WHERE job = ? ORDER BY position LIMIT ?)`;
const SURVEYED = `instances.rowid, instances.id, instances.state, instances.fault, instances.vfs_path IS ':memory:', instances.ephemeral`;
const NAMED = `SELECT ${SURVEYED} FROM instances WHERE id = ? AND (? IS NULL OR tenant IN (SELECT value FROM json_each(?)))`;

/** What is found of each row of a filter. */
const FOUND = {
  row: rowid(instances),
  id: instances.id,
  state: instances.state,
  fault: instances.fault,
  vfsPath: instances.vfsPath,
  ephemeral: instances.ephemeral,
};

/** Where the rows of a filter come from. */
export type Everything = <Row>(filter: ListFilter, fields: { [K in keyof Row]: SQLiteColumn | SQL }) => Query<Row>[];

/** Jobs in the registry's file. */
export function openJobs(
  database: RegistryDatabase,
  ledger: Ledger,
  feed: Feed,
  everything: Everything,
): Synchronous<Jobs> {
  const bySeq = (id: string): [number, JobRow] | null => {
    const values = database.sql(`${SELECT} WHERE id = ?`).get(id);
    return values === undefined ? null : [values[0] as number, jobOf(values)];
  };
  const existing = (id: string): [number, JobRow] => {
    const found = bySeq(id);
    if (found === null) throw new WinterdockError('not_found', `There is no job "${id}".`);
    return found;
  };
  /** Inside a transaction. */
  const keep = (seq: number, results: readonly JobResult[]) => {
    const kept = { done: 0, failed: 0, skipped: 0 };
    for (const { position, outcome, reason, timeMs } of results) {
      kept[outcome] += database.sql(RECORD).run(seq, position, outcome, reason, timeMs).changes;
    }
    database.sql(COUNT).run(kept.done, kept.failed, kept.skipped, seq);
  };
  const numbersOf = (seq: number, page: number): Uint32Array | null => {
    const blob = database.value('SELECT rows FROM job_pages WHERE job = ? AND page = ?', seq, page) as Buffer | null;
    return blob === null ? null : numbersIn(blob);
  };
  const idsOf = (numbers: readonly number[]): Map<number, string> =>
    new Map(
      database
        .sql('SELECT rowid, id FROM instances WHERE rowid IN (SELECT value FROM json_each(?))')
        .all(JSON.stringify(numbers)) as [number, string][],
    );

  async function* rowsOf(filter: ListFilter): AsyncGenerator<Surveyed[]> {
    const queries = everything<Omit<Surveyed, 'inMemory'> & { vfsPath: string | null }>(filter, FOUND);
    for await (const rows of database.pieces(queries, PIECE)) {
      yield rows.map(({ vfsPath, ...row }) => ({ ...row, inMemory: vfsPath === ':memory:' }));
    }
  }
  async function* named(ids: readonly string[], tenants: readonly string[] | null): AsyncGenerator<Surveyed[]> {
    const among = tenants === null ? null : JSON.stringify(tenants);
    const unique = [...new Set(ids)];
    for (let at = 0; at < unique.length; at += PIECE) {
      if (at > 0) await turn();
      yield unique.slice(at, at + PIECE).map((id) => {
        const values = database.sql(NAMED).get(id, among, among);
        return values === undefined
          ? { row: 0, id, state: 'deleted', fault: null, inMemory: false, ephemeral: false }
          : surveyedOf(values);
      });
    }
  }

  return {
    survey: (choice) => ('filter' in choice ? rowsOf(choice.filter) : named(choice.ids, choice.tenants)),

    add(job, chosen, results, entry) {
      let lines: LedgerLine[] = [];
      try {
        database.write(() => {
          const seq = database.integer(INSERT, ...valuesOf(job), chosen.length);
          for (let page = 0; page * PAGE < chosen.length; page += 1) {
            database
              .sql('INSERT INTO job_pages(job, page, rows) VALUES (?, ?, ?)')
              .run(seq, page, bytesOf(chosen.subarray(page * PAGE, (page + 1) * PAGE)));
          }
          keep(seq, results);
          lines = ledger.append([entry]);
        });
      } catch (error) {
        if (sqliteCode(error)?.startsWith('SQLITE_CONSTRAINT') !== true) throw error;
        throw new WinterdockError('conflict', `There is a job "${job.id}" already.`, { cause: error });
      }
      ledger.announce(lines);
      feed.jobMoved(job.id);
      return existing(job.id)[1];
    },

    get: (id) => bySeq(id)?.[1] ?? null,

    list({ state, tenants }, limit, cursor) {
      const conditions = ['1'];
      const params: Value[] = [];
      const need = (sql: string, value: Value) => {
        conditions.push(sql);
        params.push(value);
      };
      if (state !== undefined) need('state = ?', state);
      if (tenants !== undefined) {
        need(
          `tenants IS NOT NULL AND NOT EXISTS (SELECT 1 FROM json_each(tenants) AS one
            WHERE one.value NOT IN (SELECT value FROM json_each(?)))`,
          JSON.stringify(tenants),
        );
      }
      if (cursor !== undefined) need('seq < ?', readCursor(cursor, isNumber)[0]);
      const found = database
        .sql(`${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY seq DESC LIMIT ?`)
        .all(...params, limit + 1);
      return paged(found, limit, jobOf, (values) => values[0] as number);
    },

    running: () => database.sql(`${SELECT} WHERE state = 'running' ORDER BY seq`).all().map(jobOf),

    open(id, position) {
      const [seq] = existing(id);
      const page = Math.floor(position / PAGE);
      const numbers = numbersOf(seq, page);
      if (numbers === null) return { items: [], next: null };
      const first = page * PAGE;
      const settled = new Set(
        database
          .sql('SELECT position FROM job_results WHERE job = ? AND position >= ? AND position < ?')
          .all(seq, first, first + PAGE)
          .map(([at]) => at),
      );
      const ids = idsOf([...numbers]);
      const items = [...numbers.entries()].flatMap(([at, row]) => {
        const instance = ids.get(row);
        const place = first + at;
        return place < position || settled.has(place) || instance === undefined
          ? []
          : [{ position: place, id: instance }];
      });
      return { items, next: first + PAGE };
    },

    record(id, results) {
      if (results.length === 0) return;
      const [seq] = existing(id);
      database.write(() => keep(seq, results));
      feed.jobMoved(id);
    },

    end(id, state, now, entry) {
      let lines: LedgerLine[] = [];
      const ended = database.write(() => {
        const sql = `UPDATE jobs SET state = ?, finished = ? WHERE id = ? AND state = 'running'`;
        if (database.sql(sql).run(state, now, id).changes === 0) return false;
        lines = ledger.append([{ ...entry, reason: endedInWords(existing(id)[1]) }]);
        return true;
      });
      ledger.announce(lines);
      if (ended) feed.jobMoved(id);
      return ended;
    },

    forget(before, limit) {
      const seq = database.value(ENDED, before) as number | null;
      if (seq === null) return false;
      database.write(() => {
        if (database.sql(FORGET_RESULTS).run(seq, seq, limit).changes === limit) return;
        database.sql('DELETE FROM job_pages WHERE job = ?').run(seq);
        database.sql('DELETE FROM jobs WHERE seq = ?').run(seq);
      });
      return true;
    },

    results(id, outcome, limit, cursor) {
      const [seq] = existing(id);
      const after = cursor === undefined ? -1 : readCursor(cursor, isNumber)[0];
      // The partial index of what did not go as asked holds every outcome but `done`.
      const which =
        outcome === undefined
          ? ''
          : outcome === 'done'
            ? `AND outcome = 'done'`
            : `AND outcome = ? AND outcome <> 'done'`;
      const found = database
        .sql(
          `SELECT position, outcome, reason, time_ms FROM job_results WHERE job = ? ${which} AND position > ? ORDER BY position LIMIT ?`,
        )
        .all(seq, ...(outcome === undefined || outcome === 'done' ? [] : [outcome]), after, limit + 1);
      const pages = new Map<number, Uint32Array | null>();
      const numberOf = (position: number): number => {
        const page = Math.floor(position / PAGE);
        if (!pages.has(page)) pages.set(page, numbersOf(seq, page));
        return pages.get(page)?.[position % PAGE] ?? 0;
      };
      const ids = idsOf(found.map(([position]) => numberOf(position as number)));
      return paged(
        found,
        limit,
        (values) => ({ ...resultOf(values), instance: ids.get(numberOf(values[0] as number)) ?? null }),
        (values) => values[0] as number,
      );
    },
  };
}

/** Lets everything else have its turn. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function paged<T>(
  found: Value[][],
  limit: number,
  of: (values: Value[]) => T,
  at: (values: Value[]) => number,
): Page<T> {
  const last = found.slice(0, limit).at(-1);
  return {
    rows: found.slice(0, limit).map(of),
    next: found.length > limit && last !== undefined ? writeCursor([at(last)]) : null,
  };
}

function isNumber(position: unknown[]): position is [number] {
  return position.length === 1 && Number.isSafeInteger(position[0]);
}
