/**
 * What every part of the sessions shares: the collaborators, the ledger's lines, the places of files. Holds no policy.
 */
import { join } from 'node:path';
import type { Mutex } from 'async-mutex';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { InstancePool } from '../instance/instance.ts';
import type { CopyKind } from '../registry/copies.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, LedgerEntry } from '../registry/types.ts';
import type { Drawer } from '../storage/drawer.ts';
import type { Readers } from '../vfs/types.ts';
import type { Entries } from './runtimes.ts';
import type { Cause } from './sessions.ts';
import type { Step } from './steps.ts';

export const MEMORY = ':memory:';

export interface Engine {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly pool: InstancePool;
  readonly readers: Readers;
  readonly cold: Drawer;
  readonly archive: Drawer;
  /** Where snapshots and blueprints are: what a sandbox that was never resumed is read from. */
  readonly copies: Readonly<Record<CopyKind, Drawer>>;
  readonly entries: Entries;
  /** Called as each step is reached; for fault injection only. */
  readonly reached: (step: Step) => void;
  /**
   * Whether the registry is the one that was signed: where it is not, a newer one may name what this one does not know,
   * and no file is taken to be nobody's.
   */
  readonly registryIsWhole: () => boolean;
  /** Held by whoever makes room for one more process, one at a time. */
  readonly room: Mutex;
  /** Asks for the background check of a file that was just filed. */
  readonly checkLater: (id: string, generation: number) => void;
  /** Runs once a process that serves a sandbox is gone. */
  readonly watch: (id: string, process: import('../instance/instance.ts').InstanceProcess) => void;
  /**
   * Sandboxes whose operation failed so badly that not even that could be taken back or written down: each round of the
   * ladder tries to settle them.
   */
  readonly interrupted: Set<string>;
  /** Aborted when the server stops: no wake begins any more, and one that is under way is taken back. */
  readonly stop: AbortSignal;
}

/** What whoever wants to wake something is told while the server stops. */
export function serverStops(): WinterdockError {
  return new WinterdockError('capacity', 'The server is stopping.', { retryAfterSeconds: 5 });
}

/** Causes of what the engine does by itself. */
export function systemCause(trigger: Cause['trigger'], via: Cause['via'] = 'system'): Cause {
  return { trigger, actor: via === 'ticker' ? 'ticker' : 'system', via, requestId: null, address: null, reason: null };
}

/** The live drawer's path of a sandbox, relative to the data folder. */
export function livePath(id: string): string {
  return `live/${id}/vfs.sqlite`;
}

/** The absolute path of a path that a row shows. */
export function absolute(engine: { config: Pick<Config, 'dataFolder'> }, relative: string): string {
  return join(engine.config.dataFolder, relative);
}

export function now(engine: Engine): number {
  return epochSeconds(engine.clock);
}

/** Milliseconds since `started` (of `performance.now()`), to the hundredth. */
export function since(started: number): number {
  return Math.round((performance.now() - started) * 100) / 100;
}

/** A ledger line, about a sandbox or about none. Every line of the engine and of the API is made here. */
export function line(
  engine: Pick<Engine, 'clock'>,
  row: Pick<InstanceRow, 'id' | 'tenant'> | null,
  cause: Cause,
  type: string,
  extra: Partial<LedgerEntry> = {},
): LedgerEntry {
  return {
    timeMs: engine.clock.now(),
    instance: row?.id ?? null,
    tenant: row?.tenant ?? null,
    type,
    from: null,
    to: null,
    trigger: cause.trigger,
    actor: cause.actor,
    via: cause.via,
    source: null,
    tookMs: null,
    reason: cause.reason,
    error: null,
    requestId: cause.requestId,
    address: cause.address,
    ...extra,
  };
}

/** The row of a living sandbox. Throws `not_found` or `gone`. */
export async function rowOf(engine: Pick<Engine, 'registry'>, id: string): Promise<InstanceRow> {
  const row = await engine.registry.instances.get(id);
  if (row === null) throw new WinterdockError('not_found', `There is no sandbox "${id}".`);
  if (row.state === 'deleted') {
    throw new WinterdockError('gone', `The sandbox "${id}" was deleted.`, { hint: 'Its id is never used again.' });
  }
  return row;
}

/** Runs what takes back an operation that failed. When that fails too, the sandbox is remembered, and settled later. */
export async function takingBack(engine: Engine, id: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    engine.interrupted.add(id);
    throw error;
  }
}
