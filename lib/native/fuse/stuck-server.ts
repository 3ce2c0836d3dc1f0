/**
 * A server of a mount that was killed while it asked its own mount: the kernel waits for its answer, and it for the
 * kernel. Its first thread has ended and another cannot, so nothing of it is let go: not its file, its device, nor
 * whoever waits for it. Taking the mount away ends that. Knows nothing of what was served.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { holdsFiles, processStat, STAT } from '../../base/process-stat.ts';

const POLL_MS = 5;
/** The longest wait for one that was let go: it gives its memory back and closes its files. */
const MAX_WAIT_MS = 10_000;

/**
 * Whether a process has been killed, and a thread of it has not ended. Also true for a moment of one that just ends.
 */
function isStuck(pid: number): boolean {
  if (processStat(pid)?.[STAT.state] !== 'Z') return false;
  return threadsOf(pid).length > 0;
}

/** The threads of a process beside its first one. */
function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).filter((thread) => thread !== String(pid));
  } catch {
    // It is gone.
    return [];
  }
}

/**
 * Takes the mount at `folder` away from a server that is stuck, in the namespace that it has it in. Nothing when it is
 * not. `nsenter`: where that tool is. Resolves when the server has let go of its files, or does not within seconds.
 * Never throws: what is not done now is tried at the next look.
 */
export async function releaseStuckServer(pid: number, folder: string, nsenter: string): Promise<void> {
  if (!isStuck(pid)) return;
  const [thread] = threadsOf(pid);
  if (thread === undefined) return;
  const enter = [`--mount=/proc/${pid}/task/${thread}/ns/mnt`, '--', 'umount', '-i', '-n', '-l', '-f', folder];
  const child = spawn(nsenter, enter, { stdio: 'ignore' });
  await once(child, 'exit').catch(() => undefined);
  const until = Date.now() + MAX_WAIT_MS;
  while (holdsFiles(pid) && Date.now() < until) await pause(POLL_MS);
}
