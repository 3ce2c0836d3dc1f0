/** A store that hangs is told within its limit, before an answer and in the middle of one. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ObjectStore } from './object-store.ts';
import { openObjectStore } from './open-store.ts';
import { type PromptStore, promptStore } from './prompt-store.ts';
import { connectionTo, type S3Server, startS3Server, useTestKeys } from './testing/s3-server.ts';

const BYTES = 400_000;
/** Repeats of one request take 95 s. */
const SOON_MS = 60_000;

let forgetKeys: () => void;
let whole: S3Server;
/** Takes every request; of an object it sends the half, and of nothing else anything. */
let hanging: Server;
let folder: string;
let store: ObjectStore;
let prompt: PromptStore;

beforeAll(async () => {
  forgetKeys = useTestKeys();
  whole = await startS3Server();
  hanging = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.includes('list-type')) return;
    response.writeHead(200, { 'content-length': BYTES, etag: '"half"' });
    response.write(Buffer.alloc(BYTES / 2));
  });
  await new Promise<void>((listening) => hanging.listen(0, '127.0.0.1', listening));
});
afterAll(async () => {
  hanging.closeAllConnections();
  hanging.close();
  await whole.stop();
  forgetKeys();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-prompt-'));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const open = async (endpoint: string, limitMs: number) => {
  store = await openObjectStore('s3://bucket/prompt', connectionTo(endpoint));
  prompt = promptStore(store, limitMs);
};
const all = async (name: string) => Buffer.concat(await (await prompt.open(name)).toArray());

test('whoever asks a store that takes requests and never answers hears within the limit that it is away', async () => {
  await open(`http://127.0.0.1:${(hanging.address() as AddressInfo).port}`, 300);
  const path = join(folder, 'brought');
  for (const [what, ask] of Object.entries({
    head: () => prompt.head('a'),
    list: () => prompt.list('a/')[Symbol.asyncIterator]().next(),
    open: () => all('a'),
    download: () => prompt.download('a', path),
  })) {
    const begun = performance.now();
    await expect(ask(), what).rejects.toMatchObject({ code: 'storage_unavailable', extra: { away: 'timeout' } });
    expect(performance.now() - begun, what).toBeLessThan(SOON_MS);
  }
  expect(existsSync(path)).toBe(false);
});

test('what a store answers is as it is, by lists, streams and files, and a file that is there stays', async () => {
  await open(whole.endpoint, 60_000);
  const content = Buffer.alloc(BYTES, 'abc');
  await store.put('a/whole', content);
  expect((await prompt.head('a/whole'))?.bytes).toBe(BYTES);
  expect(await prompt.head('a/none')).toBe(null);
  const names: string[] = [];
  for await (const page of prompt.list('a/')) names.push(...page.map(({ name }) => name));
  expect(names).toEqual(['a/whole']);
  expect((await all('a/whole')).equals(content)).toBe(true);
  const range = { first: 3, last: 5 };
  expect(Buffer.concat(await (await prompt.open('a/whole', { range })).toArray()).toString()).toBe('abc');
  const path = join(folder, 'brought');
  await prompt.download('a/whole', path);
  expect(readFileSync(path).equals(content)).toBe(true);
  await expect(prompt.download('a/whole', path)).rejects.toMatchObject({ code: 'EEXIST' });
  expect(readFileSync(path).equals(content)).toBe(true);
  // Nobody reads it, and nothing is left open.
  (await prompt.open('a/whole')).destroy();
  const ending = new AbortController();
  ending.abort(new Error('called off'));
  await expect(prompt.head('a/whole', { signal: ending.signal })).rejects.toThrow('called off');
});
