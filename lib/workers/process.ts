/**
 * Starts a worker process: its flags, its permissions, its environment. Ready is a message, raced against exit and a
 * timeout. Knows nothing of calls.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Duplex, PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BUNDLES, entryOf } from '../base/bundled.ts';
import { CHANNEL_DESCRIPTOR, ServerChannel } from '../base/channel.ts';
import { makeFolderNow } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { NO_DEBUGGER } from '../base/process-signals.ts';
import { processStat, STAT, withForked } from '../base/process-stat.ts';
import { StartedProcessId } from '../base/started-process-id.ts';
import { withoutSignalsUnlessStarted } from '../base/unstarted.ts';
import { WORKER_ENTRY, WORKER_FLAGS } from '../guest/guest.ts';
import { MOST_REQUEST_BYTES } from '../outgoing/network-limits.ts';
import { emptyOfStrangers } from '../storage/landing-folder.ts';
import { parseFromInstance } from './protocol/protocol.ts';
import type { OwnUser, User } from './walls/user.ts';
import { HeldSignals, type WorkerHold } from './worker-hold.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(dirname(HERE));
const MODULES = join(ROOT, 'node_modules');
/** What a worker may read to load its code. A data folder beside the code is not included. */
export const READABLE_CODE = [
  join(ROOT, 'package.json'),
  join(ROOT, 'lib'),
  join(ROOT, BUNDLES),
  ...new Set([MODULES, realpathSync(MODULES)]),
];
/** Added to the server's niceness, so that a busy sandbox never starves the server. */
const NICENESS = 10;
/** Added to that for a process that serves runs. The lowest priority would starve them on a busy machine. */
const RUN_NICENESS = 5;
export const LOWEST_PRIORITY = 19;
const STDERR_TAIL = 2000;
/** Part of util-linux: makes the kernel kill a process when the thread that started it is gone. */
const SETPRIV = '/usr/bin/setpriv';

/** Sets the rest of V8's flags. */

/**
 * A young generation of one megabyte, and two background threads: with one, one start in a hundred hung while it
 * compiled WebAssembly. An old generation that may reach 2 GB, below which V8 maps its built-in functions once: above,
 * it maps them again near its own code, and where there is no /proc, as in a room, that is a copy of 2.1 MB. No sandbox
 * may have so much memory.
 */
const FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=2000', '--v8-pool-size=2', `--require=${WORKER_FLAGS}`];

/**
 * Free memory that malloc keeps at the end of its heap: its default, fixed here because malloc would raise it to twice
 * the largest freed block. Fixed, 20 hot sandboxes take 0.6 MB of PSS less each (median 26.1 MB instead of 26.7 MB).
 */
const TRIM_THRESHOLD_BYTES = '131072';

/**
 * Blocks of this size and larger are mapped separately, so that each returns to the system when it is freed and leaves
 * no hole in the heap. With malloc's default of 128 KiB, the channel's chunks of a 48 MB file leave holes of 43 MB, and
 * compiling Python leaves 35 MB; with 8 KiB it is 0 and 11 MB. A call costs the same processor time; one that creates a
 * file of 100 kB costs a tenth more.
 */
const MMAP_THRESHOLD_BYTES = '8192';
/** Maximum number of such blocks; the system allows a process 65 530 mappings. */
const MAX_MMAP_BLOCKS = '16384';

/** How long the last messages of a process that has ended are waited for, when another process holds its channel. */
const LAST_MESSAGES_MS = 2000;

/**
 * What `unshare` before util-linux 2.40 says of a process that SIGKILL has ended, and exits with 1: it cannot reset
 * that signal, to end of it too.
 */
const SAID_OF_SIGKILL = /unshare: sigprocmask unblock failed: [^\n]*\n?$/;

/**
 * Arguments that mark a worker with its data folder and its server. leftover-workers.ts finds workers by them: the
 * arguments of a process may be read whatever its user is, its environment may not.
 */
export const FOLDER_MARK = 'WINTERDOCK_DATA';
export const SERVER_MARK = 'WINTERDOCK_SERVER';

export interface Worker {
  /** What was started: the worker itself, or the wrapper that waits for it. */
  readonly child: ChildProcess;
  /** The worker's own id; `NO_PROCESS` while a wrapper has not begun it. */
  readonly pid: number;
  /** Resolves with the worker's own id as soon as it has one; with `NO_PROCESS` when it ended before. */
  readonly known: Promise<number>;
  readonly channel: ServerChannel;
  /** Resolves when the worker has loaded everything; rejects when it exits or times out first. */
  readonly ready: Promise<void>;
  /**
   * Resolves with the exit code or signal, after the last message that the worker sent was received: what it did not
   * acknowledge until then it did not start. Where it has a namespace of processes, none is left in it by then.
   */
  readonly exited: Promise<string>;
  /** Sends a signal to the worker itself. */
  signal(name: NodeJS.Signals): void;
  /** Whether it is stopped because its host may not act now. */
  readonly isHeld: boolean;
  /** The worker's id, and the ids of what it has forked, where it can. `isWhole`: none is left out. */
  processes(): { pids: readonly number[]; isWhole: boolean };
  /** The end of the worker's stderr. */
  stderr(): string;
}

