/**
 * A store for somebody who looks at what it has: one that hangs fails as away within seconds, also in the middle of a
 * stream. Learns nothing of the store; `watched-store.ts` does.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { writeStream } from '../../base/effects.ts';
import { isWinterdockError } from '../../base/errors.ts';
import { discard, isCode } from '../files.ts';
import type { ObjectStore } from './object-store.ts';
import { storeAway } from './store-errors.ts';
import { type StoreMode, storeInMode, withinLimit } from './store-mode.ts';

/** The longest without progress, in milliseconds. */
const LIMIT_MS = 5000;
/** Parts of that time, in each of which the process looks at what has come. */
const SLICES = 10;
/** Wrong bytes twice are the object's and not the way's. */
const WRONG_TIMES = 2;

export interface PromptStore extends Pick<ObjectStore, 'url' | 'get' | 'head' | 'list' | 'open'> {
  /** As `ObjectStore.download`, in this thread; the file is not synced to the disk. */
  download(name: string, path: string, options?: { signal?: AbortSignal }): Promise<void>;
}

/** `limitMs`: the longest that a request, or a piece of a stream, may take. Whoever opened `store` closes it. */
export function promptStore(store: ObjectStore, limitMs = LIMIT_MS): PromptStore {
  const mode: StoreMode = (_op, signal, work) => {
    return withinLimit({ ms: limitMs, signals: [signal], late: () => storeAway('timeout'), wait: waitAwake }, work);
  };
  const asked = storeInMode(store, mode, mode);
  const open: ObjectStore['open'] = async (name, { signal, ...options } = {}) => {
    const ending = new AbortController();
    const either = AbortSignal.any([ending.signal, ...(signal ? [signal] : [])]);
    const stream = await asked.open(name, { ...options, signal: either });
    const prompt = Readable.from(promptPieces(stream, limitMs, ending), { objectMode: false });
    // What nobody has read from has begun nothing that would end it.
    prompt.once('close', () => stream.destroy());
    return prompt;
  };
  return {
    ...{ url: store.url, get: asked.get, head: asked.head, list: asked.list, open },
    async download(name, path, options = {}) {
      for (let times = 1; ; times += 1) {
        const pieces = await open(name, options);
        try {
          return await pipeline(pieces, writeStream(path, { flags: 'wx' }), options);
        } catch (error) {
          if (!isCode(error, 'EEXIST')) await discard(path);
          if (times === WRONG_TIMES || !isWinterdockError(error) || error.code !== 'corrupt') throw error;
        }
      }
    },
  };
}

/** Ends `ending`, and with it what is still asked, when a piece does not come in time. */
async function* promptPieces(stream: Readable, limitMs: number, ending: AbortController): AsyncGenerator<Buffer> {
  const pieces = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await inTime(pieces.next(), limitMs);
      if (done) return;
      yield value as Buffer;
    }
  } catch (error) {
    ending.abort(error);
    throw error;
  } finally {
    stream.destroy();
  }
}

async function inTime<T>(coming: Promise<T>, limitMs: number): Promise<T> {
  const come = new AbortController();
  const late = waitAwake(limitMs, come.signal).then(() => {
    throw storeAway('timeout');
  });
  for (const one of [coming, late]) one.catch(() => undefined);
  try {
    return await Promise.race([coming, late]);
  } finally {
    come.abort();
  }
}

/** In slices: whoever had no processor for a while has missed the answer, and the store has given it. */
async function waitAwake(ms: number, over: AbortSignal): Promise<void> {
  for (let slice = 0; slice < SLICES; slice += 1) await pause(ms / SLICES, undefined, { signal: over });
}
