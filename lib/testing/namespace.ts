/**
 * For tests: a mount namespace of its own that outlives the servers that run in it, so that they can be killed and
 * started again on the same small, full or read-only filesystems. Needs no privileges where the system lets users have
 * namespaces.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { withMounts } from './private-mounts.ts';

export interface Namespace {
  /** A command that runs the given command in the namespace, as the same process. */
  within: readonly string[];
  /** A path of the namespace as seen from outside. */
  outside(path: string): string;
  /** Runs a shell script in it. Throws with its output when it fails. */
  run(script: string): void;
  /** Unmounts everything by ending the namespace; a process that still runs in it keeps it alive. */
  end(): Promise<void>;
}

/**
 * Makes a namespace and runs `script` in it for its mounts. `administrator`: with the rights of this process, which
 * must be an administrator's, so that devices can be mounted too.
 */
export async function holdNamespace(script: string, { administrator = false } = {}): Promise<Namespace> {
  const holding = `set -e; ${script}\necho ready; exec sleep infinity`;
  const [unshare = '', ...rest] = administrator ? ['unshare', '--mount', 'sh', '-c', holding] : withMounts(holding);
  const holder = spawn(unshare, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(holder, 'exit');
  await new Promise<void>((resolve, reject) => {
    let output = '';
    holder.stdout.on('data', () => resolve());
    holder.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    ended.then(() => reject(new Error(`The namespace ended: ${output}`)), reject);
  });
  const pid = String(holder.pid);
  const users = administrator ? [] : ['--user', '--preserve-credentials'];
  const within = ['nsenter', '--target', pid, '--mount', ...users];
  return {
    within,
    outside: (path) => join('/proc', pid, 'root', path),
    run(inside) {
      const [command = '', ...args] = within;
      const { status, stderr } = spawnSync(command, [...args, 'sh', '-c', inside], { encoding: 'utf8' });
      if (status !== 0) throw new Error(`${inside}: ${stderr}`);
    },
    async end() {
      holder.kill('SIGKILL');
      await ended;
    },
  };
}