/** What stands around a worker that is started. */
export interface WorkerWalls {
  /** Runs the worker's own command. Empty: nothing stands before it. */
  readonly command: readonly string[];
  /** The worker is the only child of what the command starts, and not the same process. Default: it is the same. */
  readonly isWrapped?: boolean;
  /** The worker may fork, and what it has forked counts as it does. Default: it may. */
  readonly mayFork?: boolean;
  /** The user whom workers start as, and their group; null: the server's. */
  readonly user: User | null;
  /** Whom each becomes when it is given its sandbox, before it opens anything; null or undefined: it stays. */
  readonly ownUser?: OwnUser | null;
}

export interface WorkerOptions {
  dataFolder: string;
  /** Folder for SQLite's spill files, which have no names. */
  spillFolder: string;
  /** Folder of the compile cache, written by the first worker and read by the others. */
  cacheFolder: string;
  /** Milliseconds that the worker may take until it is ready. */
  maxStartMs: number;
  /** What stands around it beside Node's permissions. Default: nothing. */
  walls?: WorkerWalls | undefined;
  /** What stops it while its host may not act. Default: nothing. */
  hold?: WorkerHold | undefined;
}

/**
 * Starts one worker for the sandboxes of a data folder. Call it on the main thread: the worker is killed when the
 * thread that started it exits. `compile`: it compiles all that workers use before it is ready.
 */
export function startWorker(
  { dataFolder, spillFolder, cacheFolder, maxStartMs, walls, hold }: WorkerOptions,
  { compile = false }: { compile?: boolean } = {},
): Worker {
  // The folders may have been deleted since the server started. A worker that cannot write there does not start.
  makeFolderNow(cacheFolder);
  makeFolderNow(spillFolder);
  const flags = [
    ...FLAGS,
    NO_DEBUGGER,
    '--no-warnings',
    '--permission',
    ...READABLE_CODE.map((path) => `--allow-fs-read=${path}`),
    ...withRealPath(join(dataFolder, 'live')).map((path) => `--allow-fs-read=${path}`),
    ...withRealPath(cacheFolder).flatMap((path) => [`--allow-fs-read=${path}`, `--allow-fs-write=${path}`]),
    // Python runs in a thread, and components in WebAssembly do.
    '--allow-worker',
  ];
  // Tests rehearse little: what it saves a first call is measured elsewhere.
  const rehearsals = compile ? 'compile' : process.env.WB_TEST_REHEARSALS;
  const marks = [`${FOLDER_MARK}=${dataFolder}`, `${SERVER_MARK}=${serverMark(process.pid)}`];
  const entry = entryOf('worker', WORKER_ENTRY);
  const command = [...(walls?.command ?? guard()), process.execPath, ...flags, entry, ...marks, rehearsals ?? ''];
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: 'production',
    MALLOC_ARENA_MAX: '1',
    MALLOC_TRIM_THRESHOLD_: TRIM_THRESHOLD_BYTES,
    MALLOC_MMAP_THRESHOLD_: MMAP_THRESHOLD_BYTES,
    MALLOC_MMAP_MAX_: MAX_MMAP_BLOCKS,
    NODE_COMPILE_CACHE: cacheFolder,
    SQLITE_TMPDIR: spillFolder,
  };
  const worker = startProcess(command, env, { ...walls, hold, maxStartMs });
  // A wrapper hands it on to what it begins, unless it was quicker.
  if (worker.child.pid !== undefined) lowerPriority(worker.child.pid);
  void worker.known.then(lowerPriority);
  return worker;
}

/** Starts a process with a channel. It counts as ready at once. `isWrapped`: see WorkerWalls. */
export function startWorkerProcess(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  isWrapped = false,
  hold?: WorkerHold,
): Worker {
  return startProcess(command, env, { isWrapped, hold, maxStartMs: null });
}

/** `maxStartMs`: how long until it says that it is ready; null: it is at once. */
function startProcess(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  {
    isWrapped = false,
    mayFork = true,
    hold,
    maxStartMs,
  }: Partial<WorkerWalls> & Pick<WorkerOptions, 'hold'> & { maxStartMs: number | null },
): Worker {
  const [file = '', ...args] = command;
  // No session of its own: where the kernel groups processes by sessions, its niceness would count for nothing.
  const child = withoutSignalsUnlessStarted(spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'], env }));
  const id = new StartedProcessId(child, isWrapped);
  // Without descriptors left there are no pipes at all; `error` says so then.
  const pipe = (child.stdio as typeof child.stdio | undefined)?.[CHANNEL_DESCRIPTOR];
  const channel = new ServerChannel((pipe as Duplex | undefined) ?? new PassThrough().destroy(), MOST_REQUEST_BYTES);
  let tail = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-STDERR_TAIL);
  });
  const stderr = () => tail;
  const exited = exitOf(child, { channel, id, stderr });
  const ready = maxStartMs === null ? Promise.resolve() : readiness({ id, channel, exited, stderr }, maxStartMs);
  const signals = new HeldSignals((name) => id.signal(name));
  // One that starts does nothing yet, and has its time for it.
  ready.then(
    () => void exited.then(hold?.add(signals)),
    () => undefined,
  );
  return {
    child,
    get pid() {
      return id.pid;
    },
    known: id.known,
    channel,
    ready,
    exited,
    signal: signals.signal,
    get isHeld() {
      return signals.isHeld;
    },
    processes: () => (mayFork ? withForked(id.pid) : { pids: [id.pid], isWhole: true }),
    stderr: () => tail.replace(SAID_OF_SIGKILL, ''),
  };
}

