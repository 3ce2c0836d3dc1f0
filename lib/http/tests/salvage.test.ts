import { copyFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Event, Instance, SalvageAnswer } from '../../contract/schema.ts';
import { plant } from '../../testing/faulted.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const FILES = 300;
const PAGE = 4096;

let server: TestServer;
let whole: string;
beforeAll(async () => {
  server = await startServer({ settings: { WB_POOL: '0' } });
  await server.call('POST', '/api/instances', { id: 'model', tenant: 'acme' });
  await server.call('POST', '/api/instances/model/exec', {
    command: `for n in $(seq 1 ${FILES}); do echo "the text of $n, again and again and again and again and again" > file-$n; done; head -c 300000 /dev/zero > large`,
  });
  await server.call('PUT', '/api/instances/model/volumes/memory/kept', 'the memory');
  await server.call('POST', '/api/instances/model/suspend');
  whole = join(server.folder, 'whole.sqlite');
  copyFileSync(join(server.folder, 'live/model/vfs.sqlite'), whole);
});
afterAll(() => server.stop());

const salvage = (id: string, body: object = {}) =>
  server.call<SalvageAnswer>('POST', `/api/instances/${id}/salvage`, body);
const text = async (id: string, path: string, volume = 'workspace') =>
  (await server.call('GET', `/api/instances/${id}/volumes/${volume}${path}`)).text;

/** Overwrites some pages in the middle of a file. */
function ruin(path: string, from: number, count: number): void {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0x55, from * PAGE, (from + count) * PAGE));
}

test.each(['suspended', 'frozen'] as const)(
  'the readable files of a damaged sandbox that is %s go into a new one, and the rest is listed by name',
  async (state) => {
    const { id, path } = await plant(server.host, whole, { id: `sick-${state}`, state, fault: 'corrupt' });
    copyFileSync(whole, path);
    ruin(path, 6, 3);
    const damaged = readFileSync(path);
    const { status, json, headers } = await salvage(id, {
      id: `well-${state}`,
      name: `saved ${state}`,
      reason: 'ticket 9',
    });
    expect(status).toBe(201);
    expect(headers.location).toBe(`/api/instances/well-${state}`);
    expect(json.instance).toMatchObject({
      id: `well-${state}`,
      name: `saved ${state}`,
      tenant: 'acme',
      state: 'created',
      fault: null,
      lineage: { parent: id },
    });
    expect(json.recovered).toBeGreaterThan(FILES / 2);
    expect(json.lost_count).toBeGreaterThan(0);
    expect(json.recovered + json.lost.filter((one) => one.path !== null).length).toBe(FILES + 2);
    expect(readFileSync(path).equals(damaged)).toBe(true);
    // Whole, and awake.
    const lost = new Set(json.lost.map((one) => one.path));
    const kept = Array.from({ length: FILES }, (_, n) => `/file-${n + 1}`).filter((name) => !lost.has(name));
    const ran = await server.call('POST', `/api/instances/well-${state}/exec`, {
      command: `cat ${kept[0]?.slice(1)}; ls | wc -l`,
    });
    expect(ran.json.stdout).toContain('again and again');
    expect((await text(`well-${state}`, json.list ?? '', 'memory')).trim().split('\n')).toHaveLength(json.lost_count);
    const events = async (of: string) => (await server.call<Event[]>('GET', `/api/instances/${of}/events`)).json;
    expect((await events(`well-${state}`)).at(-1)).toMatchObject({
      type: 'instance.created',
      reason: expect.stringContaining(`salvaged from ${id}: ${json.recovered} files recovered`),
    });
    expect((await events(id))[0]).toMatchObject({
      type: 'instance.salvaged',
      reason: expect.stringMatching(/^ticket 9 \(into well-/),
    });
    expect((await server.call<Instance>('GET', `/api/instances/${id}`)).json).toMatchObject({
      state,
      fault: 'corrupt',
    });
  },
);

test('a truncated archived file yields everything before the cut', async () => {
  const { json: sound } = await salvage(
    (await plant(server.host, whole, { id: 'sound', state: 'archived', fault: null })).id,
  );
  expect([sound.recovered, sound.lost_count]).toEqual([FILES + 2, 0]);
  expect(await text(sound.instance.id, '/kept', 'memory')).toBe('the memory');
  truncateSync(join(server.folder, 'archive/sound.sqlite.zst'), 3000);
  const cut = await salvage('sound');
  if (cut.status === 201) expect(cut.json.lost.some(({ path }) => path === null)).toBe(true);
  else expect(cut.json).toMatchObject({ status: 409, code: 'corrupt' });
});

test('a sandbox with nothing to salvage, awake, or without room is refused, and nothing is made', async () => {
  const before = readdirSync(join(server.folder, 'live'));
  const { id, path } = await plant(server.host, whole, { id: 'noise', state: 'frozen', fault: 'corrupt' });
  writeFileSync(path, Buffer.alloc(PAGE * 4, 0x55));
  expect((await salvage(id)).json).toMatchObject({ status: 409, code: 'corrupt' });
  const { id: gone } = await plant(server.host, whole, { id: 'gone', state: 'frozen', fault: 'missing' });
  expect((await salvage(gone)).json).toMatchObject({ status: 409, code: 'missing_file' });
  const { id: full } = await plant(server.host, whole, { id: 'full', state: 'frozen', fault: 'corrupt' });
  copyFileSync(whole, join(server.folder, 'cold/full.sqlite'));
  expect((await salvage(full, { id: 'noise' })).json).toMatchObject({ status: 409, code: 'conflict' });
  await server.call('PATCH', '/api/tenants/acme', { max_bytes: 1000 });
  expect((await salvage(full)).json).toMatchObject({ status: 429, code: 'quota_exceeded' });
  await server.call('PATCH', '/api/tenants/acme', { max_bytes: null });
  expect((await salvage(full)).status).toBe(201);
  await server.call('POST', '/api/instances/model/resume');
  expect((await salvage('model')).json).toMatchObject({ status: 409, code: 'conflict' });
  expect(readdirSync(join(server.folder, 'live')).length).toBe(before.length + 1);
  const types = (await server.call<Event[]>('GET', '/api/instances/noise/events?type=salvage.failed')).json;
  expect(types).toHaveLength(1);
  await expect.poll(() => readdirSync(join(server.folder, 'bundles'))).toEqual([]);
});

test('a file that bears another’s mark is not salvaged into the tenant’s hands', async () => {
  const { id, path } = await plant(server.host, whole, { id: 'swapped', state: 'frozen', fault: 'corrupt' });
  const row = await server.host.registry.instances.get(id);
  if (row?.file === null || row === null) throw new Error('no file');
  await server.host.registry.instances.commit({
    ...row,
    from: 'frozen',
    to: 'frozen',
    file: { ...row.file, identity: 'f'.repeat(32) },
    fault: { fault: 'corrupt', reason: 'it is not the file that was filed' },
    now: row.updated,
    ledger: [],
  });
  copyFileSync(whole, path);
  expect((await salvage(id)).json).toMatchObject({
    status: 409,
    code: 'conflict',
    detail: expect.stringContaining('another sandbox’s'),
  });
});
