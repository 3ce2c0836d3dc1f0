/**
 * What every part of the sandboxes shares: the engine with its collaborators, ledger entries, paths. Holds no policy.
 */
import { join } from 'node:path';
import type { Mutex } from 'async-mutex';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { isCloudAddress } from '../base/cloud-address.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { HostAsSeen } from '../registry/hosts.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { HostIdentity, InstanceRow } from '../registry/types.ts';
import type { MomentSource } from '../replication/moments/moment-source.ts';
import type { OpenedMoments } from '../replication/moments/opened-moments.ts';
import type { ReplicaOfFiles } from '../replication/replica-of-files.ts';
import type { Drawers } from '../storage/drawer.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import type { Readers } from '../vfs/types.ts';
import type { CpuGroups } from '../workers/cpu-groups.ts';
import type { Claim, InstancePool, InstanceProcess } from '../workers/protocol/instance.ts';
import type { Failpoint } from './recovery/failpoints.ts';
import type { Runtimes, SandboxRuntime } from './runtimes.ts';
import type { AuditContext, UnreachableFacts } from './sandboxes.ts';

export const MEMORY = ':memory:';

export interface AdmissionOptions {
  /** The tenant: owners take turns. */
  owner: string;
  /** That of the sandbox. Default: one that interprets. */
  policy?: string;
  /** False: it comes behind all others, nothing is suspended for it; without room it is refused. Default: true. */
  makesRoom?: boolean;
  /** The longest wait, in milliseconds; at most the server's own limit. */
  maxWaitMs?: number;
  /** Ends the wait: the caller is gone. */
  signal?: AbortSignal;
}

export interface Admitted {
  claim: Claim;
  /** Milliseconds in the queue, with what suspending others took. */
  waitMs: number;
  /** Milliseconds until a worker had started; 0 when one was in waiting. */
  startMs: number;
}

/** Is told how long a wake waited for its place and its worker, and whether it got them. */
export type WaitListener = (waitMs: number, isAdmitted: boolean) => void;

/** Gives wakes their place, its memory and a started worker, in turn. */
export interface Admission {
  /** Wakes that wait. */
  readonly waiting: number;
  onWaited(listener: WaitListener): void;
  /** Throws `capacity` when one more wake would have to wait longer than it may. */
  requirePatience(options: Pick<AdmissionOptions, 'maxWaitMs'>): void;
  /**
   * Waits for room and a started worker. Throws `capacity` when there was none in time, when nothing that runs may be
   * suspended, and when the server stops; then nothing is claimed.
   */
  claim(options: AdmissionOptions): Promise<Admitted>;
  /** Keeps as many workers started as demand suggests; called every tick. */
  followDemand(): Promise<void>;
}

/** The processor time that tenants may take. */
export interface CpuBudget {
  /** Whether `require` may throw: false as long as no tenant has used up its quota. */
  readonly mayRefuse: boolean;
  /** Throws `quota_exceeded` when the tenant has used up its processor time of the day. */
  require(tenant: string): Promise<void>;
  /**
   * Counts what a process takes from now on as the sandbox's and its tenant's: what it took before, its start, is not.
   */
  account(row: Pick<InstanceRow, 'id' | 'tenant'>, process: InstanceProcess): void;
}

/** The object store below the drawers, as verbs and reads use it. */
export interface StoreBelow {
  /** For who waits: it fails within seconds while the store is away. */
  readonly objects: ObjectStore;
  /** The error for who needs an object that the store says it has not. */
  missing(row: InstanceRow, cause: unknown): Promise<WinterdockError>;
  /** Throws `storage_unavailable` unless the store has the marker of this installation. */
  requireMarker(signal: AbortSignal): Promise<void>;
  /**
   * The row without its fault, where that was the store's and the store gives its file as it was filed; else the same
   * row. The caller holds the verbs lock. Throws `storage_unavailable` when the store is away.
   */
  settleFault(runtime: SandboxRuntime, row: InstanceRow): Promise<InstanceRow>;
  /** A verb has begun on a sandbox: an upload of it under way is given up. */
  abort(id: InstanceId): void;
  /** A file was filed, or came back to its drawer: where it is not stored its upload is queued. */
  filed(row: InstanceRow): void;
  /** The cached copy of a sandbox's file was used, or brought. */
  used(row: InstanceRow): void;
}

