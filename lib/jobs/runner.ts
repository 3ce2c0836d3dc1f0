/**
 * Runs jobs: one verb on each of many sandboxes, chosen when the job is created. A job is one host's at a time and
 * survives it: the next start, or another host, continues with the sandboxes that have no result yet. Does not check
 * permissions; lib/lifecycle/job-verbs.ts plans the verb for one sandbox.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { Mutex, Semaphore } from 'async-mutex';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError, publicMessage, WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { ClaimedWork, type WorkTurn } from '../claims/claimed-work.ts';
import type { Claims } from '../claims/claims.ts';
import { HOLD_WORDS, holdOn, planVerb } from '../lifecycle/job-verbs.ts';
import { VERB_TARGET, WAKE_VERBS } from '../lifecycle/state-map.ts';
import type { JobOutcome, JobResultRow, JobRow } from '../registry/jobs.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { HostIdentity, InstanceRow } from '../registry/types.ts';
import { MEMORY } from '../sandboxes/engine.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import type { InstancePool } from '../workers/protocol/instance.ts';

/** Sandboxes that all jobs together move at the same time. */
const PLACES = 4;
/** Share of the process slots that jobs leave to people. */
const KEPT_SHARE = 0.1;
/** How long a job's wake waits for a second spare worker: the first one is left to people. */
const WORKER_WAIT_MS = 5000;
/** Milliseconds until a job is retried after the registry failed a write. */
const AGAIN_MS = 1000;
const POLL_MS = 25;
/** How often results are saved. Results that a killed server had not saved are computed again, harmlessly. */
const FLUSH_MS = 250;
const FLUSH_RESULTS = 100;
const DAY_SECONDS = 86_400;
/** Ended jobs are deleted after WB_JOBS_KEEP_DAYS, this many results at a time. */
const FORGET_RESULTS = 1000;
/** How often a sandbox is planned again when it moved between its plan and its turn. */
const LOOKS = 3;
const LABEL_COUNT = 32;

export interface JobRunnerParts {
  claims: Claims;
  config: Pick<Config, 'jobsKeepDays' | 'maxActive' | 'poolSize'>;
  clock: Clock;
  log: Logger;
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'live' | 'runPlan' | 'handOver'>;
  host: Pick<HostIdentity, 'name'>;
  /** Whether this host is being emptied. Default: it never is. */
  isDraining?: () => boolean;
  pool: Pick<InstancePool, 'active' | 'ready' | 'shortage'>;
}

type ItemResult = Pick<JobResultRow, 'outcome' | 'reason'>;

export class JobRunner {
  readonly #parts: JobRunnerParts;
  readonly #places = new Semaphore(PLACES);
  readonly #waking = new Mutex();
  readonly #work: ClaimedWork<JobRow>;
  #forgetting: Promise<void> = Promise.resolve();

