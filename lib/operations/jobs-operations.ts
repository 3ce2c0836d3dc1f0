/**
 * The operations of plans and jobs over the engine: chooses what a job is about and shows what it does. The runner does
 * it.
 */

import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { DryRun, Plan, StartJobInput } from '../contract/schema/jobs.ts';
import { type JobRunner, jobLine } from '../jobs/runner.ts';
import { hopRefusal, plan } from '../lifecycle/plan.ts';
import { HOPS, type State } from '../lifecycle/states.ts';
import { type JobVerb, LOSSES, type Loss, lossesOf, planVerb } from '../lifecycle/verb-plan.ts';
import { waysOut } from '../lifecycle/ways-out.ts';
import { eachOf } from '../registry/each-of.ts';
import type { InstanceSelection, JobResultRow, JobRow, NewJob, SelectedInstance } from '../registry/jobs.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { MEMORY } from '../sessions/engine.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { causeOf } from './audit-context.ts';
import type { JobsOperations } from './interfaces/jobs.ts';
import { listFilterOf } from './list-filter.ts';
import { jobOf } from './representation.ts';
import { showing } from './showing.ts';

export interface JobsParts {
  registry: Registry;
  sessions: Sessions;
  runner: JobRunner;
  clock: Clock;
}

/** Makes them. */
export function jobsOperations(parts: JobsParts): JobsOperations {
  const { registry, sessions, runner, clock } = parts;
  const { show } = showing(parts);

  const rowOf = async (id: string): Promise<JobRow> => {
    const job = await registry.jobs.get(id);
    if (job === null) throw new WinterdockError('not_found', `There is no job "${id}".`);
    return job;
  };

  async function* surveyed(choice: InstanceSelection | null): AsyncGenerator<SelectedInstance> {
    if (choice !== null) yield* eachOf(await registry.jobs.select(choice));
  }

  return {
    async plan(_caller, id, { to }) {
      const row = await livingRow(registry, id);
      const hops = plan(row.state, to, row);
      const losses = lossesOf(subjectOf(row), hops ?? []);
      const { calls, attached } = sessions.live(row);
      return {
        id,
        from: row.state,
        to,
        hops: hopsOf(row.state, hops ?? []),
        losses: losses.map((loss) => ({ loss, words: LOSSES[loss] })),
        calls,
        attached,
        tmp: losses.includes('tmp') ? await tmpOf(sessions, id) : null,
        refusal: refusalOf(row, to, hops),
      };
    },

    async walk(caller, id, { to, reason, force }) {
      return show(await sessions.runPlan(id, to, causeOf(caller, reason), force === undefined ? {} : { force }));
    },

    async startJob(caller, input) {
      const choice = choiceOf(caller, input, epochSeconds(clock));
      const tally = new DryRunTally(input.verb);
      if (input.dry_run === true) {
        for await (const one of surveyed(choice)) tally.take(one);
        return { dryRun: tally.answer() };
      }
      const rows: number[] = [];
      const unknown: JobResultRow[] = [];
      for await (const one of surveyed(choice)) {
        if (one.row === 0) unknown.push(unknownResult(rows.length, one.id, clock));
        rows.push(one.row);
      }
      const job = newJob(caller, input, epochSeconds(clock));
      const cause = { ...causeOf(caller, input.reason), trigger: 'operator' as const };
      // The one line of a job under its request's id; all others are under the job's, which this one names.
      const line = jobLine({ clock }, job, cause, 'job.started', `${rows.length} chosen, job ${job.id}`);
      runner.take(await registry.jobs.add(job, Uint32Array.from(rows), unknown, line));
      return { id: job.id };
    },

    async listJobs(caller, { state, limit, cursor }) {
      const filter = {
        ...(state === undefined ? {} : { state }),
        ...(caller.tenants === null ? {} : { tenants: caller.tenants }),
      };
      const page = await registry.jobs.list(filter, limit, cursor);
      return { items: page.rows.map(jobOf), next: page.next };
    },

    getJob: async (_caller, id) => jobOf(await rowOf(id)),

    async cancelJob(caller, id) {
      const job = await rowOf(id);
      if (job.verb === 'forget' && job.state === 'running') {
        throw new WinterdockError('conflict', `The job "${id}" forgets a tenant: that is not cancelled half way.`, {
          hint: 'What is gone does not come back; it goes on until nothing is left.',
        });
      }
      await runner.cancel(id, causeOf(caller));
      return jobOf(await rowOf(id));
    },

    async jobResults(_caller, id, { outcome, limit, cursor }) {
      await rowOf(id);
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

/** The row of a sandbox, deleted ones refused. */
async function livingRow(registry: Registry, id: string): Promise<InstanceRow> {
  const row = await registry.instances.get(id);
  if (row === null) throw new WinterdockError('not_found', `There is no sandbox "${id}".`);
  if (row.state === 'deleted') throw new WinterdockError('gone', `The sandbox "${id}" was deleted.`);
  return row;
}

function subjectOf(row: InstanceRow) {
  return { state: row.state, fault: row.fault, inMemory: row.vfsPath === MEMORY, ephemeral: row.ephemeral };
}

function hopsOf(from: State, hops: readonly State[]): Plan['hops'] {
  return hops.flatMap((to, at) => {
    const start = hops[at - 1] ?? from;
    const verb = HOPS.find((hop) => hop.from === start && hop.to === to)?.verb;
    return verb === undefined ? [] : [{ from: start, to, verb, passing: to === 'active' && at < hops.length - 1 }];
  });
}

async function tmpOf(sessions: Sessions, id: string): Promise<Plan['tmp']> {
  try {
    const { volumes } = await sessions.read(id, { op: 'volumes' });
    const tmp = volumes.find(({ volume }) => volume === 'tmp');
    return tmp === undefined ? null : { files: tmp.files, bytes: tmp.bytes };
  } catch {
    // A file that cannot be read does not keep its plan from being shown: that tmp is lost is said anyway.
    return null;
  }
}

function refusalOf(row: InstanceRow, to: State, hops: readonly State[] | null): string | null {
  const wouldKeep = to !== 'deleted' && to !== 'active' && to !== 'created' && row.vfsPath === MEMORY;
  if (hops === null && !wouldKeep) return hopRefusal(row.state, to, row);
  if (hops?.length === 0) return `It is ${to} already.`;
  if (to !== 'deleted' && row.fault !== null && row.fault !== 'error') {
    const tried = to === 'active' ? '' : ' With force it is tried all the same.';
    return `Its file is in doubt (${row.fault}). ${waysOut(row.fault)}${tried}`;
  }
  return wouldKeep ? 'It lives only in its process: nothing would be kept.' : null;
}

/**
 * What a caller may choose from what was asked; null when that is nothing. Throws `forbidden` for a tenant that is not
 * its own.
 */
function choiceOf(caller: Caller, { filter, ids }: StartJobInput, now: number): InstanceSelection | null {
  const { tenants } = caller;
  if (ids !== undefined) return { ids, tenants };
  const asked = filter ?? {};
  if (tenants !== null && asked.tenant !== undefined && !tenants.includes(asked.tenant)) {
    throw new WinterdockError('forbidden', `You may not act for the tenant "${asked.tenant}".`);
  }
  const wanted = listFilterOf(asked, tenants, now);
  return wanted === null ? null : { filter: wanted };
}

function newJob(caller: Caller, input: StartJobInput, now: number): NewJob {
  const { verb, reason, labels, filter, ids } = input;
  return {
    id: newId('job'),
    verb,
    reason: reason === undefined || reason === '' ? null : reason,
    labels: labels ?? null,
    asked: filter === undefined ? { ids: ids?.length ?? 0 } : { filter },
    tenants: filter?.tenant === undefined ? caller.tenants : [filter.tenant],
    actor: caller.actor,
    via: caller.via,
    address: caller.address,
    created: now,
  };
}

function unknownResult(position: number, id: string, clock: Clock): JobResultRow {
  return { position, outcome: 'skipped', reason: `There is no sandbox "${id}".`, timeMs: clock.now() };
}

/** Counts what a job would do, one sandbox after another. */
class DryRunTally {
  readonly #verb: JobVerb;
  readonly #skip = new Map<string, number>();
  readonly #plans = new Map<string, DryRun['plans'][number]>();
  readonly #losses = new Map<Loss, number>();
  #matched = 0;
  #will = 0;

  constructor(verb: JobVerb) {
    this.#verb = verb;
  }

  take(one: SelectedInstance): void {
    this.#matched += 1;
    const wish = one.row === 0 ? { skip: 'There is no such sandbox.' } : planVerb(this.#verb, one);
    if ('skip' in wish) {
      this.#skip.set(wish.skip, (this.#skip.get(wish.skip) ?? 0) + 1);
      return;
    }
    this.#will += 1;
    if (wish.hops.length > 0) {
      const plans = this.#plans.get(one.state) ?? { from: one.state, hops: wish.hops, count: 0 };
      plans.count += 1;
      this.#plans.set(one.state, plans);
    }
    for (const loss of lossesOf(one, wish.hops)) this.#losses.set(loss, (this.#losses.get(loss) ?? 0) + 1);
  }

  answer(): DryRun {
    return {
      matched: this.#matched,
      will: this.#will,
      skip: [...this.#skip].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count),
      plans: [...this.#plans.values()],
      losses: [...this.#losses].map(([loss, count]) => ({ loss, words: LOSSES[loss], count })),
    };
  }
}