/**
 * Removes what is in the folder of spill files, which have no names: a process that is killed between creating one and
 * unlinking it leaves an empty file. The folder itself stays, for workers may have been given this one.
 */
export async function emptySpillFolder(folder: string): Promise<void> {
  makeFolderNow(folder);
  // What cannot be removed now is no reason not to start.
  await emptyOfStrangers(folder).catch(() => undefined);
}

/** A worker whose thread is blocked cannot notice that its server is gone; the kernel can. */
function guard(): readonly string[] {
  return process.platform === 'linux' && existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL'] : [];
}

/** How a child with a channel ended: its exit code or signal, after its last message was received. */
function exitOf(
  child: ChildProcess,
  { channel, id, stderr }: Pick<Worker, 'channel' | 'stderr'> & { id: StartedProcessId },
): Promise<string> {
  return new Promise((resolve) => {
    const closed = new Promise((all) => child.once('close', all));
    child.once('exit', async (code, signal) => {
      await id.gone();
      // The kernel has closed the child's end of the channel: its end comes, unless hostile code has forked.
      const late = setTimeout(() => channel.close(), LAST_MESSAGES_MS);
      await channel.closed;
      clearTimeout(late);
      if (id.isWrapped) await Promise.race([closed, pause(LAST_MESSAGES_MS)]);
      resolve(signal ?? (code === 1 && SAID_OF_SIGKILL.test(stderr()) ? 'SIGKILL' : `exit code ${code}`));
    });
    child.on('error', (error) => {
      // A process that could not be started never emits `exit`.
      if (child.pid === undefined) resolve(error.message);
    });
  });
}

/**
 * A folder by its name and by its real path. SQLite opens files by the real path, and systemd makes a data folder a
 * symbolic link.
 */
export function withRealPath(folder: string): string[] {
  try {
    return [...new Set([folder, realpathSync(folder)])];
  } catch {
    // It does not exist yet, so its parent is resolved.
    return [...new Set([folder, join(realpathSync(dirname(folder)), basename(folder))])];
  }
}

/**
 * Identifies a running process: its id and its start time as the kernel counts it. Empty when there is no such process.
 */
export function serverMark(pid: number): string {
  const startedAt = processStat(pid)?.[STAT.startedAt];
  // No /proc here, or the process is gone.
  return startedAt === undefined ? '' : `${pid}:${startedAt}`;
}

function readiness(
  { id, channel, exited, stderr }: Pick<Worker, 'channel' | 'exited' | 'stderr'> & { id: StartedProcessId },
  maxStartMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      const text = `An Instance did not start: ${why}.`;
      reject(new WinterdockError('capacity', text, { retryAfterSeconds: 5, cause: stderr() }));
    };
    const end = (why: string) => {
      fail(why);
      id.signal('SIGKILL');
      // A worker that an unknown wrapper has started ends with the channel.
      channel.close();
    };
    const timer = setTimeout(() => end(`not ready after ${maxStartMs} ms`), maxStartMs);
    let isFirst = true;
    channel.onMessage((message) => {
      if (!isFirst) return;
      isFirst = false;
      clearTimeout(timer);
      const problem = readyProblem(message, id);
      if (problem === null) resolve();
      else end(problem);
    });
    void exited.then((how) => {
      clearTimeout(timer);
      fail(how);
    });
  });
}

/**
 * What is wrong with the first message of a worker; null when nothing is. Its memory is watched, and it is paused and
 * killed, by the id that the server got: were that a wrapper's, the limit would silently be that of the wrapper.
 */
function readyProblem(message: unknown, id: StartedProcessId): string | null {
  const ready = parseFromInstance(message);
  return ready?.type === 'ready' ? id.problemWith(ready.pid) : 'its first message was not "ready"';
}

/** The niceness of a worker that need not give way. */
export function workerNiceness(): number {
  return Math.min(LOWEST_PRIORITY, getPriority() + NICENESS);
}

/** The niceness of a process for runs: a third of the time of one for calls, where both want a processor. */
export function runNiceness(): number {
  return Math.min(LOWEST_PRIORITY, workerNiceness() + RUN_NICENESS);
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, workerNiceness());
  } catch {
    // It has already exited, which `exited` reports.
  }
}
