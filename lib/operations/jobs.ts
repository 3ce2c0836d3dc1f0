/** Operations on jobs, one verb for many sandboxes: choosing them, dry runs, progress. jobs/runner.ts runs them. */
import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import type { DryRun, Job, JobResult, JobResultsQuery, JobsQuery, StartJobInput } from '../contract/schema/jobs.ts';
import { type JobRunner, jobLine } from '../jobs/runner.ts';
import { eachOf } from '../registry/each-of.ts';
import type { InstanceSelection, JobResultRow, JobRow, NewJob, SelectedInstance } from '../registry/jobs.ts';
import type { Registry } from '../registry/registry.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { auditContextOf } from './audit-context.ts';
import { DryRunTally, type UnnamedRow } from './dry-run.ts';
import { listFilterOf } from './list-filter.ts';
import type { ListPage } from './list-page.ts';
import { jobOf } from './serializer.ts';

export interface JobOperations {
  /** Starts a job, or with `dry_run` says what it would do and changes nothing. */
  startJob(caller: Caller, input: StartJobInput): Promise<{ dryRun: DryRun } | { id: string }>;
  listJobs(caller: Caller, query: JobsQuery): Promise<ListPage<Job>>;
  getJob(caller: Caller, id: string): Promise<Job>;
  /** Cancels it: what is under way ends, nothing more begins. A job that has ended stays as it is. */
  cancelJob(caller: Caller, id: string): Promise<Job>;
  jobResults(caller: Caller, id: string, query: JobResultsQuery): Promise<ListPage<JobResult>>;
}

export function jobOperations(parts: {
  auth: { actors: ActorDirectory };
  registry: Registry;
  runner: JobRunner;
  sandboxes: Pick<Sandboxes, 'attachedIds' | 'warmIds'>;
  clock: Clock;
}): JobOperations {
  const { registry, runner, sandboxes, clock } = parts;
  const { actors } = parts.auth;

  const rowOfJob = async (id: string): Promise<JobRow> => {
    const job = await registry.jobs.get(id);
    if (job === null) throw new WinterdockError('not_found', `There is no job "${id}".`);
    return job;
  };

  const named = async (rows: readonly JobRow[]): Promise<Job[]> => {
    await actors.load(rows.map(({ actor }) => actor));
    return rows.map((row) => jobOf(row, actors));
  };
  const jobById = async (id: string): Promise<Job> => {
    const row = await rowOfJob(id);
    await actors.load([row.actor]);
    return jobOf(row, actors);
  };

  async function* selected(selection: InstanceSelection | null): AsyncGenerator<SelectedInstance> {
    if (selection !== null) yield* eachOf(await registry.jobs.select(selection));
  }

  /** An id that is unknown, or of another tenant, has no state, and gets no name. */
  const withNames = (rows: UnnamedRow[]): Promise<DryRun['rows']> =>
    Promise.all(
      rows.map(async (one) => {
        const row = one.state === null ? null : await registry.instances.get(one.id);
        return { ...one, tenant: row?.tenant ?? null, name: row?.name ?? null };
      }),
    );

  return {
    async startJob(caller, input) {
      const selection = selectionOf(caller, input, epochSeconds(clock), sandboxes.warmIds);
      if (input.dry_run === true) {
        const tally = new DryRunTally(input.verb, {
          includeHeld: input.include_held === true,
          now: epochSeconds(clock),
          attached: new Set(sandboxes.attachedIds),
        });
        for await (const one of selected(selection)) tally.add(one);
        return { dryRun: await tally.result(withNames) };
      }
      const rows: number[] = [];
      const unknown: JobResultRow[] = [];
      for await (const one of selected(selection)) {
        if (one.row === 0) unknown.push(unknownResult(rows.length, one.id, clock));
        rows.push(one.row);
      }
      const job = newJob(caller, input, epochSeconds(clock));
      const cause = { ...auditContextOf(caller, input.reason), trigger: 'operator' as const };
      const withHeld = job.includeHeld ? ', kept hot, held and attached ones too' : '';
      // The one line of a job under its request's id; all others are under the job's, which this one names.
      const line = jobLine({ clock }, job, cause, 'job.started', `${rows.length} chosen${withHeld}, job ${job.id}`);
      await runner.take(await registry.jobs.add(job, Uint32Array.from(rows), unknown, line));
      return { id: job.id };
    },

    async listJobs(caller, { state, limit, cursor }) {
      const filter = {
        ...(state === undefined ? {} : { state }),
        ...(caller.tenants === null ? {} : { tenants: caller.tenants }),
      };
      const page = await registry.jobs.list(filter, limit, cursor);
      return { items: await named(page.rows), next: page.next };
    },

    getJob: async (_caller, id) => jobById(id),

    async cancelJob(caller, id) {
      const job = await rowOfJob(id);
      if (job.verb === 'forget' && job.state === 'running') {
        throw new WinterdockError('conflict', `The job "${id}" forgets a tenant, which cannot be cancelled.`, {
          hint: 'What is deleted already does not come back; the job continues until nothing is left.',
        });
      }
      await runner.cancel(id, auditContextOf(caller));
      return jobById(id);
    },

    async jobResults(_caller, id, { outcome, limit, cursor }) {
      await rowOfJob(id);
      const page = await registry.jobs.results(id, outcome, limit, cursor);
      const items = page.rows.map(({ instance, outcome: became, reason, timeMs }) => ({
        instance,
        outcome: became,
        reason,
        time_ms: timeMs,
      }));
      return { items, next: page.next };
    },
  };
}

/**
 * The sandboxes that a job is about, narrowed to the caller's tenants; null when no sandbox can match. Throws
 * `forbidden` for a tenant that is not the caller's.
 */
function selectionOf(
  caller: Caller,
  { filter, ids }: StartJobInput,
  now: number,
  warmIds: readonly InstanceId[],
): InstanceSelection | null {
  const { tenants } = caller;
  if (ids !== undefined) return { ids, tenants };
  const query = filter ?? {};
  if (tenants !== null && query.tenant !== undefined && !tenants.includes(query.tenant)) {
    throw new WinterdockError('forbidden', `You may not act for the tenant "${query.tenant}".`);
  }
  const wanted = listFilterOf(query, { tenants, now, warmIds });
  return wanted === null ? null : { filter: wanted };
}

function newJob(caller: Caller, input: StartJobInput, now: number): NewJob {
  const { verb, reason, labels, filter, ids } = input;
  return {
    id: newId('job'),
    verb,
    reason: reason === undefined || reason === '' ? null : reason,
    labels: labels ?? null,
    request: filter === undefined ? { ids: ids?.length ?? 0 } : { filter },
    includeHeld: input.include_held === true,
    tenants: filter?.tenant === undefined ? caller.tenants : [filter.tenant],
    actor: caller.actor,
    via: caller.via,
    address: caller.address,
    created: now,
  };
}

function unknownResult(position: number, id: InstanceId, clock: Clock): JobResultRow {
  return { position, outcome: 'skipped', reason: `There is no sandbox "${id}".`, timeMs: clock.now() };
}