/** `stored`: whole in the store. Else from the replica: with all that was answered, or up to some seconds before. */
export type TakeoverClass = 'stored' | 'sync' | 'seconds';

export interface Engine {
  /** This server, as the owner of sandboxes. */
  readonly host: HostIdentity;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly pool: InstancePool;
  readonly readers: Readers;
  /** Where files rest. A sandbox that was never resumed is read from the drawer of snapshots or blueprints. */
  readonly drawers: Drawers;
  /** Null: what rests lies on this disk alone. */
  readonly store: StoreBelow | null;
  /** Null: what sandboxes commit is shipped nowhere. */
  readonly replica: ReplicaOfFiles | null;
  /** What finds and makes the moments of the replica; null without one. */
  readonly momentSource: Pick<MomentSource, 'find' | 'make'> | null;
  /** Moments of the replica that are open to be read; null without one. */
  readonly moments: Pick<OpenedMoments, 'forget'> | null;
  readonly runtimes: Runtimes;
  /** Called at each failpoint. For fault injection in tests only. */
  readonly failpoint: (step: Failpoint) => void;
  /**
   * Whether the registry is the one that was signed last. When it is not, a newer one may name files that this one does
   * not know, so no file counts as an orphan.
   */
  readonly registryIsWhole: () => boolean;
  /** The refusal of a sandbox that is another host's, from a row that was read just now. */
  readonly elsewhere: (row: InstanceRow) => WinterdockError | Promise<WinterdockError>;
  /** The host of a row as it was seen, if it is another one that is dead or has handed its name back; else null. */
  readonly fallen: (row: InstanceRow) => HostAsSeen | null;
  /** What is known of a sandbox whose host does not answer; null: it can be reached, or is here. Asks nobody. */
  readonly unreachable: (row: InstanceRow) => UnreachableFacts | null;
  /** Is told of each sandbox that was taken from a dead host, and by what it goes on. */
  readonly tookOver: (as: TakeoverClass) => void;
  /** Whether this host is being emptied: it wakes nothing that is nobody's. */
  readonly isDraining: () => boolean;
  /** Sandboxes that are being handed over: nothing wakes them here. */
  readonly leaving: Set<InstanceId>;
  readonly admission: Admission;
  readonly cpuBudget: CpuBudget;
  /** Control groups for what gives way; null where there are none: then priorities share the processors. */
  readonly cpuGroups: Pick<CpuGroups, 'enter' | 'leave' | 'left'> | null;
  /** Locked while sandboxes are suspended to make room for one more process. */
  readonly roomMutex: Mutex;
  /** Schedules the background check of a file that was just filed. */
  readonly scheduleCheck: (id: InstanceId, generation: number) => void;
  /** Runs the background check of a filed file now, once, as somebody waits for its hash. */
  readonly hurryCheck: (id: InstanceId, generation: number) => void;
  /** Watches a process that serves a sandbox: settles the sandbox when the process ends by itself. */
  readonly watchProcess: (id: InstanceId, process: InstanceProcess) => void;
  /**
   * Sandboxes whose failed operation could neither be rolled back nor recorded. Each round of the ladder tries to
   * settle them.
   */
  readonly interrupted: Set<InstanceId>;
  /** Aborted when the server stops: no wake begins any more, and a wake under way is rolled back. */
  readonly stop: AbortSignal;
}

/** The refusal of a wake while the server stops. */
export function serverStopping(): WinterdockError {
  return new WinterdockError('capacity', 'The server is stopping.', { retryAfterSeconds: 5 });
}

/** The audit context of what the engine does by itself. */
export function systemAudit(trigger: AuditContext['trigger'], via: AuditContext['via'] = 'system'): AuditContext {
  return { trigger, actor: via === 'ticker' ? 'ticker' : 'system', via, requestId: null, address: null, reason: null };
}

/** The live drawer's path of a sandbox, relative to the data folder. */
export function livePath(id: InstanceId): string {
  return `live/${id}/vfs.sqlite`;
}

/** The absolute path of a path that a row names. */
export function absolutePath(engine: { config: Pick<Config, 'dataFolder'> }, relative: string): string {
  return join(engine.config.dataFolder, relative);
}