  constructor(parts: JobRunnerParts) {
    this.#parts = parts;
    this.#work = new ClaimedWork({
      ...parts,
      kind: 'job',
      what: 'a job',
      keyOf: ({ id }) => id,
      open: async () => (await parts.registry.jobs.running()).filter((job) => this.#isToRun(job)),
      carryOut: (job, turn) => this.#run(job, turn),
      pauseMs: () => AGAIN_MS,
    });
  }

  /** Continues the jobs that a server left, and deletes old ones in the background. */
  async start(): Promise<void> {
    await this.#work.start();
    this.#forgetting = this.#forget().catch((error) => this.#parts.log.error({ err: error }, 'forgetting old jobs'));
  }

  async #forget(): Promise<void> {
    const { registry, clock, config } = this.#parts;
    const before = epochSeconds(clock) - config.jobsKeepDays * DAY_SECONDS;
    while (!this.#work.isStopped && (await registry.jobs.deleteEndedBefore(before, FORGET_RESULTS)))
      await setTimeout(POLL_MS);
  }

  /** Starts a job. One that is not for this host is taken up by another one. */
  async take(job: JobRow): Promise<void> {
    if (this.#isToRun(job)) await this.#work.take(job);
  }

  /** A host empties itself, and while it does that it takes up nothing else. */
  #isToRun(job: JobRow): boolean {
    const { host, isDraining } = this.#parts;
    // lib/jobs/tenant-forgetter.ts runs these.
    if (job.verb === 'forget') return false;
    return job.verb === 'drain' ? drainedHost(job) === host.name : isDraining?.() !== true;
  }

  /** Ends a job: sandboxes under way finish, no other begins. False when the job did not run. */
  async cancel(id: string, audit: AuditContext): Promise<boolean> {
    const { registry, clock } = this.#parts;
    const job = await registry.jobs.get(id);
    if (job === null) throw new WinterdockError('not_found', `There is no job "${id}".`);
    const ended = await registry.jobs.end(
      id,
      'cancelled',
      epochSeconds(clock),
      this.#line(job, audit, 'job.cancelled'),
    );
    await this.#work.callOff(id);
    return ended;
  }

  /** Waits for the sandboxes under way and begins no other. Jobs go on at the next start. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all([this.#work.stop(), this.#forgetting]);
  }

  async #run(job: JobRow, turn: WorkTurn): Promise<void> {
    const { clock, registry } = this.#parts;
    const audit: AuditContext = { trigger: 'operator', ...job, requestId: job.id };
    const results: JobResultRow[] = [];
    let flushed = performance.now();
    const flush = async () => {
      flushed = performance.now();
      // Whoever has the job now sees by the ledger what was done.
      if (turn.claim.isOver) return;
      await registry.jobs.record(job.id, results.splice(0));
    };
    const underWay = new Set<Promise<void>>();
    try {
      for (let position: number | null = 0; position !== null && !turn.isOver; ) {
        const open = await registry.jobs.open(job.id, position);
        for (const { position: at, id } of open.items) {
          const release = await this.#place(job);
          // Labels and skipped sandboxes never wait: without this pause they would block the event loop until the last.
          await setImmediate();
          if (turn.isOver) {
            release();
            break;
          }
          const one = this.#one(job, id, audit, turn.isAgain)
            .then((result) => void results.push({ position: at, timeMs: clock.now(), ...result }))
            .finally(() => {
              release();
              underWay.delete(one);
            });
          underWay.add(one);
          if (results.length >= FLUSH_RESULTS || performance.now() - flushed > FLUSH_MS) await flush();
        }
        position = open.next;
      }
      while (underWay.size > 0) {
        await Promise.race([...underWay, setTimeout(FLUSH_MS)]);
        await flush();
      }
      await flush();
    } finally {
      // Moves under way end first: what they did must not run on beside the next server.
      await Promise.allSettled(underWay);
    }
    if (turn.isOver) return;
    await registry.jobs.end(
      job.id,
      'done',
      epochSeconds(clock),
      this.#line(job, { ...audit, address: null }, 'job.done'),
    );
  }

  /**
   * Waits for a slot; resolves with its release. Wakes run one at a time, and queue before they take a slot, so that
   * they keep none from other verbs.
   */
  async #place(job: JobRow): Promise<() => void> {
    const wakes = WAKE_VERBS.some((verb) => verb === job.verb);
    const leaveTurn = wakes ? await this.#waking.acquire() : () => {};
    const [, leavePlace] = await this.#places.acquire();
    return () => {
      leavePlace();
      leaveTurn();
    };
  }

  /** Moves one sandbox. Never throws. */
  async #one(job: JobRow, id: InstanceId, audit: AuditContext, again: boolean): Promise<ItemResult> {
    const { verb } = job;
    // lib/jobs/tenant-forgetter.ts runs these jobs.
    if (verb === 'forget') return skipped('It goes with its tenant.');
    try {
      if (verb === 'drain') {
        const { stays } = await this.#parts.sandboxes.handOver(id, audit, job);
        return stays === null ? DONE : skipped(stays);
      }
      for (let look = 1; ; look += 1) {
        const row = await this.#parts.registry.instances.get(id);
        if (row === null) return skipped('There is no such sandbox.');
        const planned = planVerb(verb, { ...row, inMemory: row.vfsPath === MEMORY });
        if ('skip' in planned) return again && (await this.#moved(job, row)) ? DONE : skipped(planned.skip);
        const isAttached = this.#parts.sandboxes.live(row).attached > 0;
        const hold = job.includeHeld ? null : holdOn(verb, { ...row, isAttached }, epochSeconds(this.#parts.clock));
        if (hold !== null) return skipped(HOLD_WORDS[hold]);
        if (verb === 'label') return await this.#label(job, row, audit);
        const to = VERB_TARGET[verb];
        const move = () => this.#parts.sandboxes.runPlan(id, to, audit, { from: row.state });
        try {
          await (to === 'active' ? this.#leavingRoom(move) : move());
          return DONE;
        } catch (error) {
          const moved = isWinterdockError(error) && error.code === 'conflict' && error.extra.state !== undefined;
          if (!moved || look === LOOKS) throw error;
        }
      }
    } catch (error) {
      if (isWinterdockError(error) && error.code === 'gone') return skipped('It was deleted.');
      if (!isWinterdockError(error)) this.#parts.log.warn({ job: job.id, id, err: error }, 'a move of a job failed');
      return { outcome: 'failed', reason: publicMessage(error) };
    }
  }

  /**
   * Whether this job made the last move of a sandbox, or the start completed it: then only the result was lost with the
   * earlier server.
   */
  async #moved(job: JobRow, row: InstanceRow): Promise<boolean> {
    const [last] = (await this.#parts.registry.ledger.page({ instance: row.id, type: 'transition' }, 1)).rows;
    return last?.requestId === job.id || last?.trigger === 'reconcile';
  }

  async #label(job: JobRow, row: InstanceRow, audit: AuditContext): Promise<ItemResult> {
    const { registry, clock } = this.#parts;
    const entry = ledgerEntry({ clock }, row, audit, 'instance.changed');
    const became = await registry.instances.relabel(row.id, job.labels ?? {}, LABEL_COUNT, entry);
    if (became === 'same') return skipped('It is labelled so already.');
    return became === 'too_many' ? skipped(`It would have more than ${LABEL_COUNT} labels.`) : DONE;
  }

  /** Runs a wake, but leaves the last slots and, for a while, the last spare worker to people. */
  async #leavingRoom<T>(wake: () => Promise<T>): Promise<T> {
    const { config, pool } = this.#parts;
    const kept = Math.max(1, Math.floor(config.maxActive * KEPT_SHARE));
    if (pool.active >= config.maxActive - kept) {
      throw new WinterdockError(
        'capacity',
        `The last ${kept} of ${config.maxActive} places for running sandboxes are reserved for people.`,
      );
    }
    if (pool.shortage === 'memory') {
      throw new WinterdockError(
        'capacity',
        'The memory that all sandboxes share (WB_MEMORY) has no room for another, and a job suspends none for it.',
      );
    }
    const enough = Math.min(2, config.poolSize);
    const until = performance.now() + WORKER_WAIT_MS;
    while (pool.ready < enough && performance.now() < until && !this.#work.isStopped) await setTimeout(POLL_MS);
    return wake();
  }

  #line(job: JobRow, audit: AuditContext, type: string) {
    return jobLine(
      this.#parts,
      job,
      { ...audit, requestId: job.id },
      type,
      `${job.done} done, ${job.failed} failed, ${job.skipped} skipped`,
    );
  }
}

/** The host that a job empties. */
function drainedHost({ request }: Pick<JobRow, 'request'>): string | undefined {
  return (request as { filter?: { host?: string } }).filter?.host;
}

const DONE: ItemResult = { outcome: 'done', reason: null };

function skipped(reason: string): ItemResult {
  return { outcome: 'skipped' satisfies JobOutcome, reason };
}

/** A ledger line about a whole job. It belongs to a tenant when the job concerns only that tenant. */
export function jobLine(
  parts: { clock: Clock },
  job: Pick<JobRow, 'verb' | 'reason' | 'tenants'>,
  audit: AuditContext,
  type: string,
  what: string,
) {
  const reason = `${job.verb}: ${what}${job.reason === null ? '' : ` – ${job.reason}`}`;
  const only = job.tenants?.length === 1 ? (job.tenants[0] ?? null) : null;
  return { ...ledgerEntry(parts, null, audit, type, { reason }), tenant: only };
}
