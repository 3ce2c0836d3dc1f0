/**
 * Fires schedules when they are due: reads those whose time has come, a few at a time and tenants in turn, and arms
 * each anew. A round costs what is due and not what exists. Knows nothing of HTTP, or of who made a schedule.
 */
import { availableParallelism } from 'node:os';
import { Semaphore } from 'async-mutex';
import { epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { messageOf } from '../base/errors.ts';
import { FairQueue } from '../base/fair-queue.ts';
import { newId } from '../base/ids.ts';
import { ClaimedWork } from '../claims/claimed-work.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { type DueSchedule, firingKey, type ScheduleRow, type ScheduleRunRow } from '../registry/schedules.ts';
import type { AuditContext } from '../sandboxes/sandboxes.ts';
import { DockedPlans } from '../workbooks/docked.ts';
import { armingFrom } from './arming.ts';
import { ScheduleClock } from './clock.ts';
import { syncDocked } from './declarations.ts';
import { Firing, type FiringParts, type LeftRun, leftRun, scheduleAudit } from './firing.ts';
import { timesBetween, timesInWords } from './timing.ts';

/** Wakes at the same time: more would share the same processors. */
const WAKES = availableParallelism();
/** Runs at the same time, and those of one tenant: a run may take long without using a processor. */
const RUNS = 4 * availableParallelism();
const RUNS_OF_TENANT = RUNS / 2;
/** Schedules that are read at a time, and how few may be left before more are read. */
const READ = 1000;
const FEW = 100;
/** Missed firings that are made up for, at most. */
const MISSED_MADE_UP = 50;
/** A firing for which there is no room waits this long. */
const NO_ROOM_SECONDS = 10;
const LEAST_PAUSE_MS = 100;
const WAITING_PAUSE_MS = 1000;
/** Lines of changes that may bring schedules with them. */
const DOCKING: ReadonlySet<string> = new Set(['instance.created', 'instance.docked', 'instance.imported']);

export interface SchedulerParts extends Omit<FiringParts, 'wakes'> {
  /** Whether this host is being emptied: what is nobody's is fired by another one. Default: it never is. */
  isDraining?: () => boolean;
  config: Pick<Config, 'maxCallMs' | 'scheduleSpreadSeconds' | 'schedulesPerSandbox' | 'schedulesPerTenant' | 'tickMs'>;
  registry: Pick<Registry, 'commitEvents' | 'facts' | 'instances' | 'ledger' | 'quotas' | 'schedules' | 'workbooks'>;
}

export class Scheduler {
  readonly #parts: FiringParts & SchedulerParts;
  readonly #clock: ScheduleClock;
  readonly #plans: DockedPlans;
  /** Runs that no server carries out any more. */
  readonly #left: ClaimedWork<LeftRun>;
  readonly #queue = new FairQueue<DueSchedule>();
  /** Ids of those in the queue and of those under way. */
  readonly #taken = new Set<string>();
  readonly #underWay = new Map<string, number>();
  readonly #ended = new Set<Promise<void>>();
  /** Firings of what was due. What somebody asked for is not among them: it holds up no schedule. */
  #timed = 0;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #stopListening: () => void = () => {};
  #round: Promise<void> | null = null;

  constructor(parts: SchedulerParts) {
    this.#parts = { ...parts, wakes: new Semaphore(WAKES) };
    this.#clock = new ScheduleClock(parts);
    this.#plans = new DockedPlans(parts.registry.workbooks);
    const { claims, log, registry } = parts;
    this.#left = new ClaimedWork({
      claims,
      log,
      kind: 'firing',
      what: 'the run of a schedule',
      keyOf: ({ run }) => firingKey(run),
      open: async () => (await registry.schedules.interrupted()).map(leftRun),
      carryOut: async (one, { claim }) => {
        // It may have ended, and another begun, since it was read: what is recorded is the end of this very run.
        await new Firing(this.#parts, this.#stop.signal).settle(one, claim);
        this.#plan(0);
      },
      pauseMs: () => parts.config.tickMs,
    });
  }

  /** Settles the runs that an earlier server left, and begins. Later on it settles those of other hosts. */
  async start(): Promise<void> {
    await this.#clock.start();
    await this.#left.start();
    await this.#left.idle();
    this.#stopListening = this.#parts.registry.commitEvents.onLedgerAppend(({ lines }) => {
      if (lines.some(({ type, from }) => DOCKING.has(type) || from === 'archived')) this.#plan(0);
    });
    this.#plan(0);
  }

  /** No firing begins any more. */
  stop(): void {
    this.#stop.abort();
    this.#stopListening();
    clearTimeout(this.#timer);
    this.#queue.clear();
  }

  /** Resolves when no firing is under way. To be awaited after the sandboxes' calls have ended. */
  async end(): Promise<void> {
    this.stop();
    await this.idle();
    await this.#left.stop();
    await this.#clock.stop();
  }

  /** Resolves when nothing is queued or under way. */
  async idle(): Promise<void> {
    await this.#round;
    while (this.#ended.size > 0) await Promise.all(this.#ended);
  }

  /** Schedules have changed: the next one may be due earlier. */
  changed(): void {
    this.#plan(0);
  }

  get #isEmptied(): boolean {
    return this.#parts.isDraining?.() === true;
  }

  /** One round: begins what is due now. Rounds never overlap. */
  tick(): Promise<void> {
    this.#round ??= this.#runRound().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  /**
   * Runs a schedule now, whatever its times, and resolves when that has begun. Null when it changed meanwhile; the
   * caller reads it again. Its time to be due stays.
   */
  async run(row: ScheduleRow, audit: AuditContext): Promise<ScheduleRunRow | null> {
    const firing = new Firing(this.#parts, this.#stop.signal);
    const begun = await firing.begin(row, { planned: null, missed: false, actor: audit.actor });
    if (begun === null) return null;
    // Somebody asked for it: it takes its turn among people's requests.
    this.#follow(firing.finish(row, begun, audit, null));
    return begun.run;
  }

  #plan(milliseconds: number): void {
    clearTimeout(this.#timer);
    if (this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.tick()
        .catch((error) => this.#parts.log.error({ error: messageOf(error) }, 'schedules'))
        .finally(() => this.#planNext().catch(() => this.#plan(this.#parts.config.tickMs)));
    }, milliseconds);
    this.#timer.unref();
  }

  /**
   * Plans the next round for when the next schedule is due, but no later than the next tick: the clock may jump. While
   * some that are due wait for their turn, those behind them are looked for every second.
   */
  async #planNext(): Promise<void> {
    const { config, clock, registry } = this.#parts;
    const earliest = await registry.schedules.earliest();
    const left = earliest === null ? config.tickMs : earliest * 1000 - clock.now();
    const least = left <= 0 && (this.#taken.size > 0 || this.#isEmptied) ? WAITING_PAUSE_MS : LEAST_PAUSE_MS;
    this.#plan(Math.min(config.tickMs, Math.max(least, left)));
  }

  async #runRound(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    await this.#clock.look();
    await syncDocked(this.#parts, this.#plans);
    await this.#read();
    this.#serve();
  }

  /** Reads what is due and not taken yet. */
  async #read(): Promise<void> {
    const { clock, registry } = this.#parts;
    const due = await registry.schedules.due(epochSeconds(clock), READ + this.#taken.size);
    for (const one of due) {
      if (this.#taken.has(one.id)) continue;
      this.#taken.add(one.id);
      this.#queue.add(one.tenant, one);
    }
  }

  #serve(): void {
    while (!this.#stop.signal.aborted && this.#timed < RUNS) {
      const next = this.#queue.take(({ tenant }) => (this.#underWay.get(tenant) ?? 0) < RUNS_OF_TENANT);
      if (next === undefined) return;
      this.#timed += 1;
      this.#underWay.set(next.tenant, (this.#underWay.get(next.tenant) ?? 0) + 1);
      this.#follow(
        this.#fire(next.id).finally(() => {
          this.#timed -= 1;
          this.#taken.delete(next.id);
          const left = (this.#underWay.get(next.tenant) ?? 1) - 1;
          if (left === 0) this.#underWay.delete(next.tenant);
          else this.#underWay.set(next.tenant, left);
        }),
      );
    }
  }

  /** Remembers work until it has ended, and serves the next then. */
  #follow(work: Promise<void>): void {
    let pauseMs = 0;
    const ended = work
      .catch((error) => {
        this.#parts.log.error({ error: messageOf(error) }, 'a schedule was not fired');
        // It is still due.
        pauseMs = this.#parts.config.tickMs;
      })
      .finally(() => {
        this.#ended.delete(ended);
        this.#serve();
        if (this.#queue.length <= FEW) this.#plan(pauseMs);
      });
    this.#ended.add(ended);
  }

  async #fire(id: string): Promise<void> {
    const { clock, config, registry } = this.#parts;
    const row = await registry.schedules.get(id);
    const now = epochSeconds(clock);
    if (row === null || row.run !== null || row.fireAt === null || row.fireAt > now) return;
    // Another host wakes it: it is still due there.
    if (this.#isEmptied && (await registry.instances.get(row.instance))?.ownerHost === null) return;
    const { nextAt: planned } = row;
    if (planned === null || row.fireAt === 0) {
      await registry.schedules.arm(row, armingFrom(row.id, row, now, config.scheduleSpreadSeconds));
      return;
    }
    // A run that a killed server left is repeated later than what was missed since: both are made up for together.
    const isRepeated = row.backlogUntil === null && row.missed !== 'skip';
    const wasMissed = this.#clock.isMissed(isRepeated ? Math.min(planned, row.fireAt) : row.fireAt);
    if (wasMissed && row.missed === 'skip') return this.#passOver(row, planned, now);
    if (wasMissed && row.missed === 'all') return this.#takeBacklog(row, planned, now);
    if (wasMissed && (await this.#mergeMissed(row, planned, now))) return;
    const firing = new Firing(this.#parts, this.#stop.signal);
    const release = await firing.takePlace(row);
    if (release === null) {
      const later = { nextAt: planned, notBefore: now + NO_ROOM_SECONDS, spread: 0, backlogUntil: row.backlogUntil };
      await registry.schedules.arm(row, later);
      return;
    }
    try {
      const missed = wasMissed || row.backlogUntil !== null;
      const begun = await firing.begin(row, { planned, missed, actor: scheduleAudit(row, null).actor });
      if (begun !== null) await firing.finish(row, begun, scheduleAudit(row, begun.run.id), release);
    } finally {
      release();
    }
  }

  async #passOver(row: ScheduleRow, planned: number, now: number): Promise<void> {
    const { config } = this.#parts;
    const next = armingFrom(row.id, row, now, config.scheduleSpreadSeconds);
    const times = timesInWords(row, planned, now) ?? 'once';
    await this.#record(row, planned, `It was due while the server did not run: ${times}.`, next);
  }

  /** Leaves the last of several missed times to be made up for. False when there is one. */
  async #mergeMissed(row: ScheduleRow, planned: number, now: number): Promise<boolean> {
    const last = timesBetween(row, planned, now, 1).at(-1) ?? planned;
    if (last === planned) return false;
    const times = timesInWords(row, planned, last);
    const why = `It was due while the server did not run: ${times}. One run makes up for them.`;
    await this.#record(row, planned, why, { nextAt: last, notBefore: now, spread: 0, backlogUntil: last });
    this.#plan(0);
    return true;
  }

  /** Makes up for what was missed one by one; for no more than the last ones. */
  async #takeBacklog(row: ScheduleRow, planned: number, now: number): Promise<void> {
    const [first = planned] = timesBetween(row, planned, now, MISSED_MADE_UP);
    const backlog = { nextAt: first, notBefore: now, spread: 0, backlogUntil: now };
    if (first === planned) await this.#parts.registry.schedules.arm(row, backlog);
    else {
      const left = timesInWords(row, planned, first - 1);
      const why = `More than ${MISSED_MADE_UP} firings were missed: those before the last ${MISSED_MADE_UP} are left out, ${left}.`;
      await this.#record(row, planned, why, backlog);
    }
    this.#plan(0);
  }

  async #record(row: ScheduleRow, planned: number, error: string, next: ReturnType<typeof armingFrom>): Promise<void> {
    const { clock, registry, observe } = this.#parts;
    const audit = scheduleAudit(row, newId('run'));
    const run = { id: newId('run'), schedule: row.id, planned, missed: true, startedMs: clock.now(), error };
    const line = ledgerEntry({ clock }, { id: row.instance, tenant: row.tenant }, audit, 'schedule.skipped', { error });
    const { actor } = audit;
    if (await registry.schedules.passOver(row, { ...run, actor }, next, line)) observe('skipped', null);
  }
}
