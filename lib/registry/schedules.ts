import type { InstanceId } from '../base/ids.ts';
import type { Thermal } from '../lifecycle/words.ts';
import type { ClaimTicket } from './claims.ts';
import type { InstanceRow, LedgerEntry, RowPage } from './types.ts';

/** What happens to firings that were due while the server did not run. */
export type MissedPolicy = 'skip' | 'once' | 'all';
export type ScheduleSource = 'api' | 'workbook';
/** What a schedule runs; a `world` is a whole workflow. */
export type ScheduleTarget = 'command' | 'component' | 'world';
/** `lost`: the server that carried it out is gone, and nobody knows how far it came. */
export type RunResult = 'done' | 'failed' | 'skipped' | 'lost';

/** Either a cron expression or a time, which may repeat as org says (`+1d`). Times are epoch seconds. */
export interface ScheduleTiming {
  cron: string | null;
  at: number | null;
  repeat: string | null;
  /** An IANA name. */
  timezone: string;
}

/** What somebody decides about a schedule. */
export interface ScheduleSettings extends ScheduleTiming {
  target: ScheduleTarget;
  /** The command, or the path of the component or world. */
  action: string;
  input: Record<string, unknown> | null;
  /** Milliseconds of one run; null: what the sandbox's policy allows. */
  timeoutMs: number | null;
  missed: MissedPolicy;
  paused: boolean;
}

/** When a schedule is next taken up. */
export interface ScheduleArming {
  /** The time that it is next due at; null when there is none. */
  nextAt: number | null;
  /** The earliest time to take it up at all, after a failure; null: `nextAt`. */
  notBefore: number | null;
  /** Seconds added to `nextAt` when more than `SPREAD_ABOVE` others are due at the same second. */
  spread: number;
  /** Missed times up to this one are made up for one by one. */
  backlogUntil: number | null;
}

/** So many schedules may fire at the same second before the next ones are spread. */
export const SPREAD_ABOVE = 2;

export interface NewSchedule extends ScheduleSettings {
  id: string;
  instance: InstanceId;
  tenant: string;
  source: ScheduleSource;
  /** Which declaration of the workbook it is; null for one made by the API. */
  declaration: string | null;
  created: number;
  actor: string;
}

export interface ScheduleRow extends NewSchedule {
  resting: boolean;
  nextAt: number | null;
  fireAt: number | null;
  backlogUntil: number | null;
  /** The id of the run under way. */
  run: string | null;
  lastAt: number | null;
  lastResult: RunResult | null;
  lastTookMs: number | null;
  failures: number;
  fault: string | null;
  revision: number;
}

/** A schedule whose time has come. */
export interface DueSchedule {
  id: string;
  tenant: string;
}

export interface ScheduleRunRow {
  id: string;
  schedule: string;
  /** The time that it was due at; null when somebody asked for it. */
  planned: number | null;
  /** It was due while the server did not run. */
  missed: boolean;
  startedMs: number;
  /** Null while it runs, as the result. */
  tookMs: number | null;
  result: RunResult | null;
  /** A sentence; never what the sandbox printed. */
  error: string | null;
  exitCode: number | null;
  woke: Thermal | null;
  actor: string;
}

export type NewRun = Pick<ScheduleRunRow, 'id' | 'schedule' | 'planned' | 'missed' | 'startedMs' | 'actor'>;
export type ScheduledOutcome = Pick<ScheduleRunRow, 'tookMs' | 'error' | 'exitCode' | 'woke'> & { result: RunResult };

/** Times that were passed over, as one line of the history: `planned` is the first of them, `error` says the rest. */
export type PassedOver = NewRun & { error: string };

/** How many schedules there may be. */
export interface ScheduleLimits {
  perSandbox: number;
  perTenant: number;
}

/** What a firing is claimed by: its schedule, and the second that it was due at or else the id of its run. */
export function firingKey({ id, schedule, planned }: Pick<ScheduleRunRow, 'id' | 'schedule' | 'planned'>): string {
  return `${schedule}/${planned ?? id}`;
}

/** The claim that a firing is carried out under. */
type FiringClaim = Pick<ClaimTicket, 'kind' | 'work' | 'token'>;

/** A compare-and-set: the schedule as the caller has read it. */
type AsRead = Pick<ScheduleRow, 'id' | 'revision'>;

