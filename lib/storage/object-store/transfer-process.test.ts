import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { privateBytes } from '../../base/resident-memory.ts';
import { treeOf } from '../../testing/process-tree.ts';
import type { ObjectStore } from './object-store.ts';
import { openObjectStore } from './open-store.ts';
import { drawnBytes, sha256 } from './testing/contract-suite.ts';
import { connectionTo, type S3Server, startS3Server, useTestKeys } from './testing/s3-server.ts';

const LARGE = 24 * 1024 * 1024 + 5;
const content = drawnBytes(LARGE, 11);

let forget: () => void;
let server: S3Server;
let store: ObjectStore;
let folder: string;
let path: string;

beforeAll(async () => {
  forget = useTestKeys();
  server = await startS3Server();
});
afterAll(async () => {
  forget();
  await server.stop();
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-transfers-'));
  path = join(folder, 'large');
  writeFileSync(path, content);
  store = await openObjectStore('s3://bucket/prefix', connectionTo(server.endpoint));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** The transfer processes of this one that are running. */
function transferPids(): number[] {
  return treeOf(process.pid).filter((pid) => readText(`/proc/${pid}/cmdline`).includes('transfer-worker'));
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
}

/** The keys of unfinished uploads of the whole bucket. */
async function unfinished(): Promise<(string | undefined)[]> {
  const client = new S3Client({ endpoint: server.endpoint, region: 'us-east-1', forcePathStyle: true });
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: 'bucket' }));
  client.destroy();
  return Uploads.map(({ Key }) => Key);
}

test('a small file needs no process, and a large one gets one that is used again and ends with the store', async () => {
  writeFileSync(join(folder, 'small'), 'small');
  await store.upload('small', join(folder, 'small'));
  expect(transferPids()).toEqual([]);
  await store.upload('a', path);
  const [first, ...others] = transferPids();
  expect(others).toEqual([]);
  await store.upload('b', path);
  expect(transferPids()).toEqual([first]);
  await store.close();
  expect(transferPids()).toEqual([]);
});

test('the process has the keys of the store and nothing else of the server’s environment', async () => {
  process.env.WB_ADMIN_KEY = 'not for others';
  await store.upload('a', path);
  delete process.env.WB_ADMIN_KEY;
  const names = readText(`/proc/${transferPids()[0]}/environ`)
    .split('\0')
    .map((entry) => entry.split('=')[0])
    .filter(Boolean);
  expect(names.toSorted()).toEqual(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'MALLOC_ARENA_MAX', 'NODE_ENV']);
});

describe('a process that is killed', () => {
  test('while it sends leaves no object and no parts, and the next upload has another one', async () => {
    let killed = 0;
    const sending = store.upload('a', path, {
      progress(bytes) {
        if (bytes === 0 || killed > 0) return;
        killed = transferPids()[0] ?? 0;
        process.kill(killed, 'SIGKILL');
      },
    });
    await expect(sending).rejects.toMatchObject({ code: 'storage_unavailable', extra: {} });
    expect(killed).toBeGreaterThan(0);
    expect(await store.head('a')).toBeNull();
    expect(await unfinished()).toEqual([]);
    expect(await store.upload('b', path, { sha256: sha256(content) })).toMatchObject({ bytes: LARGE });
  });

  test('while it receives leaves no file', async () => {
    await store.upload('c', path);
    let killed = false;
    const back = join(folder, 'back');
    const receiving = store.download('c', back, {
      progress() {
        if (killed || !existsSync(back)) return;
        killed = true;
        for (const pid of transferPids()) process.kill(pid, 'SIGKILL');
      },
    });
    const stalled = setInterval(() => process.kill(server.pid, 'SIGSTOP'), 20);
    const resumed = setInterval(() => process.kill(server.pid, 'SIGCONT'), 400);
    await expect(receiving).rejects.toMatchObject({ code: 'storage_unavailable' });
    clearInterval(stalled);
    clearInterval(resumed);
    process.kill(server.pid, 'SIGCONT');
    expect(killed).toBe(true);
    expect(readdirSync(folder)).toEqual(['large']);
  });
});

test('a transfer that is called off ends soon, also when the store does not answer', async () => {
  const controller = new AbortController();
  const sending = store.upload('d', path, {
    signal: controller.signal,
    progress(bytes) {
      if (bytes === 0 || controller.signal.aborted) return;
      process.kill(server.pid, 'SIGSTOP');
      controller.abort(new Error('woken'));
    },
  });
  const begun = Date.now();
  setTimeout(() => process.kill(server.pid, 'SIGCONT'), 10_000).unref();
  await expect(sending).rejects.toThrow('woken');
  expect(Date.now() - begun).toBeLessThan(60_000);
  process.kill(server.pid, 'SIGCONT');
  await store.purge('d');
  expect(await store.head('d')).toBeNull();
  expect(await unfinished()).toEqual([]);
});

test('four at a time, two each way, and a fifth waits for its turn', async () => {
  await store.upload('e', path);
  const names = ['f', 'g', 'h'];
  const sent = Promise.all(names.map((name) => store.upload(name, path)));
  const received = Promise.all(names.map((name) => store.download('e', join(folder, name), { bytes: LARGE })));
  const seen: number[] = [];
  const looking = setInterval(() => seen.push(transferPids().length), 20);
  await Promise.all([sent, received]);
  clearInterval(looking);
  expect(Math.max(...seen)).toBeLessThanOrEqual(4);
  for (const name of names) {
    expect(sha256(readFileSync(join(folder, name)))).toBe(sha256(content));
    expect((await store.head(name))?.bytes).toBe(LARGE);
  }
});

test('its memory stays within 32 MiB above what it takes at rest, and the server’s does not grow', async () => {
  const size = 120 * 1024 * 1024;
  writeFileSync(join(folder, 'very-large'), Buffer.alloc(size, drawnBytes(1_000_003, 5)));
  // Above four MiB it takes a process, and below five a single part.
  writeFileSync(join(folder, 'small'), content.subarray(0, 4_500_000));
  await store.upload('small', join(folder, 'small'));
  await store.download('small', join(folder, 'back'), { bytes: 4_500_000 });
  const atRest = Math.min(...transferPids().map(privateBytes));
  const before = process.memoryUsage.rss();
  let [most, mostServer] = [0, 0];
  const looking = setInterval(() => {
    most = Math.max(most, ...transferPids().map(privateBytes));
    mostServer = Math.max(mostServer, process.memoryUsage.rss());
  }, 20);
  await store.upload('very-large', join(folder, 'very-large'));
  await store.download('very-large', join(folder, 'very-large-back'), { bytes: size });
  clearInterval(looking);
  expect(most - atRest).toBeLessThan(32 * 1024 * 1024);
  expect(mostServer - before).toBeLessThan(32 * 1024 * 1024);
});
