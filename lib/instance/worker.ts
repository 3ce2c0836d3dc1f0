/**
 * Process entry of a worker. It loads its code, warms up, reports ready, receives one VFS file and serves that file
 * until it exits. Drops its rights step by step: first the environment, then writing files, then threads. Knows nothing
 * of rows, drawers or HTTP.
 */
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { unlinkFileNow } from '../base/effects.ts';
import { serializeError } from '../base/serialized-error.ts';
import { closeToRest, giveIdentity, openLive } from '../vfs/open.ts';
import type { Vfs } from '../vfs/vfs.ts';
import { HeapTrim } from './heap-trim.ts';
import { warmJavaScript } from './javascript.ts';
import { OpenSandbox } from './open-sandbox.ts';
import { DEFAULT_POLICY, profileOf } from './policies.ts';
import type { FromInstance, ToInstance } from './protocol.ts';
import { defendShells, Shell } from './shell.ts';

const WARM_UP_LIMITS = { maxBytes: 1024 * 1024, maxFileBytes: 1024, mustExist: false };

/** The call that every warm-up round runs. */
const WARM_UP_CALL = { kind: 'exec', command: 'true', timeoutMs: 10_000, streaming: false } as const;
/**
 * Rounds of opening, running and closing before a worker is ready. Processor time of a worker's first call: 2.7 ms
 * after 8 rounds, 1.8 ms after 16, no less after 30. Each round keeps about 0.1 MB of compiled code.
 */
const WARM_UP_ROUNDS = 12;
/**
 * Rounds after which a full collection drops everything unused, compiled code included. The remaining rounds compile
 * what a call needs. Peak PSS of 20 hot sandboxes is 25.2 MB instead of 26.9 MB, and a first call is as quick: 4.8 ×
 * bare HTTP and fsync, against 5.0 × when collecting after all rounds and 5.3 × after half of them.
 */
const COLLECT_AFTER_ROUNDS = 8;
/** Delay from opening a file to switching it to WAL mode, in milliseconds. A first call that only reads takes two. */
const PREPARE_MS = 10;

const cacheFolder = process.env.NODE_COMPILE_CACHE;
const warmUpRounds = Number(process.argv[2] ?? WARM_UP_ROUNDS);
// SQLite reads its spill folder from the environment when the first database is opened.
const warmUpFile = openLive(':memory:', WARM_UP_LIMITS);
for (const name of Object.keys(process.env)) delete process.env[name];
process.on('disconnect', () => process.exit(0));

warmJavaScript();
defendShells();
const shell = new Shell(warmUpFile, profileOf(DEFAULT_POLICY));
await warmUp(cacheFolder === undefined ? ':memory:' : join(cacheFolder, `warm-${process.pid}.sqlite`));
// Collects the garbage of the warm-up before the memory of this process is measured.
globalThis.gc?.();
// Later workers start from this compile cache. From here on only SQLite writes to the disk.
flushCompileCache();
dropPermission('fs.write');

const heapTrim = new HeapTrim();
let sandbox: OpenSandbox | null = null;

process.on('message', (message: ToInstance) => {
  const id = 'id' in message ? message.id : null;
  handle(message).catch((error: unknown) =>
    send({ type: 'failed', id, failure: serializeError(error, 'The Instance failed unexpectedly.') }),
  );
});
send({ type: 'ready' });

async function handle(message: ToInstance): Promise<void> {
  if (message.type === 'open') {
    const { file, policy, ...limits } = message.spec;
    const profile = profileOf(policy);
    if (!profile.capabilities.includes('python')) dropPermission('worker');
    const opened = new OpenSandbox(openLive(file, { ...limits, walLater: true }), profile, shell, send);
    sandbox = opened;
    send({ type: 'opened' });
    setTimeout(() => prepare(opened.vfs), PREPARE_MS);
    return;
  }
  if (message.type === 'ping') return send({ type: 'pong' });
  if (sandbox === null) throw new Error(`It was told to ${message.type} before it had a file.`);
  const current = sandbox;
  if (message.type !== 'close') return heapTrim.run(() => current.handle(message));
  send({ type: 'closed', identity: closeToRest(current.vfs) });
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

function send(message: FromInstance): void {
  // When the server is gone the message is lost, and `disconnect` ends this process.
  process.send?.(message, undefined, undefined, () => {});
}

/**
 * Runs the code path of a wake and a first call on a file of its own, so that V8 has compiled it before a caller waits.
 */
async function warmUp(file: string): Promise<void> {
  const profile = profileOf(DEFAULT_POLICY);
  for (let id = 0; id < warmUpRounds; id += 1) {
    if (id === COLLECT_AFTER_ROUNDS) globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    const vfs = openLive(file, { ...WARM_UP_LIMITS, walLater: true });
    await new OpenSandbox(vfs, profile, shell, (message) => void serialize(message)).handle({
      type: 'call',
      id,
      call: WARM_UP_CALL,
    });
    vfs.prepareToWrite();
    closeToRest(vfs);
  }
  unlinkFileNow(file);
}

/** Drops a permission for good, where this version of Node can. */
function dropPermission(scope: string): void {
  const { permission } = process;
  if (permission && 'drop' in permission && typeof permission.drop === 'function') permission.drop(scope);
}
