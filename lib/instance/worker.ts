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
import { callFailure } from './failure.ts';
import { GivingBack } from './giving-back.ts';
import { warmJavaScript } from './javascript.ts';
import { DEFAULT_POLICY, profileOf } from './policies.ts';
import type { FromInstance, ToInstance } from './protocol.ts';
import { Served } from './served.ts';
import { defendShells, Shell } from './shell.ts';

const SCRATCH = { maxBytes: 1024 * 1024, maxFileBytes: 1024, mustExist: false };

/** The call that a worker goes through again and again before it is ready. */
const REHEARSAL = { kind: 'exec', command: 'true', timeoutMs: 10_000, streaming: false } as const;
/**
 * Rounds of opening, running and closing before a worker is ready. Measured in processor time of a worker's first call:
 * 2.7 ms after eight, 1.8 ms after sixteen, no less after thirty; each round keeps about 0.1 MB of compiled code.
 */
const REHEARSALS = 12;
/**
 * Rounds after which everything that nobody holds is collected, compiled code included; the rounds after it compile
 * what a call needs. Largest PSS of 20 hot sandboxes 25.2 MB instead of 26.9, a first call as quick (4.8 × bare HTTP
 * and fsync); after all rounds it is 5.0 ×, with half the rounds 5.3 ×.
 */
const COLLECTED_AFTER = 8;
/** How long after it was opened a file enters WAL mode, in milliseconds: a first call that only reads takes two. */
const PREPARE_MS = 10;

const cacheFolder = process.env.NODE_COMPILE_CACHE;
const rehearsals = Number(process.argv[2] ?? REHEARSALS);
// SQLite asks its environment where to spill as it opens its first database.
const scratch = openLive(':memory:', SCRATCH);
for (const name of Object.keys(process.env)) delete process.env[name];
process.on('disconnect', () => process.exit(0));

warmJavaScript();
defendShells();
const shell = new Shell(scratch, profileOf(DEFAULT_POLICY));
await warmUp(cacheFolder === undefined ? ':memory:' : join(cacheFolder, `warm-${process.pid}.sqlite`));
// What warming up left behind is given back before anyone counts it.
globalThis.gc?.();
// The next workers start with what this one compiled; after that nothing is written but by SQLite.
flushCompileCache();
drop('fs.write');

const givingBack = new GivingBack();
let served: Served | null = null;

process.on('message', (message: ToInstance) => {
  const id = 'id' in message ? message.id : null;
  take(message).catch((error: unknown) => say({ type: 'failed', id, failure: callFailure(error) }));
});
say({ type: 'ready' });

async function take(message: ToInstance): Promise<void> {
  if (message.type === 'open') {
    const { file, policy, ...limits } = message.spec;
    const profile = profileOf(policy);
    if (!profile.capabilities.includes('python')) drop('worker');
    const opened = new Served(openLive(file, { ...limits, walLater: true }), profile, shell, say);
    served = opened;
    say({ type: 'opened' });
    setTimeout(() => prepare(opened.vfs), PREPARE_MS);
    return;
  }
  if (message.type === 'ping') return say({ type: 'pong' });
  if (served === null) throw new Error(`It was told to ${message.type} before it had a file.`);
  const current = served;
  if (message.type !== 'close') return givingBack.after(() => current.take(message));
  say({ type: 'closed', identity: closeToRest(current.vfs) });
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

function say(message: FromInstance): void {
  // A server that is gone cannot be told, and `disconnect` ends this process.
  process.send?.(message, undefined, undefined, () => {});
}

/**
 * Goes through what a wake and its first call go through, on a file of its own, so that their code is compiled before
 * one waits for it.
 */
async function warmUp(file: string): Promise<void> {
  const profile = profileOf(DEFAULT_POLICY);
  for (let id = 0; id < rehearsals; id += 1) {
    if (id === COLLECTED_AFTER) globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    const vfs = openLive(file, { ...SCRATCH, walLater: true });
    await new Served(vfs, profile, shell, (message) => void serialize(message)).take({
      type: 'call',
      id,
      call: REHEARSAL,
    });
    vfs.prepareToWrite();
    closeToRest(vfs);
  }
  unlinkFileNow(file);
}

/** Gives up a permission for good, where this Node can. */
function drop(scope: string): void {
  const { permission } = process;
  if (permission && 'drop' in permission && typeof permission.drop === 'function') permission.drop(scope);
}
