/** Real programs of a server, as its settings and its machine have them. */
import type { Config } from '../base/config.ts';
import { Roots } from '../native/roots/roots.ts';
import { missingForNatives, type NativeBackend, nativeBackend } from '../workers/native/native-backend.ts';
import type { Walls } from '../workers/walls/walls.ts';
import type { WorkerHold } from '../workers/worker-hold.ts';

/** The root of a sandbox that names none. */
const DEFAULT_ROOT = 'base';

interface NativeParts {
  walls: Walls;
  hold: WorkerHold | undefined;
  /** Null: what sandboxes commit is shipped nowhere. */
  replica: unknown;
}

/** Never throws for what is missing: each sandbox with real programs is refused then, with what that is. */
export async function createNatives(
  { native: settings, dataFolder, maxRunMs, rootsFolder }: Config,
  { walls, hold, replica }: NativeParts,
): Promise<NativeBackend> {
  const { ownUser } = walls;
  const missing = await missingForNatives({ settings, ownUser });
  if (settings.isOn && replica !== null)
    missing.push('what real programs commit is not shipped yet, and WB_REPLICA_URL is set');
  const roots = new Roots(rootsFolder);
  const rootProblem = () => {
    const isThere = roots.list().some(({ name }) => name === DEFAULT_ROOT);
    return isThere ? null : `there is no root file system named ${DEFAULT_ROOT}`;
  };
  let leases = 0;
  const root = (id: string) => {
    leases += 1;
    // Of one sandbox two may overlap: a process that is gone gives its own back when it has ended.
    const { root: leased, release } = roots.lease(DEFAULT_ROOT, `${id}-${leases}`);
    return { folder: leased.folder, release };
  };
  const native = nativeBackend({ settings, dataFolder, holdMs: maxRunMs, hold, ownUser, root, rootProblem }, missing);
  // What a killed server left holds files of sandboxes, and is gone before any of them is looked at.
  await native.sweep();
  return native;
}
