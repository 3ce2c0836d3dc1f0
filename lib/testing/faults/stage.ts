/**
 * A whole engine without its server on a data folder, with quickly made sandboxes: the subject of the fault scenarios.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import type { Caller } from '../../auth/caller.ts';
import { FakeClock } from '../../base/clock.ts';
import { type Config, readConfig } from '../../base/config.ts';
import { createLogger } from '../../base/log.ts';
import { createHost } from '../../host/compose.ts';
import type { State } from '../../lifecycle/state-map.ts';
import type { AuditContext } from '../../sandboxes/sandboxes.ts';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import { type PlainHost, plainHost } from '../plain-ids.ts';
import { sharedReaders } from '../shared-readers.ts';

/** The folder of the object store in a data folder, and that of the replica. */
export const STORE_FOLDER = 'bucket';
export const REPLICA_FOLDER = 'elsewhere';
/** Stores that lie in the data folder: a copy of that has them too. */
type StageStore = 'below the drawers' | 'replica';

/** The contents of every sandbox made from the stage's snapshot, by volume. */
export const KEPT = { workspace: 'the work', memory: 'the memory' } as const;

export const CALLER: Caller = {
  actor: 'key:test',
  via: 'api',
  requestId: 'request-1',
  role: 'admin',
  tenants: null,
  address: null,
  session: null,
};

export interface Stage {
  readonly folder: string;
  readonly host: PlainHost;
  readonly clock: FakeClock;
  /** Settings of its engine where other hosts use the registry too; null: it is alone. */
  readonly among: Readonly<Record<string, string>> | null;
  readonly stores: readonly StageStore[];
  readonly cause: AuditContext;
  /** A snapshot of a sandbox with the kept files. */
  readonly snapshot: string;
  readonly snapshotContent: { name: string; hash: string; bytes: number };
  /** A bundle of the same sandbox. */
  readonly bundle: Buffer;
  /** The scenario's notes about its sandboxes. */
  readonly notes: Map<string, string>;
  newId(): string;
  /** A sandbox that never had a file. */
  fresh(): Promise<string>;
  /** A sandbox with the kept files, in a state. */
  sandbox(state: State): Promise<string>;
  put(id: string, path: string, text: string): Promise<void>;
  /**
   * A new folder (absolute) that is a copy of the data folder as it is now, or an empty one; gone when the stage stops.
   */
  copied(): Promise<string>;
  emptied(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts an engine on a data folder (absolute), as a server would after any fault. `among`: its settings beside the
 * usual ones where other hosts use its registry too; null where it is alone. With a replica every answer waits for it.
 */
export async function openHost(
  folder: string,
  clock = new FakeClock(),
  among: Stage['among'] = null,
  stores: Stage['stores'] = [],
): Promise<PlainHost> {
  const config = stageConfig(folder, among, stores);
  const log = createLogger('silent');
  const host = await createHost({ config, clock, log, readers: sharedReaders(config), isAlone: among === null });
  await host.start();
  return plainHost(host);
}

/** The settings of an engine on a data folder (absolute). */
export function stageConfig(folder: string, among: Stage['among'], stores: Stage['stores']): Config {
  const urlOf = (name: string) => pathToFileURL(join(folder, name)).href;
  return readConfig({
    ...(stores.includes('below the drawers') && { WB_COLD_URL: urlOf(STORE_FOLDER) }),
    ...(stores.includes('replica') && { WB_REPLICA_URL: urlOf(REPLICA_FOLDER), WB_REPLICATE: 'sync' }),
    WB_DATA: folder,
    WB_CACHE: process.env.WB_CACHE,
    WB_POOL: '0',
    WB_TICK_MS: '3600000',
    WB_DRAIN_MS: '300',
    WB_LOG: 'silent',
    ...among,
  });
}

export const CAUSE: AuditContext = {
  trigger: 'request',
  actor: CALLER.actor,
  via: 'api',
  requestId: CALLER.requestId,
  address: null,
  reason: null,
};

/** Starts an engine on an empty folder and makes the snapshot and bundle for its sandboxes. */
export async function openStage(
  folder: string,
  among: Stage['among'] = null,
  stores: Stage['stores'] = [],
): Promise<Stage> {
  const clock = new FakeClock();
  const host = await openHost(folder, clock, among, stores);
  const { operations, sandboxes } = host;
  let made = 0;
  const others = `${folder}-`;
  const newId = () => {
    made += 1;
    return `s${made}`;
  };
  const put = async (id: string, path: string, text: string, volume: keyof typeof KEPT = 'workspace') => {
    await sandboxes.write(id, { op: 'put', volume, path: vfsPath(path), content: Buffer.from(text) }, CAUSE);
  };
  const fresh = async () => {
    const id = newId();
    await operations.createInstance(CALLER, { id, tenant: 'acme' } as never);
    return id;
  };
  const origin = await fresh();
  for (const volume of ['workspace', 'memory'] as const) await put(origin, '/kept', KEPT[volume], volume);
  const snapshot = await operations.takeSnapshot(CALLER, origin, { tag: 'origin' });
  const { outgoing } = await operations.ship(CALLER, origin, { include_private: true } as never);
  const bundle = await buffer(outgoing.stream);
  await operations.suspend(CALLER, origin, {});
  const [file = ''] = readdirSync(join(folder, 'snapshots')).filter((name) => name.endsWith('.sqlite'));
  return {
    folder,
    host,
    clock,
    among,
    stores,
    cause: CAUSE,
    snapshot: snapshot.id,
    snapshotContent: { name: snapshot.id, hash: file.replace('.sqlite', ''), bytes: snapshot.bytes },
    bundle,
    notes: new Map(),
    newId,
    fresh,
    put,
    async sandbox(state) {
      const [made] = await operations.restoreSnapshot(CALLER, snapshot.id, { count: 1 } as never);
      if (made === undefined) throw new Error('A restore made nothing.');
      if (state === 'active') await sandboxes.resume(made.id, CAUSE);
      else if (state !== 'created') {
        await sandboxes.runPlan(made.id, 'suspended', CAUSE);
        if (state === 'frozen' || state === 'archived') await sandboxes.freeze(made.id, CAUSE);
        if (state === 'archived') await sandboxes.archive(made.id, CAUSE);
      }
      return made.id;
    },
    async copied() {
      const target = join(mkdtempSync(others), 'data');
      execFileSync('cp', ['-a', folder, target]);
      return target;
    },
    emptied: async () => mkdtempSync(others),
    async stop() {
      await host.stop();
      for (const name of readdirSync(dirname(others))) {
        if (name.startsWith(basename(others))) rmSync(join(dirname(others), name), { recursive: true, force: true });
      }
    },
  };
}

/** The text of a file in a sandbox, read as by any user, waking nothing. */
export async function textIn(
  host: PlainHost,
  id: string,
  volume: keyof typeof KEPT,
  path = '/kept',
): Promise<string | null> {
  const { content } = await host.sandboxes.read(id, { op: 'get', volume, path: vfsPath(path) });
  return content === null ? null : Buffer.from(content).toString('utf8');
}
