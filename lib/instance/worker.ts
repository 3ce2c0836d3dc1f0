/**
 * Process entry of an Instance: loads everything, says ready, is given one VFS file and serves it until it ends with
 * it. Knows nothing of rows, drawers or HTTP. What it may reach is narrowed step by step: its environment goes first,
 * then writing files, then threads.
 */
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { unlinkFileNow } from '../base/effects.ts';
import { closeToRest, giveIdentity, openLive } from '../vfs/open.ts';
import type { Vfs } from '../vfs/vfs.ts';
import { failureOf } from './call-failure.ts';
import { HeapTrim } from './heap-trim.ts';
import { warmJavaScript } from './javascript.ts';
import { OpenSandbox } from './open-sandbox.ts';
import { DEFAULT_POLICY, profileOf } from './policies.ts';
import type { FromInstance, ToInstance } from './protocol.ts';
import { defendShells, Shell } from './shell.ts';

const WARM_UP_LIMITS = { maxBytes: 1024 * 1024, maxFileBytes: 1024, mustExist: false };

/** The call that a worker goes through again and again before it is ready. */
const WARM_UP_CALL = { kind: 'exec', command: 'true', timeoutMs: 10_000, streaming: false } as const;
/**
 * Rounds of opening, running and closing before a worker is ready. Measured in processor time of a worker's first call:
 * 2.7 ms after eight, 1.8 ms after sixteen, no less after thirty; each round keeps about 0.1 MB of compiled code.
 */
const WARM_UP_ROUNDS = 12;
/**
 * Rounds after which everything that nobody holds is collected, compiled code included; the rounds after it compile
 * what a call needs. Largest PSS of 20 hot sandboxes 25.2 MB instead of 26.9, a first call as quick (4.8 × bare HTTP
 * and fsync); after all rounds it is 5.0 ×, with half the rounds 5.3 ×.
 */
const COLLECT_AFTER_ROUNDS = 8;
/** How long after it was opened a file enters WAL mode, in milliseconds: a first call that only reads takes two. */
const PREPARE_MS = 10;

const cacheFolder = process.env.NODE_COMPILE_CACHE;
const warmUpRounds = Number(process.argv[2] ?? WARM_UP_ROUNDS);
// SQLite asks its environment where to spill as it opens its first database.
const warmUpFile = openLive(':memory:', WARM_UP_LIMITS);
for (const name of Object.keys(process.env)) delete process.env[name];
process.on('disconnect', () => process.exit(0));

warmJavaScript();
defendShells();
const shell = new Shell(warmUpFile, profileOf(DEFAULT_POLICY));
await warmUp(cacheFolder === undefined ? ':memory:' : join(cacheFolder, `warm-${process.pid}.sqlite`));
// What warming up left behind is given back before anyone counts it.
globalThis.gc?.();
// The next workers start with what this one compiled; after that nothing is written but by SQLite.
flushCompileCache();
dropPermission('fs.write');

const heapTrim = new HeapTrim();
let sandbox: OpenSandbox | null = null;

process.on('message', (message: ToInstance) => {
  const id = 'id' in message ? message.id : null;
  handle(message).catch((error: unknown) => send({ type: 'failed', id, failure: failureOf(error) }));
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
 * A file that is about to be written enters WAL mode before anyone waits for it; a call that came with the wake went
 * first.
 */
function prepare(vfs: Vfs): void {
  if (!vfs.db.isOpen) return;
  try {
    vfs.prepareToWrite();
    giveIdentity(vfs);
  } catch {
    // The first write tries again, and tells its caller what is wrong.
  }
}

function send(message: FromInstance): void {
  // A server that is gone cannot be told, and `disconnect` ends this process.
  process.send?.(message, undefined, undefined, () => {});
}

/**
 * Goes through what a wake and its first call go through, on a file of its own, so that their code is compiled before
 * one waits for it.
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

/** Gives up a permission for good, where this Node can. */
function dropPermission(scope: string): void {
  const { permission } = process;
  if (permission && 'drop' in permission && typeof permission.drop === 'function') permission.drop(scope);
}
