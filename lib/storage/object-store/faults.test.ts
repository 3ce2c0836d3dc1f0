/** A thousand operations by a seed through a proxy that cuts, loses, forgets and lies. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isWinterdockError } from '../../base/errors.ts';
import { privateBytes } from '../../base/resident-memory.ts';
import { treeOf } from '../../testing/process-tree.ts';
import type { ObjectStore } from './object-store.ts';
import { openObjectStore } from './open-store.ts';
import { drawnBytes, objectStoreContract, sha256 } from './testing/contract-suite.ts';
import { FAULTS, type Fault, type FaultProxy, startFaultProxy } from './testing/fault-proxy.ts';
import { connectionTo, type S3Server, startS3Server, useTestKeys } from './testing/s3-server.ts';

const SEED = Number(process.env.WB_TEST_SEED ?? 20_261);
const OPERATIONS = 1000;
const MOST_OPERATIONS = 4 * OPERATIONS;
const AT_ONCE = 12;
const MIB = 1024 * 1024;
/** What an operation may fail with when the way to the store is bad. */
const ALLOWED = ['storage_unavailable', 'corrupt', 'missing_file', 'conflict'];

/** Numbers from 0 up to 1 by a seed (mulberry32). */
function drawsOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

let forget: () => void;
let server: S3Server;
let proxy: FaultProxy;
let folder: string;
const stores: ObjectStore[] = [];

beforeAll(async () => {
  forget = useTestKeys();
  server = await startS3Server();
  proxy = await startFaultProxy(server.endpoint, drawsOf(SEED));
});
afterAll(async () => {
  forget();
  await proxy.stop();
  await server.stop();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-faults-'));
});
afterEach(async () => {
  proxy.disturb(0);
  for (const store of stores.splice(0)) await store.close();
  rmSync(folder, { recursive: true });
});

async function open(prefix: string): Promise<ObjectStore> {
  const store = await openObjectStore(`s3://bucket/${prefix}`, connectionTo(proxy.endpoint));
  stores.push(store);
  return store;
}

describe('through a quiet proxy', () => {
  objectStoreContract(() => openObjectStore('s3://bucket/quiet', connectionTo(proxy.endpoint)));
});

test.each(FAULTS)('%s alone: what was acknowledged is kept, and no wrong bytes come', async (fault: Fault) => {
  const store = await open(`alone-${fault}`);
  await store.put('before', Buffer.from('before'));
  await store.put('other', Buffer.from('other'));
  await store.get('other');
  const path = join(folder, 'file');
  const content = drawnBytes(6 * MIB, 3);
  writeFileSync(path, content);
  proxy.disturb(35, [fault]);
  const kept = new Map([['before', 'before']]);
  for (let at = 0; at < 5; at += 1) {
    const name = `document.${at}`;
    await attempted(async () => {
      await store.put(name, Buffer.from(name));
      kept.set(name, name);
    });
    await attempted(async () => expect(Buffer.from(await store.get('before')).toString()).toBe('before'));
    await attempted(async () => expect((await store.head('before'))?.bytes ?? 6).toBe(6));
  }
  let isStored = false;
  await attempted(async () => {
    await store.upload('file', path, { sha256: sha256(content) });
    isStored = true;
  });
  if (isStored) await attempted(() => store.download('file', join(folder, 'back'), { bytes: content.length }));
  proxy.disturb(0);
  for (const [name, text] of kept) expect(Buffer.from(await store.get(name)).toString()).toBe(text);
  if (isStored) await store.download('file', join(folder, 'again'), { sha256: sha256(content) });
  for (const name of readdirSync(folder)) expect(sha256(readFileSync(join(folder, name)))).toBe(sha256(content));
});

/** Runs an operation that may fail, but with nothing else than the contract's errors. */
async function attempted(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isWinterdockError(error) || !ALLOWED.includes(error.code)) throw error;
    return false;
  }
}

