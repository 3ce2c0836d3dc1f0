/**
 * /dev/fuse: mounting, frames to and from the kernel, and the ways to end a mount whose server does not answer. Needs
 * the right to mount: root's, or that of a user namespace. Knows nothing of what is served.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

const DEVICE = '/dev/fuse';
/** The number that the device has in the process that mounts. */
const MOUNT_FD = 3;

interface MountOptions {
  /** An empty folder. */
  folder: string;
  owner: { uid: number; gid: number };
  /** Lets users other than the one that mounts in; the kernel compares modes for everybody. */
  forOthers: boolean;
}

/** Mounts and returns the descriptor on which the kernel asks. Throws what `mount` says. */
export function mountDevice({ folder, owner, forOthers }: MountOptions): number {
  const device = openSync(DEVICE, 'r+');
  const options = [
    ...[`fd=${MOUNT_FD}`, 'rootmode=40555', `user_id=${owner.uid}`, `group_id=${owner.gid}`],
    ...['default_permissions', 'nosuid', 'nodev', ...(forOthers ? ['allow_other'] : [])],
  ];
  const args = ['-i', '-n', '-t', 'fuse', '-o', options.join(','), 'winterdock', folder];
  const mounted = spawnSync('mount', args, { stdio: ['ignore', 'pipe', 'pipe', device], encoding: 'utf8' });
  if (mounted.status === 0) return device;
  closeSync(device);
  throw new Error(`mount: ${mounted.stderr?.trim() || mounted.error?.message || `it ended with ${mounted.status}`}`);
}

/** Waits for the next frame; null once nothing is mounted any more. */
export function nextFrame(device: number, into: Buffer): Buffer | null {
  for (;;) {
    try {
      return into.subarray(0, readSync(device, into, 0, into.length, null));
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENODEV') return null;
      // The request was given up before it was read.
      if (code !== 'ENOENT' && code !== 'EINTR' && code !== 'EAGAIN') throw error;
    }
  }
}

export function sendAnswer(device: number, answer: Buffer): void {
  try {
    writeSync(device, answer, 0, answer.length);
  } catch (error) {
    // Who asked has gone, or nothing is mounted any more.
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENODEV') throw error;
  }
}

/** Closes the device: when no other process has it, every request that waits for an answer ends with an error. */
export function closeDevice(device: number): void {
  closeSync(device);
}

/**
 * Takes a mount away from everybody: what still has files open there gets errors. `lazy` needs no answer of the server.
 * Returns whether it was done.
 */
export async function unmountFolder(folder: string, { lazy }: { lazy: boolean }): Promise<boolean> {
  const child = spawn('umount', [...(lazy ? ['-l', '-f'] : []), '-i', '-n', folder], { stdio: 'ignore' });
  const [code] = (await once(child, 'exit').catch(() => [1])) as [number | null];
  return code === 0;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null;
}
