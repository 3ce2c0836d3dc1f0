import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Event, Instance } from '../lib/contract/schema.ts';
import { processesOf } from '../lib/testing/leftovers.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { TEST_KEY } from '../lib/testing/server.ts';

let folder: string;
let server: ServerProcess;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-durability-'));
  server = await spawnServer({ folder });
});
afterEach(async () => {
  await server.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

function call(method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(`${server.url}/api${path}`, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...init,
    headers: { authorization: `Bearer ${TEST_KEY}`, ...init.headers },
  });
}

test('kill -9 with ten sandboxes being written to loses no answered write, leaves nothing stuck and no process behind', async () => {
  const ids = Array.from({ length: 10 }, (_, n) => `box-${n}`);
  for (const id of ids) expect((await call('POST', '/instances', { id, tenant: 'acme' })).status).toBe(201);
  const answered = new Map<string, number>(ids.map((id) => [id, -1]));
  let going = true;
  const writers = ids.map(async (id, index) => {
    for (let n = 0; going; n += 1) {
      try {
        const answer =
          index % 2 === 0
            ? await call('PUT', `/instances/${id}/volumes/workspace/f-${n}`, `value ${n}`)
            : await call('POST', `/instances/${id}/exec`, { command: `printf 'value ${n}' > /workspace/f-${n}` });
        if (answer.ok) answered.set(id, n);
      } catch {
        // The server is being killed: what was not answered may be lost.
        return;
      }
    }
  });
  await expect.poll(() => Math.min(...answered.values()), { timeout: 240_000 }).toBeGreaterThan(5);
  expect(await server.end('SIGKILL')).toBe('SIGKILL');
  going = false;
  await Promise.all(writers);
  await expect.poll(() => processesOf(folder), { timeout: 240_000 }).toEqual([]);

  server = await spawnServer({ folder });
  const instances = (await (await call('GET', '/instances?tenant=acme')).json()) as Instance[];
  expect(instances.map(({ state, pending, fault }) => ({ state, pending, fault }))).toEqual(
    ids.map(() => ({ state: 'suspended', pending: null, fault: null })),
  );
  for (const [id, last] of answered) {
    for (let n = 0; n <= last; n += 1) {
      const file = await call('GET', `/instances/${id}/volumes/workspace/f-${n}`);
      expect(await file.text(), `${id} f-${n} of ${last}`).toBe(`value ${n}`);
    }
    const events = (await (await call('GET', `/instances/${id}/events?type=transition`)).json()) as Event[];
    expect(events[0]).toMatchObject({ from: 'active', to: 'suspended', trigger: 'boot' });
    const run = await call('POST', `/instances/${id}/exec`, { command: `cat f-${last}` });
    expect(await run.json()).toMatchObject({ stdout: `value ${last}`, woke: 'cold' });
  }
});

test('kill -9 while a command has a file open and another writes leaves the file as it was and what was answered in place', async () => {
  await call('POST', '/instances', { id: 'a', tenant: 'acme' });
  expect((await call('PUT', '/instances/a/volumes/workspace/kept', 'precious')).status).toBe(201);
  const running = call('POST', '/instances/a/exec', { command: 'echo ended > ended; sleep 30 > kept' }).catch(
    () => null,
  );
  await expect
    .poll(async () => (await call('GET', '/instances/a/volumes/workspace/ended')).status, { timeout: 240_000 })
    .toBe(200);
  await pause(200);
  expect((await call('PUT', '/instances/a/volumes/workspace/other', 'theirs')).status).toBe(201);
  expect(await (await call('GET', '/instances/a/volumes/workspace/kept')).text()).toBe('precious');
  await server.end('SIGKILL');
  await running;
  server = await spawnServer({ folder });
  for (const [name, content] of [
    ['kept', 'precious'],
    ['other', 'theirs'],
    ['ended', 'ended\n'],
  ]) {
    expect(await (await call('GET', `/instances/a/volumes/workspace/${name}`)).text()).toBe(content);
  }
  // The folder is cleared away at the start and made again for the first worker.
  expect(existsSync(join(folder, 'spill')) ? readdirSync(join(folder, 'spill')) : []).toEqual([]);
});

test('SIGTERM with open streams and a running command suspends cleanly, and does not wait for the command', async () => {
  await call('POST', '/instances', { id: 'a', tenant: 'acme' });
  await call('PUT', '/instances/a/volumes/workspace/x', 'kept');
  const stream = await call('GET', '/events/stream');
  const reading = stream.text().catch(() => 'cut');
  const running = call('POST', '/instances/a/exec', {
    command: 'echo begun > begun; sleep 50; echo over > over',
  }).catch(() => null);
  await expect
    .poll(async () => (await call('GET', '/instances/a/volumes/workspace/begun')).status, { timeout: 240_000 })
    .toBe(200);
  expect(await server.end('SIGTERM')).toBe(0);
  await Promise.all([reading, running]);
  expect(readdirSync(join(folder, 'live', 'a'))).toEqual(['vfs.sqlite']);
  expect(processesOf(folder)).toEqual([]);

  server = await spawnServer({ folder });
  const instance = (await (await call('GET', '/instances/a')).json()) as Instance;
  expect(instance).toMatchObject({ state: 'suspended', fault: null, pending: null });
  const events = (await (await call('GET', '/instances/a/events?type=transition')).json()) as Event[];
  expect(events[0]).toMatchObject({ from: 'active', to: 'suspended', trigger: 'stop' });
  expect(await (await call('GET', '/instances/a/volumes/workspace/x')).text()).toBe('kept');
  expect((await call('GET', '/instances/a/volumes/workspace/over')).status).toBe(404);
});

test('two servers never share a data folder', async () => {
  await expect(spawnServer({ folder })).rejects.toThrow(/data folder/i);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});
