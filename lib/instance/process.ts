/**
 * Starting a worker: its flags, its walls, its environment. Ready is a message, raced against exit and time. Knows
 * nothing of calls.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolderNow } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { fromInstanceSchema } from './protocol.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(dirname(HERE));
const MODULES = join(ROOT, 'node_modules');
/** What a worker loads; the data folder may lie beside it and is not in it. */
const CODE = [join(ROOT, 'package.json'), join(ROOT, 'lib'), ...new Set([MODULES, realpathSync(MODULES)])];
/** Niceness below the server: a busy sandbox never starves the front. */
const NICENESS = 10;
const LOWEST_PRIORITY = 19;
const STDERR_TAIL = 2000;
/** Part of util-linux: makes the kernel end a process when the thread that started it is gone. */
const SETPRIV = '/usr/bin/setpriv';

/**
 * Small heaps. Measured over 12 workers: a young generation of one megabyte and code for size take 3 MB of PSS away;
 * without the middle compiler a worker that has run 800 commands takes 26 MB and not 37. Two background threads: with
 * one, compiling WebAssembly locked up one start in a hundred.
 */
const HEAP_FLAGS = [
  '--max-semi-space-size=1',
  '--optimize-for-size',
  '--no-maglev',
  '--no-sparkplug',
  '--v8-pool-size=2',
  '--expose-gc',
];

/**
 * How much freed memory the C library keeps at the end of its heap: its own default, which it would raise by itself to
 * twice the largest block that was ever freed. Held there, 20 hot sandboxes take 0.6 MB of PSS less each (26.1 instead
 * of 26.7, median).
 */
const TRIM_BYTES = '131072';

/**
 * Blocks from this size on are mapped one by one, so that each goes back to the system when it is freed and leaves no
 * hole in the heap. With the C library's 128 KiB, the channel's pieces of a 48 MB file leave 43 MB of holes, and V8's
 * compiling for Python 35 MB; from 8 KiB on, 0 and
 * 11. A call costs the same processor time either way, one that makes a file of 100 kB a tenth more.
 */
const MAPPED_BYTES = '8192';
/** Blocks mapped at the same time; the system allows a process 65 530 mappings of any kind. */
const MAPPED_BLOCKS = '16384';

/**
 * The environment variables that name the data folder of a worker's server, and the server, by which leftovers are
 * found.
 */
export const FOLDER_MARK = 'WINTERDOCK_DATA';
export const SERVER_MARK = 'WINTERDOCK_SERVER';

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

export interface WorkerOptions {
  dataFolder: string;
  /** Where SQLite spills what a call gathers, in files without names. */
  spillFolder: string;
  /** Folder of compiled code, made by the first worker and read by the others. */
  cacheFolder: string;
  /** Milliseconds that it may take until it is ready. */
  maxStartMs: number;
}

/**
 * Starts one worker for the sandboxes of a data folder. Call it on the main thread: the process ends with the thread
 * that starts it.
 */
export function startWorker({ dataFolder, spillFolder, cacheFolder, maxStartMs }: WorkerOptions): Worker {
  // Whoever shares the folder may have cleared it since; a worker that cannot write there does not start.
  makeFolderNow(cacheFolder);
  makeFolderNow(spillFolder);
  const flags = [
    ...HEAP_FLAGS,
    '--no-warnings',
    '--permission',
    ...CODE.map((path) => `--allow-fs-read=${path}`),
    ...bothNames(join(dataFolder, 'live')).map((path) => `--allow-fs-read=${path}`),
    ...bothNames(cacheFolder).flatMap((path) => [`--allow-fs-read=${path}`, `--allow-fs-write=${path}`]),
    // Python runs in a thread of its own; a worker whose policy lacks it gives threads up.
    '--allow-worker',
  ];
  // A worker whose thread is blocked cannot notice that its server is gone; the kernel can.
  const guarded = process.platform === 'linux' && existsSync(SETPRIV);
  // Tests have workers rehearse once: what rehearsing saves a first call is measured elsewhere.
  const rehearsals = process.env.WB_TEST_REHEARSALS;
  const child = fork(join(HERE, 'worker.ts'), rehearsals === undefined ? [] : [rehearsals], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: {
      NODE_ENV: 'production',
      MALLOC_ARENA_MAX: '1',
      MALLOC_TRIM_THRESHOLD_: TRIM_BYTES,
      MALLOC_MMAP_THRESHOLD_: MAPPED_BYTES,
      MALLOC_MMAP_MAX_: MAPPED_BLOCKS,
      NODE_COMPILE_CACHE: cacheFolder,
      SQLITE_TMPDIR: spillFolder,
      [FOLDER_MARK]: dataFolder,
      [SERVER_MARK]: serverMark(process.pid),
    },
    ...(guarded
      ? { execPath: SETPRIV, execArgv: ['--pdeathsig', 'KILL', process.execPath, ...flags] }
      : { execArgv: flags }),
  });
  let tail = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-STDERR_TAIL);
  });
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.on('error', (error) => {
      // One that could not be started never exits.
      if (child.pid === undefined) resolve(error.message);
    });
  });
  if (child.pid !== undefined) lower(child.pid);
  const ready = readiness(child, exited, maxStartMs, () => tail);
  ready.catch(() => {});
  return { child, pid: child.pid ?? 0, ready, exited, stderr: () => tail };
}

/**
 * A folder by its name and by the one without links: SQLite asks by that, and a service's data folder may be a link
 * (systemd makes it so).
 */
function bothNames(folder: string): string[] {
  try {
    return [...new Set([folder, realpathSync(folder)])];
  } catch {
    // It is not there yet: then it is made in the folder above.
    return [...new Set([folder, join(realpathSync(dirname(folder)), basename(folder))])];
  }
}

/**
 * Names a running process for as long as it runs: its id and when it started, as the kernel counts; empty when there is
 * none.
 */
export function serverMark(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in parentheses and may hold anything; the start time is the twentieth after it.
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return `${pid}:${started}`;
  } catch {
    // No /proc here, or the process is gone.
    return '';
  }
}

function readiness(
  child: ChildProcess,
  exited: Promise<string>,
  maxStartMs: number,
  tail: () => string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) =>
      reject(
        new WinterdockError('capacity', `An Instance did not start: ${why}.`, { retryAfterSeconds: 5, cause: tail() }),
      );
    const timer = setTimeout(() => {
      fail(`not ready after ${maxStartMs} ms`);
      child.kill('SIGKILL');
    }, maxStartMs);
    child.once('message', (message) => {
      clearTimeout(timer);
      const parsed = fromInstanceSchema.safeParse(message);
      if (parsed.success && parsed.data.type === 'ready') resolve();
      else {
        fail('it said something else first');
        child.kill('SIGKILL');
      }
    });
    void exited.then((how) => {
      clearTimeout(timer);
      fail(how);
    });
  });
}

function lower(pid: number): void {
  try {
    setPriority(pid, Math.min(LOWEST_PRIORITY, getPriority() + NICENESS));
  } catch {
    // It is gone already, which `exited` tells.
  }
}
