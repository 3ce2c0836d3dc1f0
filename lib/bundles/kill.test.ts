import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Instance, Share } from '../contract/schema.ts';
import { bundleProcesses, eventually } from '../testing/bundle-server.ts';
import { namesIn } from '../testing/files-in.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';
import { TEST_KEY } from '../testing/server.ts';

let folder: string;
let server: ServerProcess;
const spawn = () => spawnServer({ folder, settings: { WB_POOL: '0', WB_LOG: 'silent' } });
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-bundles-kill-'));
  server = await spawn();
});
afterEach(async () => {
  await server.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const WORK = randomBytes(6 * 1024 * 1024);

/**
 * Kills the server the moment that something holds, or when a busy machine let that moment pass, and starts it again.
 */
async function killWhen(sent: ClientRequest, holds: () => boolean): Promise<void> {
  while (!holds() && !sent.closed) await new Promise((resolve) => setImmediate(resolve));
  await server.end('SIGKILL');
  sent.destroy();
  await eventually(() => bundleProcesses(folder).length === 0);
  server = await spawn();
}

/** Sends a request whose answer is not waited for: the server dies first, or nearly. */
function send(method: string, path: string, body?: Buffer, declared = body?.length): ClientRequest {
  const sent = request(`${server.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TEST_KEY}`,
      ...(body === undefined ? {} : { 'content-type': 'application/octet-stream', 'content-length': declared }),
    },
  });
  sent
    .on('error', () => undefined)
    .on('response', (answer: IncomingMessage) => answer.on('error', () => undefined).resume());
  if (body !== undefined) sent.write(body);
  return sent;
}

/** Sizes of the files of one name in the temporary folders. */
function underWay(name: RegExp): number[] {
  const drawer = join(folder, 'bundles');
  return readdirSync(drawer, { recursive: true, encoding: 'utf8' })
    .filter((path) => name.test(path))
    .map((path) => statSync(join(drawer, path), { throwIfNoEntry: false })?.size ?? 0);
}

const leftovers = () =>
  ['bundles', 'live/.staging', 'orphans'].flatMap((drawer) =>
    existsSync(join(folder, drawer)) ? namesIn(join(folder, drawer)) : [],
  );
const work = (id: string) => server.call('GET', `/api/instances/${id}/volumes/workspace/work`);

async function makeOrigin(): Promise<void> {
  await server.call('POST', '/api/instances', { id: 'origin', tenant: 'acme' });
  expect((await server.call('PUT', '/api/instances/origin/volumes/workspace/work', WORK)).status).toBe(201);
  await server.call('POST', '/api/instances/origin/suspend', {});
}

test('an import that a kill breaks off leaves a whole sandbox or nothing, and its id free', async () => {
  await makeOrigin();
  const bundle = (await server.call('POST', '/api/instances/origin/ship', {})).bytes;
  const moments: [id: string, part: number, when: () => boolean][] = [
    ['uploading', bundle.length / 2, () => underWay(/upload$/).some((size) => size > 100_000)],
    ['unpacking', bundle.length, () => underWay(/rebuilt\.sqlite$/).length > 0],
    ['creating', bundle.length, () => existsSync(join(folder, 'live', 'creating', 'vfs.sqlite'))],
  ];
  for (const [id, part, when] of moments) {
    const path = `/api/instances/import?tenant=acme&id=${id}`;
    const sent = send('POST', path, bundle.subarray(0, part), bundle.length);
    await killWhen(sent, when);
    expect([id, leftovers()]).toEqual([id, []]);
    const found = await server.call<Instance>('GET', `/api/instances/${id}`);
    // The row is the last step, and the kill may come after it: then the work is there, all of it.
    expect([id, id === 'uploading' ? [404] : [200, 404]]).toEqual([id, expect.arrayContaining([found.status])]);
    if (found.status === 404) {
      expect([id, existsSync(join(folder, 'live', id, 'vfs.sqlite'))]).toEqual([id, false]);
      expect((await server.call('POST', path, bundle)).status).toBe(201);
    }
    expect((await work(id)).bytes.equals(WORK)).toBe(true);
  }
  expect((await work('origin')).bytes.equals(WORK)).toBe(true);
});

test('a ship or a checkout that a kill breaks off leaves no file, and a share only of what was whole', async () => {
  await makeOrigin();
  const moments: [method: string, verb: string, when: () => boolean][] = [
    ['POST', 'ship', () => underWay(/vfs\.sqlite$/).length > 0],
    ['POST', 'ship', () => underWay(/\.zip$/).some((size) => size > 100_000)],
    ['GET', 'checkout', () => bundleProcesses(folder).length > 0],
  ];
  let before = 0;
  for (const [method, verb, when] of moments) {
    const sent = send(method, `/api/instances/origin/${verb}`);
    sent.end();
    await killWhen(sent, when);
    expect([verb, leftovers()]).toEqual([verb, []]);
    // Its row comes before the first byte leaves, and the kill may come after it.
    const shares = (await server.call<Share[]>('GET', '/api/shares')).json;
    expect(shares.filter(({ bytes }) => bytes < WORK.length)).toEqual([]);
    if (verb === 'checkout') before = shares.length;
    expect((await work('origin')).bytes.equals(WORK)).toBe(true);
  }
  expect((await server.call('POST', '/api/instances/origin/ship', {})).status).toBe(200);
  expect((await server.call<Share[]>('GET', '/api/shares')).json).toHaveLength(before + 1);
});
