/**
 * Jobs as rows: the request, the selected instances, and their results. The selection is from one moment and never
 * changes; it is stored as row numbers in pages. Knows nothing of what the verbs do.
 */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import type { CommitEvents } from '../commit-events.ts';
import { isNumberPosition, pageByNumber, pageOfRows, readCursor } from '../cursor.ts';
import type { ListFilter } from '../instances.ts';
import { decodeRowNumbers, INSTANCES_PER_PAGE, pagesOfJob, unsettledOf } from '../job-pages.ts';
import {
  type FoundInstance,
  type JobResultRow,
  type JobRowWithSeq,
  type JobState,
  type JobStore,
  jobSummary,
  plainJob,
  type SelectedInstance,
  selectedInstance,
  UNKNOWN_INSTANCE,
} from '../jobs.ts';
import { FOUND, jobStatements } from '../statements/jobs.ts';
import type { Query } from '../statements/statements.ts';
import type { LedgerLine } from '../types.ts';
import { type RegistryDatabase, sqliteCode } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

/** Rows examined before other work runs: some milliseconds. */
const PIECE = 1000;

/** Where the rows of a filter come from. */
export type SelectMatching = <Row>(
  filter: ListFilter,
  fields: { [K in keyof Row]: SQLiteColumn | SQL },
) => Query<Row>[];

