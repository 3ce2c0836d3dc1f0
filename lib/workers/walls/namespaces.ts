/**
 * The namespaces that each worker has to itself: of processes, of memory and queues that are shared between processes,
 * and of the network. They are made when it starts and end with it. Knows nothing of workers.
 */
import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { messageOf } from '../../base/errors.ts';
import type { Wall } from '../../base/walls.ts';
import { toolPath } from './worker-root.ts';

/** In the order of `WALLS`. */
export const NAMESPACE_WALLS = ['net', 'pid', 'ipc'] as const satisfies readonly Wall[];
export type NamespaceWall = (typeof NAMESPACE_WALLS)[number];

/**
 * A process enters a new namespace of processes by being forked: the one that was started waits for it, ends as it
 * ends, and takes it along when it is killed.
 */
const FLAGS: Record<NamespaceWall, readonly string[]> = {
  net: ['--net'],
  pid: ['--pid', '--fork', '--kill-child=KILL'],
  ipc: ['--ipc'],
};
const MAX_TRY_MS = 10_000;

/** The command that makes the namespaces and runs what follows it in them. Empty when there are none to make. */
export function namespaceCommand(walls: readonly NamespaceWall[]): string[] {
  const unshare = toolPath('unshare');
  return unshare === null || walls.length === 0 ? [] : [unshare, ...walls.flatMap((wall) => FLAGS[wall]), '--'];
}

/** A wrapper stays in the server's process group, and the default of these would end it with what it waits for. */
const DEAF_TO_TERMINALS = ['/bin/sh', '-c', `trap '' HUP QUIT USR1 USR2; unset PWD; exec "$@"`, 'sh'];

/**
 * Runs the command of a namespace of processes: the wrapper ends with its server, and what it has begun with it.
 * `changesUser`: what it begins will, and then no longer ends so. There the wrapper stays until the guard has ended
 * both: what hides its own arguments is found by it.
 */
export function wrapperCommand(setpriv: string, changesUser: boolean): string[] {
  return [...DEAF_TO_TERMINALS, ...(changesUser ? [] : [setpriv, '--pdeathsig', 'KILL'])];
}

/**
 * Which of the namespaces this machine gives to what runs behind `enter`, and why it does not give the others. Tries
 * all at once first.
 */
export async function findNamespaces(
  enter: readonly string[],
  wanted: readonly NamespaceWall[],
): Promise<{ given: NamespaceWall[]; refused: Map<NamespaceWall, string> }> {
  const refused = new Map<NamespaceWall, string>();
  if (toolPath('unshare') === null) {
    for (const wall of wanted) refused.set(wall, 'unshare (util-linux) is not installed');
    return { given: [], refused };
  }
  const problemOf = (walls: readonly NamespaceWall[]) => problemWithCommand([...enter, ...namespaceCommand(walls)]);
  if (wanted.length === 0 || (await problemOf(wanted)) === null) return { given: [...wanted], refused };
  for (const wall of wanted) {
    const problem = await problemOf([wall]);
    if (problem !== null) refused.set(wall, problem);
  }
  return { given: wanted.filter((wall) => !refused.has(wall)), refused };
}

/** Why the command does not run what follows it, as the system said it; null when it does. */
export function problemWithCommand(command: readonly string[]): Promise<string | null> {
  const [file = '', ...args] = [...command, '/bin/true'];
  const env = { NODE_ENV: 'production' } as const;
  return new Promise((resolve) =>
    execFile(file, args, { env, timeout: MAX_TRY_MS, killSignal: 'SIGKILL' }, (error, _, stderr) =>
      resolve(error === null ? null : stderr.trim().split('\n')[0] || messageOf(error)),
    ),
  );
}

/** Whether a process is in another namespace of this kind than this one. False when that cannot be seen. */
export function isApart(pid: number, kind: 'net' | 'mnt' | 'pid' | 'ipc'): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/${kind}`) !== readlinkSync(`/proc/self/ns/${kind}`);
  } catch {
    // Not allowed, or gone: nothing is proven then.
    return false;
  }
}
