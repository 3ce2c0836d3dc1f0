/**
 * Jobs as rows: the request, the selected instances, and their results. The selection is from one moment and never
 * changes; it is stored as row numbers in pages. Knows nothing of what the verbs do.
 */
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
import { jobStatements } from '../statements/jobs.ts';
import type { LedgerLine } from '../types.ts';
import type { PostgresDatabase } from './database.ts';
import { isRefused } from './errors.ts';
import type { LedgerTable } from './ledger.ts';

/** Rows examined before other work runs: some milliseconds. */
const PIECE = 1000;

/** Where the rows of a filter come from; null: nothing matches. */
export type SelectMatching = (filter: ListFilter) => AsyncIterable<FoundInstance[]> | null;

/** Jobs in the registry's file. */
export function openJobs(
  database: PostgresDatabase,
  ledger: LedgerTable,
  feed: CommitEvents,
  everything: SelectMatching,
): JobStore {
  const statements = database.with(jobStatements);
  const existing = async (id: string): Promise<JobRowWithSeq> => {
    const found = await statements.find().get({ id });
    if (found === undefined) throw new WinterdockError('not_found', `There is no job "${id}".`);
    return found;
  };
  /** Runs inside a transaction. */
  const keep = async (seq: number, results: readonly JobResultRow[]) => {
    const kept = { done: 0, failed: 0, skipped: 0 };
    for (const result of results)
      kept[result.outcome] += (await statements.insertResult().run({ ...result, seq })).changes;
    await statements.count().run({ ...kept, seq });
  };
  const numbersOf = async (seq: number, page: number): Promise<Uint32Array | null> => {
    const found = await statements.page().get({ seq, page });
    return found === undefined ? null : decodeRowNumbers(found.rows);
  };
  const idsOf = async (numbers: readonly number[]): Promise<Map<number, InstanceId>> => {
    const found = await statements.idsOf().all({ numbers: JSON.stringify(numbers) });
    return new Map(found.map(({ row, id }) => [row, id]));
  };
  /** Newest first, those before `before` that affect no other than some tenants. */
  const concerning = async (tenants: readonly string[], state: JobState | undefined, before: number, limit: number) => {
    const numbers: number[] = [];
    const allowed = new Set(tenants);
    for (let next: number | undefined = before; next !== undefined && numbers.length < limit; ) {
      const found: { seq: number; tenants: readonly string[] | null }[] = await statements
        .concerning(state !== undefined)
        .all({ state, before: next, limit: PIECE });
      const theirs = found.filter((job) => job.tenants?.every((tenant) => allowed.has(tenant)));
      numbers.push(...theirs.map(({ seq }) => seq));
      next = found.length < PIECE ? undefined : found.at(-1)?.seq;
    }
    return await statements.numbered().all({ numbers: JSON.stringify(numbers.slice(0, limit)) });
  };

  async function* rowsOf(filter: ListFilter): AsyncGenerator<SelectedInstance[]> {
    for await (const rows of everything(filter) ?? []) yield rows.map(selectedInstance);
  }
  async function* named(
    ids: readonly InstanceId[],
    tenants: readonly string[] | null,
  ): AsyncGenerator<SelectedInstance[]> {
    const unique = [...new Set(ids)];
    for (let at = 0; at < unique.length; at += PIECE) {
      const some = unique.slice(at, at + PIECE);
      const bound = { ids: JSON.stringify(some), tenants: JSON.stringify(tenants ?? []) };
      const found = await statements.namedTogether(tenants !== null).all(bound);
      const byId = new Map(found.map((one) => [one.id, selectedInstance(one)]));
      yield some.map((id) => byId.get(id) ?? { ...UNKNOWN_INSTANCE, id });
    }
  }

  return {
    select: async (choice) => ('filter' in choice ? rowsOf(choice.filter) : named(choice.ids, choice.tenants)),

    async add(job, chosen, results, entry) {
      let lines: LedgerLine[] = [];
      try {
        await database.write(async () => {
          const { seq } = await statements.insert().get({ ...job, chosen: chosen.length });
          for (const page of pagesOfJob(chosen)) await statements.insertPage().run({ job: seq, ...page });
          await keep(seq, results);
          lines = await ledger.append([entry]);
        });
      } catch (error) {
        if (!isRefused(error)) throw error;
        throw new WinterdockError('conflict', `There is a job "${job.id}" already.`, { cause: error });
      }
      await ledger.announce(lines);
      feed.emitJobChange(job.id);
      return plainJob(await existing(job.id));
    },

    tenantsOf: async (id) => (await statements.tenantsOf().get({ id }))?.tenants ?? [],

    async get(id) {
      const found = await statements.find().get({ id });
      return found === undefined ? null : plainJob(found);
    },

    async list({ state, tenants }, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isNumberPosition);
      const found =
        tenants === undefined
          ? await statements.list(state !== undefined).all({ state, before, limit: limit + 1 })
          : await concerning(tenants, state, before, limit + 1);
      return pageByNumber(found, limit);
    },

    running: async () => (await statements.running().all()).map(plainJob),

    async open(id, position) {
      const { seq } = await existing(id);
      const page = Math.floor(position / INSTANCES_PER_PAGE);
      const numbers = await numbersOf(seq, page);
      if (numbers === null) return { items: [], next: null };
      const first = page * INSTANCES_PER_PAGE;
      const settled = new Set(
        (await statements.settled().all({ seq, first, end: first + INSTANCES_PER_PAGE })).map((one) => one.position),
      );
      const ids = await idsOf([...numbers]);
      const items = unsettledOf(numbers, { first, position, settled, ids });
      return { items, next: first + INSTANCES_PER_PAGE };
    },

    async record(id, results) {
      if (results.length === 0) return;
      const { seq } = await existing(id);
      await database.write(() => keep(seq, results));
      feed.emitJobChange(id);
    },

    async end(id, state, now, entry) {
      let lines: LedgerLine[] = [];
      const ended = await database.write(async () => {
        if ((await statements.end().run({ id, state, finished: now })).changes === 0) return false;
        lines = await ledger.append([{ ...entry, reason: jobSummary(await existing(id)) }]);
        return true;
      });
      await ledger.announce(lines);
      if (ended) feed.emitJobChange(id);
      return ended;
    },

    async deleteEndedBefore(before, limit) {
      const ended = await statements.ended().get({ before });
      if (ended === undefined) return false;
      const { seq } = ended;
      await database.write(async () => {
        if ((await statements.removeResults().run({ seq, limit })).changes === limit) return;
        await statements.removePages().run({ seq });
        await statements.remove().run({ seq });
      });
      return true;
    },

    async results(id, outcome, limit, cursor) {
      const { seq } = await existing(id);
      const [after] = cursor === undefined ? [-1] : readCursor(cursor, isNumberPosition);
      const found = await statements.results(outcome).all({ seq, after, limit: limit + 1 });
      const pages = new Map<number, Uint32Array | null>();
      for (const { position } of found) {
        const page = Math.floor(position / INSTANCES_PER_PAGE);
        if (!pages.has(page)) pages.set(page, await numbersOf(seq, page));
      }
      const numberOf = (position: number): number =>
        pages.get(Math.floor(position / INSTANCES_PER_PAGE))?.[position % INSTANCES_PER_PAGE] ?? 0;
      const ids = await idsOf(found.map(({ position }) => numberOf(position)));
      const { rows, next } = pageOfRows(found, limit, ({ position }) => [position]);
      return {
        rows: rows.map((result) => ({ ...result, instance: ids.get(numberOf(result.position)) ?? null })),
        next,
      };
    },
  };
}
