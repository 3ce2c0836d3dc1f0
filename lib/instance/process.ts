/** Starting a worker: its flags, its walls, its environment. Ready is a message, raced against exit and time. Knows nothing of calls. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WinterdockError } from '../errors.ts';
import { fromInstanceSchema } from './protocol.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(dirname(HERE));
/** Niceness below the server: a busy sandbox never starves the front. */
const NICENESS = 10;
const START_TIMEOUT_MS = 30_000;
const STDERR_TAIL = 2000;
const SETPRIV = '/usr/bin/setpriv';

/** Small heaps: half a megabyte of young generation and code for size take a third of the memory away. */
const HEAP_FLAGS = ['--max-semi-space-size=1', '--optimize-for-size'];

/** The environment variable that names the data folder of a worker's server, by which leftovers are found. */
export const MARKER = 'WINTERDOCK_DATA';

export interface Worker {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves when it has everything loaded; rejects when it ends or takes too long before. */
  readonly ready: Promise<void>;
  /** Resolves when it is gone, with its exit code or signal. */
  readonly exited: Promise<string>;
  /** The end of what it wrote to stderr. */
  stderr(): string;
}

/** Starts one worker for the sandboxes of a data folder. */
export function startWorker(dataFolder: string): Worker {
  const live = join(dataFolder, 'live');
  const flags = [
    ...HEAP_FLAGS,
    '--no-warnings',
    '--permission',
    `--allow-fs-read=${ROOT}/*`,
    `--allow-fs-read=${live}/*`,
    `--allow-fs-write=${live}/*`,
    // Python runs in a thread of its own.
    '--allow-worker',
    '--allow-wasi',
  ];
  // A worker whose thread is blocked cannot notice that its server is gone; the kernel can.
  const guarded = process.platform === 'linux' && existsSync(SETPRIV);
  const child = fork(join(HERE, 'worker.ts'), [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { NODE_ENV: 'production', MALLOC_ARENA_MAX: '1', [MARKER]: dataFolder },
    ...(guarded
      ? { execPath: SETPRIV, execArgv: ['--pdeathsig', 'KILL', process.execPath, ...flags] }
      : { execArgv: flags }),
  });
  let tail = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-STDERR_TAIL);
  });
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
  if (child.pid !== undefined) {
    try {
      setPriority(child.pid, NICENESS);
    } catch {
      // It is gone already, which `exited` tells.
    }
  }
  const ready = new Promise<void>((resolve, reject) => {
    const fail = (why: string) =>
      reject(new WinterdockError('capacity', `An Instance did not start: ${why}.`, { retryAfterSeconds: 5 }));
    const timer = setTimeout(() => {
      fail(`not ready after ${START_TIMEOUT_MS} ms`);
      child.kill('SIGKILL');
    }, START_TIMEOUT_MS);
    child.once('message', (message) => {
      clearTimeout(timer);
      if (fromInstanceSchema.parse(message).type === 'ready') resolve();
      else fail('it said something else first');
    });
    void exited.then((how) => {
      clearTimeout(timer);
      fail(`${how}. ${tail}`);
    });
  });
  ready.catch(() => {});
  return { child, pid: child.pid ?? 0, ready, exited, stderr: () => tail };
}