test(`${OPERATIONS} operations by seed ${SEED}: 0 acknowledged are lost, and no wrong bytes come`, async () => {
  const store = await open('thousand');
  const draw = drawsOf(SEED + 1);
  /** The hash of what is under each name: acknowledged, tried, or to be removed. */
  const acknowledged = new Map<string, string>();
  const tried = new Map<string, string>();
  const removed = new Set<string>();
  const outcomes = { done: 0, failed: 0 };
  const one = <T>(from: readonly T[]) => from[Math.floor(draw() * from.length)];
  const sizes = [10, 5000, 300_000, 3 * MIB, 6 * MIB, 13 * MIB];

  const write = async (at: number): Promise<boolean> => {
    const isDocument = draw() < 0.8;
    const content = drawnBytes(isDocument ? Math.floor(draw() * 20_000) : (one(sizes) ?? 10), at);
    const name = `objects/${at % 7}/${at}-${Math.floor(draw() * 1e9)}`;
    tried.set(name, sha256(content));
    const path = join(folder, `sent-${at}`);
    if (!isDocument) writeFileSync(path, content);
    const isDone = await attempted(() =>
      isDocument
        ? store.put(name, content, { ifAbsent: draw() < 0.3 })
        : store.upload(name, path, { sha256: sha256(content) }),
    );
    if (!isDocument) rmSync(path);
    if (isDone) acknowledged.set(name, sha256(content));
    return isDone;
  };
  const read = (name: string, at: number): Promise<boolean> =>
    attempted(async () => {
      const hash = acknowledged.get(name);
      const path = join(folder, `received-${at}`);
      if (draw() < 0.7) {
        const content = await store.get(name, { most: 20 * MIB });
        expect(sha256(content)).toBe(hash);
      } else {
        // Without the hash: what the store knows of the object has to do.
        expect((await store.download(name, path)).sha256).toBe(hash);
        expect(sha256(readFileSync(path))).toBe(hash);
        rmSync(path);
      }
    });
  const operate = async (at: number): Promise<boolean> => {
    const names = [...acknowledged.keys()].filter((name) => !removed.has(name));
    const [name, kind] = [one(names), draw()];
    if (name === undefined || kind < 0.4) return write(at);
    if (kind < 0.75) return read(name, at);
    if (kind < 0.82) {
      return attempted(async () => {
        for await (const page of store.list('objects/')) for (const { name: found } of page) tried.get(found);
      });
    }
    if (kind < 0.92) {
      const copy = `copies/${at}`;
      const hash = acknowledged.get(name) ?? '';
      tried.set(copy, hash);
      const isDone = await attempted(() => store.copy(name, copy));
      if (isDone) acknowledged.set(copy, hash);
      return isDone;
    }
    removed.add(name);
    return attempted(() => store.remove(name));
  };

  const transferPids = () =>
    treeOf(process.pid).filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('transfer-worker');
      } catch {
        // It has ended.
        return false;
      }
    });
  let most = 0;
  const looking = setInterval(() => {
    most = Math.max(most, ...transferPids().map(privateBytes));
  }, 100);
  proxy.disturb(15);
  let next = 0;
  const unmet = () => FAULTS.filter((fault) => !proxy.counts.has(fault));
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      // A seed that draws a rare kind late goes on until it has come.
      while (next < OPERATIONS || (next < MOST_OPERATIONS && unmet().length > 0)) {
        next += 1;
        outcomes[(await operate(next)) ? 'done' : 'failed'] += 1;
      }
    }),
  );
  clearInterval(looking);
  proxy.disturb(0);
  expect(outcomes.done + outcomes.failed).toBe(next);
  // Most come through in spite of it, and every kind of fault was met.
  expect(outcomes.done).toBeGreaterThan(next * 0.8);
  expect(unmet()).toEqual([]);
  const lost = [];
  for (const [name, hash] of acknowledged) {
    if (removed.has(name)) continue;
    const found = await store.get(name, { most: 20 * MIB }).then(sha256, () => null);
    if (found !== hash) lost.push(name);
  }
  expect(lost).toEqual([]);
  // What was not acknowledged is there whole, or not at all.
  for await (const page of store.list('')) {
    for (const { name } of page) {
      if (!name.startsWith('objects/') && !name.startsWith('copies/')) continue;
      expect(sha256(await store.get(name, { most: 20 * MIB }))).toBe(tried.get(name));
    }
  }
  expect(readdirSync(folder)).toEqual([]);
  // 46 MB at rest, and 32 MiB above.
  expect(most).toBeLessThan(46_000_000 + 32 * MIB);
});

test('a proxy that takes no connection is away, and comes back', async () => {
  const store = await open('refused');
  await store.put('a', Buffer.from('one'));
  await proxy.refuse();
  await expect(store.get('a')).rejects.toMatchObject({ extra: { away: 'unreachable' } });
  await proxy.accept();
  expect(Buffer.from(await store.get('a')).toString()).toBe('one');
});