/** Jobs in the registry's file. */
export function openJobs(
  database: RegistryDatabase,
  ledger: LedgerTable,
  feed: CommitEvents,
  everything: SelectMatching,
): SyncMethods<JobStore> {
  const statements = jobStatements(database);
  const existing = (id: string): JobRowWithSeq => {
    const found = statements.find().get({ id });
    if (found === undefined) throw new WinterdockError('not_found', `There is no job "${id}".`);
    return found;
  };
  /** Runs inside a transaction. */
  const keep = (seq: number, results: readonly JobResultRow[]) => {
    const kept = { done: 0, failed: 0, skipped: 0 };
    for (const result of results) kept[result.outcome] += statements.insertResult().run({ ...result, seq }).changes;
    statements.count().run({ ...kept, seq });
  };
  const numbersOf = (seq: number, page: number): Uint32Array | null => {
    const found = statements.page().get({ seq, page });
    return found === undefined ? null : decodeRowNumbers(found.rows);
  };
  const idsOf = (numbers: readonly number[]): Map<number, InstanceId> => {
    const found = statements.idsOf().all({ numbers: JSON.stringify(numbers) });
    return new Map(found.map(({ row, id }) => [row, id]));
  };
  /** Newest first, those before `before` that affect no other than some tenants. */
  const concerning = (tenants: readonly string[], state: JobState | undefined, before: number, limit: number) => {
    const numbers: number[] = [];
    const allowed = new Set(tenants);
    for (let next: number | undefined = before; next !== undefined && numbers.length < limit; ) {
      const found: { seq: number; tenants: readonly string[] | null }[] = statements
        .concerning(state !== undefined)
        .all({ state, before: next, limit: PIECE });
      const theirs = found.filter((job) => job.tenants?.every((tenant) => allowed.has(tenant)));
      numbers.push(...theirs.map(({ seq }) => seq));
      next = found.length < PIECE ? undefined : found.at(-1)?.seq;
    }
    return statements.numbered().all({ numbers: JSON.stringify(numbers.slice(0, limit)) });
  };

  async function* rowsOf(filter: ListFilter): AsyncGenerator<SelectedInstance[]> {
    for await (const rows of database.pieces(everything<FoundInstance>(filter, FOUND), PIECE))
      yield rows.map(selectedInstance);
  }
  async function* named(
    ids: readonly InstanceId[],
    tenants: readonly string[] | null,
  ): AsyncGenerator<SelectedInstance[]> {
    const unique = [...new Set(ids)];
    const statement = statements.named(tenants !== null);
    for (let at = 0; at < unique.length; at += PIECE) {
      if (at > 0) await turn();
      yield unique.slice(at, at + PIECE).map((id) => {
        const found = statement.get({ id, tenants: JSON.stringify(tenants) });
        return found === undefined ? { ...UNKNOWN_INSTANCE, id } : selectedInstance(found);
      });
    }
  }

  return {
    select: (choice) => ('filter' in choice ? rowsOf(choice.filter) : named(choice.ids, choice.tenants)),

    add(job, chosen, results, entry) {
      let lines: LedgerLine[] = [];
      try {
        database.write(() => {
          const { seq } = statements.insert().get({ ...job, chosen: chosen.length });
          for (const page of pagesOfJob(chosen)) statements.insertPage().run({ job: seq, ...page });
          keep(seq, results);
          lines = ledger.append([entry]);
        });
      } catch (error) {
        if (sqliteCode(error)?.startsWith('SQLITE_CONSTRAINT') !== true) throw error;
        throw new WinterdockError('conflict', `There is a job "${job.id}" already.`, { cause: error });
      }
      ledger.announce(lines);
      feed.emitJobChange(job.id);
      return plainJob(existing(job.id));
    },

    tenantsOf: (id) => statements.tenantsOf().get({ id })?.tenants ?? [],

    get(id) {
      const found = statements.find().get({ id });
      return found === undefined ? null : plainJob(found);
    },

    list({ state, tenants }, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isNumberPosition);
      const found =
        tenants === undefined
          ? statements.list(state !== undefined).all({ state, before, limit: limit + 1 })
          : concerning(tenants, state, before, limit + 1);
      return pageByNumber(found, limit);
    },

    running: () => statements.running().all().map(plainJob),

    open(id, position) {
      const { seq } = existing(id);
      const page = Math.floor(position / INSTANCES_PER_PAGE);
      const numbers = numbersOf(seq, page);
      if (numbers === null) return { items: [], next: null };
      const first = page * INSTANCES_PER_PAGE;
      const settled = new Set(
        statements
          .settled()
          .all({ seq, first, end: first + INSTANCES_PER_PAGE })
          .map((one) => one.position),
      );
      const ids = idsOf([...numbers]);
      const items = unsettledOf(numbers, { first, position, settled, ids });
      return { items, next: first + INSTANCES_PER_PAGE };
    },

    record(id, results) {
      if (results.length === 0) return;
      const { seq } = existing(id);
      database.write(() => keep(seq, results));
      feed.emitJobChange(id);
    },

    end(id, state, now, entry) {
      let lines: LedgerLine[] = [];
      const ended = database.write(() => {
        if (statements.end().run({ id, state, finished: now }).changes === 0) return false;
        lines = ledger.append([{ ...entry, reason: jobSummary(existing(id)) }]);
        return true;
      });
      ledger.announce(lines);
      if (ended) feed.emitJobChange(id);
      return ended;
    },

    deleteEndedBefore(before, limit) {
      const ended = statements.ended().get({ before });
      if (ended === undefined) return false;
      const { seq } = ended;
      database.write(() => {
        if (statements.removeResults().run({ seq, limit }).changes === limit) return;
        statements.removePages().run({ seq });
        statements.remove().run({ seq });
      });
      return true;
    },

    results(id, outcome, limit, cursor) {
      const { seq } = existing(id);
      const [after] = cursor === undefined ? [-1] : readCursor(cursor, isNumberPosition);
      const found = statements.results(outcome).all({ seq, after, limit: limit + 1 });
      const pages = new Map<number, Uint32Array | null>();
      const numberOf = (position: number): number => {
        const page = Math.floor(position / INSTANCES_PER_PAGE);
        if (!pages.has(page)) pages.set(page, numbersOf(seq, page));
        return pages.get(page)?.[position % INSTANCES_PER_PAGE] ?? 0;
      };
      const ids = idsOf(found.map(({ position }) => numberOf(position)));
      const { rows, next } = pageOfRows(found, limit, ({ position }) => [position]);
      return {
        rows: rows.map((result) => ({ ...result, instance: ids.get(numberOf(result.position)) ?? null })),
        next,
      };
    },
  };
}

/** Lets other work run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
