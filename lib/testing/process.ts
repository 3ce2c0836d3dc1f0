/**
 * For tests: the server as the process that people start, to be stopped, killed and started again: our own, or Next
 * started alone.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onPostgres, registryOfTests } from '../registry/testing/registry-of-tests.ts';
import { type Call, caller } from './call.ts';
import { TEST_KEY } from './key.ts';
import { programOf } from './program.ts';

const SERVER = fileURLToPath(new URL('../front/server.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** `next start`, as npm would run it; the console must be built. */
const NEXT = [fileURLToPath(new URL('../../node_modules/next/dist/bin/next', import.meta.url)), 'start', ROOT];

export interface ServerProcess {
  url: string;
  call: Call;
  child: ChildProcess;
  /** What it wrote so far. */
  output(): string;
  /** Sends a signal and waits for the end. Resolves with the exit code, or the signal that ended it. */
  end(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

/** What runs the server, after the name of the program. `args`: default, the own server without its console. */
export function commandOf({
  alone,
  args,
  isSource = false,
}: {
  alone: boolean;
  args?: readonly string[] | undefined;
  isSource?: boolean | undefined;
}): string[] {
  if (alone) return [...NEXT, ...(args ?? [])];
  return [isSource ? SERVER : programOf(SERVER), ...(args ?? ['--api-only'])];
}

/**
 * Starts `lib/front/server.ts --api-only`, or `next start`, on a free port in `folder` and waits for its `ready` line.
 * Rejects with what it said instead.
 */
export async function spawnServer(options: {
  folder: string;
  settings?: Record<string, string>;
  /** Whether Next is started alone. Default: whether `WB_TEST_TARGET` says so. */
  alone?: boolean;
  args?: string[];
  /** Whether it is started from its source even where a run of tests has it bundled. */
  isSource?: boolean;
  /** A command that becomes the server by running what follows it. */
  within?: readonly string[];
  /** Is given the process at once, before it is ready, or whether it ever is. */
  began?: (child: ChildProcess) => void;
}): Promise<ServerProcess> {
  const [command = process.execPath, ...rest] = [...(options.within ?? []), process.execPath];
  const { alone = process.env.WB_TEST_TARGET === 'next' } = options;
  // A file is made by the server itself, as for people.
  const ofTests = onPostgres() ? await registryOfTests(options.folder, options.settings?.WB_REGISTRY) : {};
  const child = spawn(command, [...rest, ...commandOf({ alone, args: options.args, isSource: options.isSource })], {
    env: {
      ...process.env,
      WB_DATA: options.folder,
      WB_ADMIN_KEY: TEST_KEY,
      WB_POOL: '0',
      PORT: '0',
      ...ofTests,
      ...options.settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  options.began?.(child);
  let output = '';
  const ended = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      output += chunk.toString();
      const ready = /^ready (http:\S+)$/m.exec(output);
      if (ready?.[1] !== undefined) resolve(ready[1]);
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    ended.then(() => reject(new Error(`The server ended before it was ready:\n${output}`)), reject);
  });
  return {
    url,
    child,
    call: caller(url, options.settings?.WB_ADMIN_KEY ?? TEST_KEY),
    output: () => output,
    async end(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
      return child.exitCode ?? child.signalCode;
    },
  };
}
