/**
 * Process entry of a worker. It loads its code, reports ready, rehearses while nobody needs it, receives one VFS file
 * and serves that file until it exits. Drops its rights step by step: first the environment, then writing files, then
 * its user. Knows nothing of rows, drawers or HTTP.
 */
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { WorkerChannel } from '../../base/channel.ts';
import { unlinkFileNow } from '../../base/effects.ts';
import { messageOf } from '../../base/errors.ts';
import { leaveSignalsToServer } from '../../base/process-signals.ts';
import { serializeError } from '../../base/serialized-error.ts';
import { closeOrLeave, closeToRest, giveIdentity, openLive } from '../../vfs/open.ts';
import type { Vfs } from '../../vfs/vfs.ts';
import { DEFAULT_POLICY, profileOf } from '../../workers/protocol/policies.ts';
import type { FromInstance, ToInstance } from '../../workers/protocol/protocol.ts';
import { isKeptThread } from '../component-runner/kept-threads.ts';
import { defendShells, Shell } from '../shell/shell.ts';
import { HeapTrim } from './heap-trim.ts';
import { OpenSandbox } from './open-sandbox.ts';

const REHEARSAL_LIMITS = { maxBytes: 1024 * 1024, maxFileBytes: 1024, mustExist: false };

/**
 * The call of every rehearsal: what first calls do most. A first `cat` takes 4.8 ms of processor time; after rehearsing
 * `true` it took 15.7 ms. The worker keeps 1.5 MB more.
 */
const REHEARSAL_CALL = {
  kind: 'exec',
  command: 'echo 1 > f; cat f; ls',
  timeoutMs: 10_000,
  streaming: false,
  endless: false,
  commitsMeanwhile: false,
} as const;
/** Rounds of opening, running and closing. No less processor time for a first call after 12 rounds than after 8. */
const REHEARSALS = 8;
/**
 * Rounds after which a full collection drops everything unused, compiled code included. The remaining rounds compile
 * what a call needs. Collecting after all rounds or after half of them makes a first call slower.
 */
const COLLECT_AFTER = 6;
/**
 * How long a worker waits for its file before it rehearses, in milliseconds. In a burst it gets one at once, and the
 * time that rehearsing takes goes to those who wait.
 */
const REHEARSE_AFTER_MS = 50;
/**
 * Attempts to begin a transaction, of a second each: another process of the sandbox may be committing much to a slow
 * disk.
 */
const BEGIN_ATTEMPTS = 10;
/** Delay from opening a file to switching it to WAL mode, in milliseconds. A first call that only reads takes two. */
const PREPARE_MS = 10;

const cacheFolder = process.env.NODE_COMPILE_CACHE;
/** `compile`: rehearse before ready, so that all later workers find a whole compile cache. A number: of rehearsals. */
const mode = process.argv.at(-1);
const rehearsals = mode === '' || mode === 'compile' ? REHEARSALS : Number(mode);

// SQLite reads its spill folder from the environment when the first database is opened.
const emptyFile = openLive(':memory:', REHEARSAL_LIMITS);
for (const name of Object.keys(process.env)) delete process.env[name];
leaveSignalsToServer();
process.on('SIGTERM', end);

// What it compiles is read by workers of other users, who are of one group.
process.umask(0o027);
defendShells();
const shell = new Shell(emptyFile, profileOf(DEFAULT_POLICY));
let served: { sandbox: OpenSandbox; heapTrim: HeapTrim } | null = null;
/** Set when the file has come: then no further rehearsal begins. */
let isNeeded = false;
let rehearsing: Promise<void> = Promise.resolve();
/** Threads that run: those of the shell's Python. */
let threads = 0;
/** Resolves when every message that has come was begun: they begin in the order in which they came. */
let begun: Promise<void> = Promise.resolve();

process.on('worker', (thread) => {
  if (isKeptThread(thread)) return;
  threads += 1;
  thread.once('exit', () => {
    threads -= 1;
  });
});

const channel = new WorkerChannel(
  (message: ToInstance) => {
    isNeeded = true;
    begun = begun.then(() => begin(message));
  },
  () => process.exit(0),
);
void start();

/** Reports ready. An error ends the process with its stack on stderr. */
async function start(): Promise<void> {
  if (mode === 'compile') await rehearse();
  send({ type: 'ready', pid: process.pid });
  setTimeout(() => {
    // What spoils a rehearsal, a full disk for example, costs only what it would have saved.
    if (!isNeeded) rehearsing = rehearse().catch(() => {});
  }, REHEARSE_AFTER_MS);
}

/** Acknowledges a message that asks for it, then begins it. */
async function begin(message: ToInstance): Promise<void> {
  await rehearsing;
  // Only once the server is certain to receive it: a message without this answer counts as not begun.
  if ('acknowledge' in message && message.acknowledge) await delivered({ type: 'started', id: message.id });
  const id = 'id' in message ? message.id : null;
  handle(message).catch((error: unknown) =>
    send({ type: 'failed', id, failure: serializeError(error, 'The Instance failed unexpectedly.') }),
  );
}

