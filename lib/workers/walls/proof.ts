/**
 * Whether walls hold: starts a worker behind them, gives it a file, and looks at it as the kernel shows it. Knows
 * nothing of how they are built.
 */
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { residentBytes } from '../../base/resident-memory.ts';
import { WALLS, type Wall, type WallStates } from '../../base/walls.ts';
import { compileCacheFolder, isEmptyFolder } from '../compile-cache.ts';
import { startWorker, type Worker, type WorkerWalls, workerNiceness } from '../process.ts';
import { DEFAULT_POLICY } from '../protocol/policies.ts';
import { parseFromInstance } from '../protocol/protocol.ts';
import { isApart } from './namespaces.ts';
import { type User, WORKER_USER } from './user.ts';

/** The sandbox that a worker is given when its walls are looked at, and its file. */
const PROBE = { id: 'probe', file: ':memory:' };
const PROBE_LIMITS = { maxBytes: 1024 * 1024, maxFileBytes: 1024, mustExist: false, joins: false };
/** What `/proc/PID/status` says of a process with a filter. */
const SECCOMP_FILTERED = '2';
/** A problem of walls that change the user. */
export const MAY_NOT_SIGNAL = 'the server may not signal its processes or set their priority';

/** What has been proven in this process: a second server in it need not start a worker to know. */
const proven = new Set<string>();

/** Starts a worker behind the walls and looks at it: null when it works and they hold, else what is wrong. */
export async function problemWith(
  walls: WorkerWalls & { states: WallStates },
  { dataFolder, cacheFolder, maxStartMs }: { dataFolder: string; cacheFolder: string; maxStartMs: number },
): Promise<string | null> {
  const shape = JSON.stringify([walls.states, walls.user, walls.ownUser !== null, walls.command.length]);
  if (proven.has(shape)) return null;
  const cache = compileCacheFolder(cacheFolder, walls.user?.uid);
  const options = { dataFolder, spillFolder: join(dataFolder, 'spill'), cacheFolder: cache, maxStartMs, walls };
  const worker = startWorker(options, { compile: isEmptyFolder(cache) });
  try {
    await worker.ready;
    const user = walls.ownUser?.(PROBE.id) ?? walls.user;
    await opening(worker, walls.ownUser === null ? null : (user?.uid ?? null));
    const problem = WALLS.map((wall) =>
      walls.states[wall] && !holds(wall, worker.pid, user) ? `${wall} does not hold` : null,
    );
    const found = problem.find((one) => one !== null) ?? controlProblem(worker.pid);
    if (found === null) proven.add(shape);
    return found;
  } catch (error) {
    const message = worker.stderr().trim().split('\n')[0];
    return `a worker does not start behind it${message ? `: ${message}` : `: ${messageOf(error)}`}`;
  } finally {
    worker.signal('SIGKILL');
    await worker.exited;
  }
}

/** Resolves when the worker has a file open, as this user; null: as it is. Rejects when it ends before. */
async function opening(worker: Worker, uid: number | null): Promise<void> {
  const opened = new Promise<void>((resolve) =>
    worker.channel.onMessage((raw) => {
      if (parseFromInstance(raw)?.type === 'opened') resolve();
    }),
  );
  const { file } = PROBE;
  worker.channel.send({ type: 'open', spec: { file, policy: DEFAULT_POLICY, ...PROBE_LIMITS, uid } });
  await Promise.race([opened, worker.exited.then((how) => Promise.reject(new Error(how)))]);
}

/** Whether the kernel says of a process that the wall stands. `user`: whom it has to be. */
function holds(wall: Wall, pid: number, user: User | null): boolean {
  if (wall === 'files') return isApart(pid, 'mnt');
  if (wall === 'net' || wall === 'pid' || wall === 'ipc') return isApart(pid, wall);
  const field = (name: string) => fieldOf(pid, name);
  if (wall === 'seccomp') return isFiltered(pid);
  if (wall === 'uid') {
    return (
      field('Uid').every((id) => Number(id) === user?.uid) && field('Gid').every((id) => Number(id) === WORKER_USER)
    );
  }
  const none = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].every((name) => /^0+$/.test(field(name)[0] ?? ''));
  return none && field('NoNewPrivs')[0] === '1';
}

/** Whether a filter of system calls stands around a process that does not stand around this one. */
export function isFiltered(pid: number): boolean {
  // A container has put a filter around this process too. Kernels before 5.9 do not count them.
  const [own = 0, its = 0] = [process.pid, pid].map((one) => Number(fieldOf(one, 'Seccomp_filters')[0] ?? 0));
  return fieldOf(pid, 'Seccomp')[0] === SECCOMP_FILTERED && (own === 0 || its > own);
}

/** A field of what the kernel says of a process. */
function fieldOf(pid: number, name: string): string[] {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return new RegExp(`^${name}:\\s+(.+)$`, 'm').exec(status)?.[1]?.split(/\s+/) ?? [];
}

/** What the server needs of a worker and may not do to one of another user: null when it may. */
function controlProblem(pid: number): string | null {
  try {
    setPriority(pid, workerNiceness());
    process.kill(pid, 0);
  } catch {
    return MAY_NOT_SIGNAL;
  }
  return residentBytes(pid) > 0 ? null : 'the server cannot see the memory of its processes';
}