export function now(engine: Engine): number {
  return epochSeconds(engine.clock);
}

/** Milliseconds since `started` (of `performance.now()`), to the hundredth. */
export function elapsedMs(started: number): number {
  return Math.round((performance.now() - started) * 100) / 100;
}

/** The row of a sandbox that is not deleted. Throws `not_found` or `gone`. */
export async function requireInstance(engine: Pick<Engine, 'registry'>, id: InstanceId): Promise<InstanceRow> {
  const row = await engine.registry.instances.get(id);
  if (row === null) throw new WinterdockError('not_found', `There is no sandbox "${id}".`);
  if (row.state === 'deleted') {
    throw new WinterdockError('gone', `The sandbox "${id}" was deleted.`, { hint: 'Its id is never used again.' });
  }
  return row;
}

/** Whether a row is this host's, or nobody's: that of another host has its process, or its newest bytes, there. */
export function isOwn(engine: Pick<Engine, 'host'>, { ownerHost }: Pick<InstanceRow, 'ownerHost'>): boolean {
  return ownerHost === null || ownerHost === engine.host.name;
}

/**
 * `requireInstance` of a sandbox that this host may move, call and read. Throws `conflict` for one of another host, and
 * `unreachable` when that one is dead.
 */
export async function requireOwnInstance(engine: OwnContext, id: InstanceId): Promise<InstanceRow> {
  const row = await requireInstance(engine, id);
  if (isOwn(engine, row)) return row;
  const freed = isWholeInStore(row) ? await freeOfFallen(engine, row) : null;
  if (freed !== null) return freed;
  throw await engine.elsewhere(row);
}

/**
 * Whether what a row says is in the store, whole. Where it is a host's all the same, that one had begun something with
 * it that is not committed, so nothing was answered.
 */
export function isWholeInStore({ state, vfsPath }: Pick<InstanceRow, 'state' | 'vfsPath'>): boolean {
  return (state === 'frozen' || state === 'archived') && isCloudAddress(vfsPath);
}

/** Makes a row that is whole in the store nobody's, if its host is dead; null: it lives. What it began is not done. */
async function freeOfFallen(engine: OwnContext, row: InstanceRow): Promise<InstanceRow | null> {
  const from = engine.fallen(row);
  if (from === null) return null;
  const verb = row.pending?.verb ?? 'an operation';
  const reason = `the host "${from.name}" ended during ${verb}; it is whole in the store`;
  const line = ledgerEntry(engine, row, systemAudit('reconcile'), 'instance.taken_over', { reason });
  const freed = await engine.registry.instances.takeOver({ row, from, by: null, ledger: [line] });
  if (freed !== null) engine.tookOver('stored');
  return freed;
}

/** What `requireOwnInstance` needs. */
export type OwnContext = Pick<Engine, 'registry' | 'host' | 'clock' | 'elsewhere' | 'fallen' | 'tookOver'>;

/** The refusal of a sandbox whose host lives. */
export function onAnotherHost({ id, ownerHost }: Pick<InstanceRow, 'id' | 'ownerHost'>): WinterdockError {
  return new WinterdockError('conflict', `The sandbox "${id}" is on the host "${ownerHost}".`, {
    hint: 'Ask that host, or wait until it has let the sandbox go.',
    extra: { host: ownerHost },
  });
}

/** Throws `capacity` for a sandbox that another host is to wake, because this one is being emptied. */
export function refuseLeaving(
  engine: Pick<Engine, 'isDraining' | 'leaving'>,
  { id, ownerHost }: Pick<InstanceRow, 'id' | 'ownerHost'>,
): void {
  if (!engine.leaving.has(id) && !(ownerHost === null && engine.isDraining())) return;
  throw new WinterdockError('capacity', `The sandbox "${id}" is handed over: this host is being emptied.`, {
    hint: 'Nothing was done. The same request again is answered by the host that takes it.',
    retryAfterSeconds: 1,
  });
}

/**
 * Runs the rollback of a failed operation. When the rollback fails too, the sandbox is remembered and settled later.
 */
export async function runRollback(engine: Engine, id: InstanceId, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    engine.interrupted.add(id);
    throw error;
  }
}
