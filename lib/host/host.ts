/**
 * The running engine as one object. It is kept on `globalThis`, because bundled and unbundled code have two copies of a
 * module. compose.ts builds it.
 */

import type { Auth } from '../auth/auth.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { AgentStep } from '../copies/agents.ts';
import type { CopyStep } from '../copies/copies.ts';
import type { LoadSampler } from '../health/load/load-sampler.ts';
import type { Metrics } from '../health/metrics.ts';
import type { HostLease } from '../hosts/host-lease.ts';
import type { SandboxPlaces } from '../hosts/whereabouts.ts';
import type { Dispatcher } from '../http/dispatch.ts';
import type { ForgetStep } from '../jobs/tenant-forgetter.ts';
import type { EventHub } from '../ledger/event-hub.ts';
import type { LedgerMaintenance } from '../ledger/ledger-maintenance.ts';
import type { BackupEngine } from '../operations/backups.ts';
import type { Operations } from '../operations/operations.ts';
import type { Resolve } from '../outgoing/address-policy.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import type { Registry } from '../registry/registry.ts';
import type { Failpoint } from '../sandboxes/recovery/failpoints.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { ScheduleStep } from '../schedules/firing.ts';
import type { Scheduler } from '../schedules/scheduler.ts';
import type { Drawers } from '../storage/drawer.ts';
import type { WatchedStore } from '../storage/object-store/watched-store.ts';
import type { Terminals } from '../terminals/terminals.ts';
import type { Readers } from '../vfs/types.ts';
import type { WebhookCourier } from '../webhooks/courier.ts';
import type { InstancePool } from '../workers/protocol/instance.ts';
import type { Walls } from '../workers/walls/walls.ts';
import type { WorkbookExample } from './examples.ts';
import type { HostHops } from './hops.ts';
import type { ReplicaWork } from './replica.ts';
import { currentRequest } from './request-context.ts';

export interface Host {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** In a registry that others reach too; null where nobody does. */
  readonly lease: HostLease | null;
  /** Where sandboxes are, for requests that came here. */
  readonly places: SandboxPlaces;
  readonly pool: InstancePool;
  readonly walls: Walls;
  readonly sandboxes: Sandboxes;
  readonly load: LoadSampler;
  readonly scheduler: Scheduler;
  readonly terminals: Terminals;
  readonly courier: WebhookCourier;
  readonly backups: BackupEngine;
  /** The object store below the drawers; null without one. */
  readonly store: WatchedStore | null;
  /** What ships to WB_REPLICA_URL; null without one. */
  readonly replica: ReplicaWork | null;
  /** Brings every stored copy to this disk; returns what could not be brought, with the reason. */
  bringCopiesHome(): Promise<{ name: string; why: string }[]>;
  readonly operations: Operations;
  readonly auth: Auth;
  readonly events: EventHub;
  readonly ledger: LedgerMaintenance;
  readonly metrics: Metrics;
  readonly dispatcher: Dispatcher;
  /** Requests between hosts; null where the registry has one server. */
  readonly hops: HostHops | null;
  /** The OpenAPI document as JSON text. */
  openapi(): string;
  /** The workbooks that come along, to be tried. */
  examples(): readonly WorkbookExample[];
  /** Reconciles, then begins to serve. Idempotent. */
  start(): Promise<void>;
  /** Suspends what is active and waits for work in flight. Idempotent. */
  stop(): Promise<void>;
}

export interface HostOptions {
  config: Config;
  /** Default: the system's clock. */
  clock?: Clock;
  /** Default: JSON lines on stderr at the level of the settings. */
  log?: Logger;
  /** Receives lines for the person who starts the server. */
  notify?: (line: string) => void;
  /** Called once when another server has this one's name in the registry: nothing may be done any more. */
  onLost?: ((why: Error) => void) | undefined;
  /** Default: that of the settings. Whoever locked the registry passes the driver that has the lock. */
  driver?: RegistryDriver;
  /** Whether no other host uses the registry. Default: yes, because the server has locked it. */
  isAlone?: boolean;
  /** Default: those of the settings. */
  drawers?: Drawers;
  /** Default: reader processes of its own. */
  readers?: Readers;
  /** Default: the system's. */
  resolve?: Resolve;
  /** Fault injection: called as each step of a filing or waking is reached. */
  failpoint?: (step: Failpoint | AgentStep | CopyStep | ForgetStep | ScheduleStep) => void;
}

const KEY = Symbol.for('winterdock.host');

/**
 * The running host, for pages, actions and route files. Throws when none was started in this process, and
 * `storage_unavailable` for a request that bypassed the front, because no check of the front was made on it.
 */
export function getHost(): Host {
  const host = runningHost();
  if (host === null) throw new Error('The engine is not running in this process: start it with `npm start`.');
  const request = currentRequest();
  if (request === null) {
    throw new WinterdockError('storage_unavailable', 'The server is starting.', { retryAfterSeconds: 1 });
  }
  request.markStarted();
  return host;
}

/** The host of this process, or null. */
export function runningHost(): Host | null {
  return ((globalThis as Record<symbol, unknown>)[KEY] as Host | undefined) ?? null;
}

/** Makes `host` the one that getHost returns; null removes it. */
export function setHost(host: Host | null): void {
  if (host === null) delete (globalThis as Record<symbol, unknown>)[KEY];
  else (globalThis as Record<symbol, unknown>)[KEY] = host;
}