export interface ScheduleStore {
  /**
   * Stores a schedule with its ledger line. Throws `quota_exceeded`, and `conflict` while its tenant is being
   * forgotten.
   */
  add(schedule: NewSchedule, arming: ScheduleArming, limits: ScheduleLimits, ledger: LedgerEntry): Promise<ScheduleRow>;
  get(id: string): Promise<ScheduleRow | null>;
  /** The schedule of an instance; null also for that of another one. */
  getOf(instance: InstanceId, id: string): Promise<ScheduleRow | null>;
  /** Oldest first. */
  list(instance: InstanceId, limit: number, cursor?: string): Promise<RowPage<ScheduleRow>>;
  /** How many a tenant has, with those that dockings will bring soon. */
  usedBy(tenant: string): Promise<number>;
  /** Those of an instance that its workbook declares. */
  declared(instance: InstanceId): Promise<ScheduleRow[]>;
  /** Changes a schedule. Absent members stay; without `arming` its times stay too. Null when it changed meanwhile. */
  change(
    read: AsRead,
    patch: Partial<ScheduleSettings>,
    arming: ScheduleArming | null,
    ledger: LedgerEntry,
  ): Promise<ScheduleRow | null>;
  /** False when there is none. */
  remove(id: string, ledger: LedgerEntry): Promise<boolean>;
  /** Adds, changes and removes schedules that a workbook declares, all or nothing. Throws as `add` does. */
  synchronise(
    changes: {
      add: { schedule: NewSchedule; arming: ScheduleArming }[];
      change: { read: AsRead; patch: Partial<ScheduleSettings>; arming: ScheduleArming }[];
      remove: string[];
    },
    limits: ScheduleLimits,
    ledger: LedgerEntry,
  ): Promise<void>;

  /** Instances whose workbook changed since `markSynchronised`. */
  unsynchronised(limit: number): Promise<InstanceId[]>;
  /** The schedules are in line with this version of the workbook; nothing when the instance has another one by now. */
  markSynchronised(docked: Pick<InstanceRow, 'id' | 'workbook' | 'workbookVersion'>): Promise<void>;

  /** Those to be taken up by `now`, earliest first. `host`: without those whose sandbox is another's. */
  due(now: number, limit: number, host?: string): Promise<DueSchedule[]>;
  /** When the next one is to be taken up; null when none is. `host` as for `due`. */
  earliest(host?: string): Promise<number | null>;
  /** Every schedule that is armed, in the order of their numbers, from the one after `seq`. */
  armed(seq: number, limit: number): Promise<(ScheduleRow & { seq: number })[]>;
  /** Sets its times anew. False when it changed meanwhile. */
  arm(read: AsRead, arming: ScheduleArming): Promise<boolean>;
  /**
   * Begins a run and claims it: both are on disk before this resolves, and no other begins until it has ended. False
   * when the schedule changed meanwhile, runs, or somebody has that claim.
   */
  beginRun(read: AsRead, run: NewRun, claim: ClaimTicket): Promise<boolean>;
  /**
   * Ends the run with its ledger line, gives its claim back, sets the next times and removes the oldest runs.
   * `changed`: nothing is written, as the schedule changed meanwhile; when it was removed, its run is gone and this is
   * `ended`. `lost`: nothing is written, as the claim is another's. `passedOver`: times that are left out because of
   * it, as one line of the history.
   */
  endRun(
    read: AsRead,
    run: string,
    outcome: ScheduledOutcome & { at: number; failures: number; fault: string | null },
    arming: ScheduleArming,
    ledger: LedgerEntry,
    claim: FiringClaim,
    passedOver?: PassedOver,
  ): Promise<'ended' | 'changed' | 'lost'>;
  /** Records times that were passed over, and sets the next one. False when the schedule changed meanwhile. */
  passOver(read: AsRead, run: PassedOver, arming: ScheduleArming, ledger: LedgerEntry): Promise<boolean>;
  /** Those whose run has not ended: under way somewhere, or left by a server that is gone. */
  interrupted(): Promise<{ schedule: ScheduleRow; run: ScheduleRunRow | null }[]>;
  /** Those whose last runs failed, at least so many one after another; the longest rows of failures first. */
  failing(least: number, limit: number): Promise<ScheduleRow[]>;
  getRun(id: string): Promise<ScheduleRunRow | null>;
  /** Newest first. */
  runs(schedule: string, limit: number, cursor?: string): Promise<RowPage<ScheduleRunRow>>;
  /** Counts for the metrics. */
  counts(now: number): Promise<{ armed: number; due: number; running: number; failing: number; resting: number }>;
}