async function handle(message: ToInstance): Promise<void> {
  if (message.type === 'open') {
    // From here on only SQLite writes to the disk.
    dropPermission('fs.write');
    const { file, policy, uid, ...limits } = message.spec;
    if (uid !== null) become(uid);
    const profile = profileOf(policy);
    const vfs = openLive(file, { ...limits, walLater: true, beginAttempts: BEGIN_ATTEMPTS });
    const opened = new OpenSandbox(vfs, profile, shell, send);
    served = { sandbox: opened, heapTrim: new HeapTrim() };
    send({ type: 'opened' });
    setTimeout(() => prepare(opened.vfs), PREPARE_MS);
    return;
  }
  if (message.type === 'ping') return send({ type: 'pong' });
  if (served === null) throw new Error(`It was told to ${message.type} before it had a file.`);
  const { sandbox, heapTrim } = served;
  if (message.type === 'trim') return send({ type: 'trimmed', id: message.id, holds: await trim(sandbox, heapTrim) });
  if (message.type !== 'close') return heapTrim.run(() => sandbox.handle(message));
  await sandbox.settle();
  if (message.rests) {
    const isLeft = sandbox.vfs.shippedLog !== null && !message.isLogKept;
    return send({ type: 'closed', identity: isLeft ? closeOrLeave(sandbox.vfs) : closeToRest(sandbox.vfs) });
  }
  sandbox.vfs.close();
  send({ type: 'closed', identity: null });
}

/** Gives back what memory it can, unless something is held: returns what. */
async function trim(sandbox: OpenSandbox, heapTrim: HeapTrim): Promise<string | null> {
  const holds = threads > 0 ? 'a thread' : sandbox.holds;
  if (holds !== null) return holds;
  await sandbox.shrink();
  heapTrim.collectNow();
  return null;
}

/**
 * Switches the file to WAL mode before the first write has to wait for it. A call that came with the wake goes first.
 */
function prepare(vfs: Vfs): void {
  if (!vfs.db.isOpen) return;
  try {
    vfs.prepareToWrite();
    giveIdentity(vfs);
  } catch {
    // The first write tries again and reports the error to its caller.
  }
}

/**
 * Puts the file to rest and exits. What a running call has not committed is dropped, as always when a process ends. A
 * file that cannot be put to rest keeps its log, and the server recovers it; so does one whose log the server ships,
 * which may not be ready for its end.
 */
function end(): void {
  try {
    const vfs = served?.sandbox.vfs;
    if (vfs?.db.isOpen && vfs.shippedLog === null) closeToRest(vfs);
  } catch {
    // The exit code is all that differs: the file and its log hold every commit.
    process.exit(1);
  }
  process.exit(0);
}

function send(message: FromInstance): void {
  void delivered(message);
}

/**
 * Sends a message. Resolves when it is in the channel, from where the server receives it even if this process dies.
 * When the server is gone the message is lost, and this process ends.
 */
function delivered(message: FromInstance): Promise<void> {
  return new Promise((resolve) => channel.send(message, resolve));
}

/**
 * Runs the code path of a wake and a first call on a file of its own, so that V8 has compiled it before a caller waits.
 * Ends after the round in which the worker's own file comes.
 */
async function rehearse(): Promise<void> {
  // Its process id may be that of every worker: each may have a namespace of processes to itself.
  const name = `rehearsal-${Math.random().toString(36).slice(2)}.sqlite`;
  const file = cacheFolder === undefined ? ':memory:' : join(cacheFolder, name);
  for (let round = 0; round < rehearsals && !isNeeded; round += 1) {
    if (round === COLLECT_AFTER) globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    const vfs = openLive(file, { ...REHEARSAL_LIMITS, walLater: true });
    await new OpenSandbox(vfs, profileOf(DEFAULT_POLICY), shell, (message) => void JSON.stringify(message)).handle({
      type: 'call',
      id: round,
      call: REHEARSAL_CALL,
    });
    vfs.prepareToWrite();
    closeToRest(vfs);
    await nextTurn();
  }
  unlinkFileNow(file);
  if (isNeeded) return;
  globalThis.gc?.();
  flushCompileCache();
}

/**
 * Becomes the sandbox's user, in all threads and for good: with root's user a process loses every capability. Ends this
 * process where that does not succeed: nothing of a sandbox is opened or run as root.
 */
function become(uid: number): void {
  try {
    process.umask(0o077);
    process.setuid?.(uid);
    if (process.getuid?.() === uid) return;
    process.stderr.write(`It did not become user ${uid}.\n`);
  } catch (error) {
    process.stderr.write(`It did not become user ${uid}: ${messageOf(error)}.\n`);
  }
  process.exit(1);
}

/** Drops a permission for good, where this version of Node can. */
function dropPermission(scope: string): void {
  const { permission } = process;
  if (permission && 'drop' in permission && typeof permission.drop === 'function') permission.drop(scope);
}
