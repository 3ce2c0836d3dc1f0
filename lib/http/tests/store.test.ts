import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Blueprint, Instance, Problem, ResumeAnswer, Snapshot, Storage } from '../../contract/schema.ts';
import { filesIn } from '../../testing/files-in.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let root: string;
let bucket: string;
let server: TestServer;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-http-store-'));
  bucket = join(root, 'bucket');
});
afterEach(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

async function start(settings: Record<string, string> = {}): Promise<void> {
  server = await startServer({
    folder: join(root, 'data'),
    settings: { WB_COLD_URL: `file://${bucket}`, WB_POOL: '0', ...settings },
  });
}
const of = (id: string) => server.call<Instance>('GET', `/instances/${id}`).then(({ json }) => json);
const storage = () => server.call<Storage>('GET', '/api/settings/storage').then(({ json }) => json.store);
const objects = () => filesIn(bucket).filter((path) => path.startsWith('drawers/'));
const read = (id: string) => server.call('GET', `/api/instances/${id}/volumes/workspace/kept`).then(({ text }) => text);

async function make(id: string, text = `of ${id}`): Promise<void> {
  await server.call('POST', '/instances', { id, tenant: 'acme' });
  expect((await server.call('PUT', `/api/instances/${id}/volumes/workspace/kept`, text)).status).toBe(201);
}
async function freeze(id: string): Promise<Instance> {
  await server.call('POST', `/instances/${id}/suspend`);
  const frozen = await server.call<Instance>('POST', `/instances/${id}/freeze`);
  expect([frozen.status, frozen.json.state]).toEqual([200, 'frozen']);
  return frozen.json;
}

test('a frozen sandbox says where its object is, and wakes from it on a machine that has lost its drawers', async () => {
  await start();
  await make('a');
  expect(await of('a')).toMatchObject({ stored: null, upload: 'none', host: expect.any(String), term: 1 });
  const frozen = await freeze('a');
  expect(frozen.vfs_path).toMatch(/^cloud:cold\/a\/\d+-[\w-]+$/);
  expect(frozen).toMatchObject({
    stored: { address: frozen.vfs_path, bytes: frozen.bytes, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    upload: 'none',
    host: null,
    term: null,
  });
  rmSync(join(server.folder, 'cold'), { recursive: true });
  mkdirSync(join(server.folder, 'cold'));
  const woken = await server.call<ResumeAnswer>('POST', '/instances/a/resume');
  expect(woken.json).toMatchObject({ path: 'cold', source: 'cloud' });
  expect(await read('a')).toBe('of a');
  expect(woken.json.instance.stored).toEqual(frozen.stored);
});

test('what was lost with the disk comes back from its last object by a person’s word, with a reason', async () => {
  await start();
  await make('a');
  await freeze('a');
  await server.call('PUT', '/api/instances/a/volumes/workspace/kept', 'since then');
  await server.call('POST', '/instances/a/suspend');
  rmSync(join(server.folder, 'live/a'), { recursive: true });
  const missing = await server.call<Problem>('POST', '/instances/a/resume');
  expect([missing.status, missing.json.code]).toEqual([409, 'missing_file']);
  const again = await server.call<Problem>('POST', '/instances/a/resume');
  expect(again.json.hint).toMatch(/^Resume it from the store/);
  const silent = await server.call<Problem>('POST', '/instances/a/resume', { from: 'stored' });
  expect([silent.status, silent.json.errors]).toEqual([422, [expect.objectContaining({ path: 'reason' })]]);
  const woken = await server.call<ResumeAnswer>('POST', '/instances/a/resume', { from: 'stored', reason: 'disk lost' });
  expect([woken.status, woken.json.instance.fault]).toEqual([200, null]);
  expect(await read('a')).toBe('of a');
  const { json: lines } = await server.call<{ type: string; reason: string }[]>('GET', '/instances/a/events');
  expect(lines.find(({ type }) => type === 'file.restored')?.reason).toMatch(/^disk lost \(.*since is lost\)$/);
});

test('a store that is away refuses who waits, leaves what is here alone, and is told by /readyz', async () => {
  await start();
  await make('a');
  await make('b');
  await freeze('a');
  renameSync(bucket, `${bucket}-elsewhere`);
  await server.call('POST', '/instances/b/suspend');
  const refused = await server.call<Problem>('POST', '/instances/b/freeze');
  expect([refused.status, refused.json.code]).toEqual([503, 'storage_unavailable']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(await of('b')).toMatchObject({
    state: 'frozen',
    upload: expect.stringMatching(/^(queued|running)$/),
    fault: null,
  });
  // Both are on this disk.
  for (const id of ['a', 'b']) expect(await read(id)).toBe(`of ${id}`);
  const ready = await server.call<{ status: string; because: string[] }>('GET', '/readyz');
  expect([ready.status, ready.json.status]).toEqual([200, 'degraded']);
  expect(ready.json.because).toEqual([expect.stringMatching(/^The object store is away/)]);
  const told = await storage();
  expect(told).toMatchObject({ away: { why: ready.json.because[0] } });
  expect((told?.uploads.queued ?? 0) + (told?.uploads.running ?? 0)).toBe(1);
  const metrics = (await server.call('GET', '/metrics')).text;
  expect(metrics).toContain('winterdock_store_away 1');
  expect(metrics).toMatch(/winterdock_upload_queue\{stat="(queued|running)"\} 1/);
  expect(metrics).toMatch(/winterdock_store_requests_total\{op="\w+",outcome="storage_unavailable"\} [1-9]/);
  renameSync(`${bucket}-elsewhere`, bucket);
  await vi.waitFor(
    async () => expect(await storage()).toMatchObject({ away: null, uploads: { queued: 0 }, rows: 2 }),
    60_000,
  );
  expect((await server.call<Instance>('POST', '/instances/b/freeze')).status).toBe(200);
});

test('snapshots and blueprints are stored once for each tenant, and come back when their file is not here', async () => {
  await start();
  await make('a');
  const { json: snapshot } = await server.call<Snapshot>('POST', '/api/instances/a/snapshots', {});
  const made = await server.call<Blueprint>('POST', '/api/blueprints', { name: 'base', from_instance: 'a' });
  expect(made.status).toBe(201);
  const stored = (kind: string) => objects().filter((path) => path.startsWith(`drawers/${kind}/acme/`)).length;
  await vi.waitFor(() => expect([stored('snapshot'), stored('blueprint')]).toEqual([2, 2]), 240_000);
  for (const folder of ['snapshots', 'blueprints'])
    for (const name of readdirSync(join(server.folder, folder)))
      rmSync(join(server.folder, folder, name), { recursive: true });
  const { json: restored } = await server.call<Instance[]>('POST', `/api/snapshots/${snapshot.id}/restore`, {
    tenant: 'acme',
  });
  const { json: cloned } = await server.call<Instance[]>('POST', '/api/blueprints/base/clone', { tenant: 'acme' });
  for (const { id } of [...restored, ...cloned]) {
    expect((await server.call<ResumeAnswer>('POST', `/instances/${id}/resume`)).status).toBe(200);
    expect(await read(id)).toBe('of a');
  }
  // Nothing needs them any more: a day later the collector removes them.
  await server.call('DELETE', `/api/snapshots/${snapshot.id}`);
  await vi.waitFor(async () => {
    const names = await server.host.registry.storeNames.ofTenant('acme', '', 10);
    expect(names.filter(({ kind }) => kind === 'snapshot').map(({ state }) => state)).toEqual(['superseded']);
  }, 240_000);
});

test('a copy whose bytes in the store are others is refused, and nothing takes its place', async () => {
  await start();
  await make('a');
  const { json: snapshot } = await server.call<Snapshot>('POST', '/api/instances/a/snapshots', {});
  const object = await vi.waitFor(() => {
    const [name] = objects().filter((path) => path.startsWith('drawers/snapshot/') && !path.endsWith('.json'));
    if (name === undefined || !objects().includes(`${name}.row.json`)) throw new Error('not stored yet');
    return join(bucket, name);
  }, 240_000);
  const local = join(
    server.folder,
    'snapshots',
    readdirSync(join(server.folder, 'snapshots')).filter((name) => name.endsWith('.sqlite'))[0] ?? '',
  );
  await vi.waitFor(
    async () =>
      expect(
        await server.host.registry.storeNames.copyName('snapshot', snapshot.hash.slice('sha256:'.length)),
      ).not.toBeNull(),
    60_000,
  );
  renameSync(local, join(root, 'kept'));
  rmSync(object);
  writeFileSync(object, 'something else');
  const refused = await server.call<Problem>('POST', `/api/snapshots/${snapshot.id}/restore`, { tenant: 'acme' });
  expect([refused.status, refused.json.code]).toEqual([409, 'corrupt']);
  expect(readdirSync(join(server.folder, 'snapshots')).filter((name) => name.endsWith('.sqlite'))).toEqual([]);
  cpSync(join(root, 'kept'), local);
  expect((await server.call('POST', `/api/snapshots/${snapshot.id}/restore`, { tenant: 'acme' })).status).toBe(201);
});

test('forgetting a tenant takes its objects with it, by the names that the registry has', async () => {
  await start();
  await make('a');
  await server.call('POST', '/api/instances/a/snapshots', {});
  await freeze('a');
  await server.call('POST', '/instances', { id: 'other', tenant: 'other' });
  await server.call('PUT', '/api/instances/other/volumes/workspace/kept', 'of other');
  await freeze('other');
  await vi.waitFor(() => expect(objects().filter((path) => path.includes('/acme/')).length).toBe(2), 240_000);
  writeFileSync(join(bucket, 'drawers/cold/not-ours'), 'of nobody');
  const plan = await server.call<{ store: unknown }>('DELETE', '/api/tenants/acme', { dry_run: true });
  expect(plan.json.store).toEqual({ objects: 2, remain_until: null });
  const started = await server.call<{ id: string }>('DELETE', '/api/tenants/acme', { confirm: 'acme' });
  await vi.waitFor(async () => {
    const job = await server.call<{ state: string }>('GET', `/api/jobs/${started.json.id}`);
    expect(job.json.state).toBe('done');
  }, 240_000);
  expect(objects().filter((path) => path.includes('acme') || path.startsWith('drawers/cold/a/'))).toEqual([]);
  expect(objects().filter((path) => path.startsWith('drawers/cold/'))).toHaveLength(3);
  expect(await server.host.registry.storeNames.ofTenant('acme', '', 10)).toEqual([]);
});

test('a start without the store that rows name is refused with their number and both ways out', async () => {
  await start();
  await make('a');
  await freeze('a');
  await server.stop();
  await expect(startServer({ folder: join(root, 'data') })).rejects.toMatchObject({
    message: expect.stringMatching(/The files of 1 sandbox are in an object store[\s\S]*WB_COLD_URL[\s\S]*store:move/),
    extra: { start_refused: 'store_not_set' },
  });
  // Another installation's place is not taken.
  await expect(
    startServer({ folder: join(root, 'second'), settings: { WB_COLD_URL: `file://${bucket}` } }),
  ).rejects.toMatchObject({ extra: { start_refused: 'store_claimed' } });
  // Nor is one begun with that is not there; one that was used may be away.
  await expect(
    startServer({ folder: join(root, 'third'), settings: { WB_COLD_URL: `file://${root}/not/there` } }),
  ).rejects.toMatchObject({ extra: { start_refused: 'store_unusable' } });
  renameSync(bucket, `${bucket}-elsewhere`);
  await start();
  await vi.waitFor(
    async () => expect((await server.call<{ status: string }>('GET', '/readyz')).json.status).toBe('degraded'),
    60_000,
  );
  expect((await server.call<ResumeAnswer>('POST', '/instances/a/resume')).json.source).toBe('cold');
});
