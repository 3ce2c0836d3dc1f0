/** For tests: commands that run with mounts of their own, which needs no privileges where the system lets its users make namespaces. */
import { spawnSync } from 'node:child_process';

const UNSHARE = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'] as const;

/** Whether this machine lets us mount. */
export const canMount = spawnSync(UNSHARE[0], [...UNSHARE.slice(1), 'mount -t tmpfs none /mnt']).status === 0;

/** A command that runs the shell's `script` (its mounts) and becomes what follows it, as `"$0" "$@"`. */
export function withMounts(script: string): string[] {
  return [...UNSHARE, script];
}
