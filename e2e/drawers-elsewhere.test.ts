/**
 * Drawers on filesystems of their own, as on a machine whose archive is a larger disk: everything works, and a kill
 * between two of them loses nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { State } from '../lib/lifecycle/state-map.ts';
import { holdNamespace, type Namespace } from '../lib/testing/namespace.ts';
import { canMount } from '../lib/testing/private-mounts.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { type Kept, lookWhole, only } from '../lib/testing/whole.ts';

/** Each of them is mounted by itself: a rename from one to the other is refused. */
const ELSEWHERE = ['cold', 'archive', 'snapshots', 'blueprints', 'bundles', 'orphans'];
/** Not what a page or a block explains; large enough that a copy of it can be cut short. */
const BIG = Buffer.alloc(20_000_001, 'what is copied takes a while, ');
/** Milliseconds into a freeze that the server is killed at. */
const KILLED_AFTER_MS = [1, 8, 20, 40, 80];

let folder: string;
let disks: Namespace;
let server: ServerProcess;

const start = () =>
  spawnServer({ folder, within: disks.within, settings: { WB_LOG: 'error', WB_TICK_MS: '3600000', WB_RATE_KEY: '0' } });

beforeEach(async () => {
  if (!canMount) return;
  folder = mkdtempSync(join(tmpdir(), 'winterdock-elsewhere-'));
  const mounts = ELSEWHERE.map((name) => `mkdir ${folder}/${name}; mount -t tmpfs none ${folder}/${name}`);
  disks = await holdNamespace(mounts.join('\n'));
  server = await start();
});
afterEach(async () => {
  if (!canMount) return;
  await server.end('SIGKILL');
  await disks.end();
  rmSync(folder, { recursive: true, force: true });
});

const kept = (state: State, files: Record<string, string | Buffer>): Kept => ({
  states: new Set([state]),
  files: new Map(Object.entries(files).map(([name, bytes]) => [name, only(bytes)])),
});

/** What should be, once what is swept in the background is done. */
async function expectWhole(book: Map<string, Kept>): Promise<void> {
  const look = async () => (await lookWhole({ call: server.call, folder: disks.outside(folder) }, book)).findings;
  await expect.poll(look, { timeout: 240_000 }).toEqual([]);
}

test.runIf(canMount)('every verb and every copy works with drawers on other filesystems', async () => {
  const done = async (method: string, path: string, body?: unknown) => {
    const answer = await server.call(method, `/api${path}`, body);
    expect([method, path, answer.status], answer.text.slice(0, 400)).toEqual([
      method,
      path,
      expect.toSatisfy((n) => n < 300),
    ]);
    return answer;
  };
  const work = { 'workspace/kept': 'the work', 'memory/kept': 'the memory' };
  const book = new Map<string, Kept>();
  await done('POST', '/instances', { id: 'a', tenant: 'acme' });
  for (const [name, text] of Object.entries(work)) await done('PUT', `/instances/a/volumes/${name}`, text);

  const snapshot = (await done('POST', '/instances/a/snapshots', {})).json;
  await done('POST', '/instances/a/suspend', {});
  await done('POST', '/instances/a/freeze', {});
  await expectWhole(book.set('a', kept('frozen', work)));
  await done('POST', '/blueprints', { name: 'base', from_instance: 'a' });
  const bundle = await done('POST', '/instances/a/ship', { include_private: true });
  await done('GET', '/instances/a/checkout');
  await done('POST', '/instances/a/prefetch', {});
  await done('PUT', '/instances/a/volumes/workspace/more', BIG);
  const grown = { ...work, 'workspace/more': BIG };
  await done('POST', '/instances/a/archive', {});
  await expectWhole(book.set('a', kept('archived', grown)));
  await done('POST', '/instances/a/snapshots', {});
  await done('POST', '/instances/a/revive', {});
  await done('POST', '/instances/a/plan', { to: 'frozen' });
  await done('POST', '/instances/a/resume', {});
  await done('POST', '/instances/a/plan', { to: 'archived' });
  await expectWhole(book.set('a', kept('archived', grown)));

  const restored = (await done('POST', `/snapshots/${snapshot.id}/restore`, { tenant: 'acme' })).json[0]?.id;
  const cloned = (await done('POST', '/blueprints/base/clone', { tenant: 'acme' })).json[0]?.id;
  const imported = (await done('POST', '/instances/import?tenant=acme', bundle.bytes)).json.id;
  for (const id of [restored, cloned, imported]) await done('PUT', `/instances/${id}/volumes/workspace/own`, 'its own');
  for (const id of [restored, cloned, imported]) await done('POST', `/instances/${id}/plan`, { to: 'frozen' });
  const clone = { 'workspace/kept': 'the work', 'workspace/own': 'its own' };
  book.set(String(restored), kept('frozen', { ...work, ...clone }));
  book.set(String(cloned), kept('frozen', clone));
  book.set(String(imported), kept('frozen', { ...work, ...clone }));
  await expectWhole(book);

  await done('DELETE', '/instances/a', {});
  book.set('a', kept('deleted', {}));
  await expectWhole(book);
  expect(await server.end('SIGTERM')).toBe(0);
  server = await start();
  await expectWhole(book);
});

test.runIf(canMount)('a kill in the middle of a freeze from one filesystem to another loses nothing', async () => {
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  const put = await server.call('PUT', '/api/instances/a/volumes/workspace/big', BIG);
  expect(put.status).toBe(201);
  const states = new Set<State>(['suspended', 'frozen']);
  const book = new Map([['a', { ...kept('frozen', { 'workspace/big': BIG }), states }]]);
  for (const afterMs of KILLED_AFTER_MS) {
    const suspended = await server.call('POST', '/api/instances/a/plan', { to: 'suspended' });
    expect(suspended.status, suspended.text).toBe(200);
    const freezing = server.call('POST', '/api/instances/a/freeze', {}).catch(() => null);
    await pause(afterMs);
    await server.end('SIGKILL');
    await freezing;
    server = await start();
    await expectWhole(book);
  }
});
