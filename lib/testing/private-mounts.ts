/**
 * For tests: commands that run with mounts of their own, which needs no privileges where the system lets its users make
 * namespaces.
 */
import { spawnSync } from 'node:child_process';

const UNSHARE = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'] as const;

/** Whether this machine lets us mount. */
export const canMount = spawnSync(UNSHARE[0], [...UNSHARE.slice(1), 'mount -t tmpfs none /mnt']).status === 0;

/** A command that runs the shell's `script` (its mounts) and becomes what follows it, as `"$0" "$@"`. */
export function withMounts(script: string): string[] {
  return [...UNSHARE, script];
}

const ENTER = ['nsenter', '--user', '--mount', '--preserve-credentials', '--target'] as const;

/** Mounts something for a process that was started `withMounts`. Throws what `mount` says. */
export function mountInside(pid: number | undefined, ...args: string[]): void {
  const [command, ...rest] = ENTER;
  const { status, stderr } = spawnSync(command, [...rest, String(pid), 'mount', ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mount ${args.join(' ')}: ${stderr}`);
}
