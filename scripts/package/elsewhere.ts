/**
 * For the test of the package: commands that run as another user (where this one is root) and without a network (where
 * the system lets its users have one of their own; `cutOff` tells).
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

/** "nobody", by number: a user who owns nothing here. */
const NOBODY = '65534';
const AS_NOBODY = ['setpriv', '--reuid', NOBODY, '--regid', NOBODY, '--clear-groups'];
const isRoot = process.getuid?.() === 0;

/**
 * A network of its own, in which only the machine itself can be reached; to one who is not root with a map of users of
 * its own.
 */
const UNSHARE = ['unshare', ...(isRoot ? [] : ['--user', '--map-root-user']), '--net'];
const LOOPBACK = 'ip link set lo up && exec "$0" "$@"';

/** Whether this machine lets us run something without a network. */
export const cutOff = run([...UNSHARE, 'sh', '-c', LOOPBACK, 'true']).status === 0;

const other = isRoot ? AS_NOBODY : [];

/** A command that becomes what follows it, as another user where this one is root, without a network. */
export const elsewhere = [...(cutOff ? [...UNSHARE, 'sh', '-c', LOOPBACK] : []), ...other];

/** The user who owns what the server is to write. */
export const owner = isRoot ? Number(NOBODY) : null;

/** A command that becomes what follows it, as that user in the network of the process `pid`. */
export function beside(pid: number | undefined): string[] {
  const users = isRoot ? [] : ['--user', '--preserve-credentials'];
  return [...(cutOff ? ['nsenter', '--target', String(pid), ...users, '--net'] : []), ...other];
}

/** Runs a command to its end, with `env` for its whole environment when that is given. */
export function run(command: readonly string[], env?: Record<string, string>) {
  const [program = '', ...args] = command;
  return spawnSync(program, args, { encoding: 'utf8', env: (env ?? process.env) as NodeJS.ProcessEnv, cwd: '/' });
}

/** Starts a command, with `env` for its whole environment. */
export function start(command: readonly string[], env: Record<string, string>): ChildProcess {
  const [program = '', ...args] = command;
  return spawn(program, args, { env: env as NodeJS.ProcessEnv, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
}
