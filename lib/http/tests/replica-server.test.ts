import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Instance } from '../../contract/schema.ts';
import { filesIn } from '../../testing/files-in.ts';
import { startServer } from '../../testing/server.ts';

type Server = Awaited<ReturnType<typeof startServer>>;
const SOON = { timeout: 240_000 };
let root: string;
let bucket: string;
let server: Server;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-replica-'));
  bucket = join(root, 'bucket');
});
afterEach(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const start = async (folder = 'data') => {
  const settings = { WB_REPLICA_URL: `file://${bucket}` };
  server = await startServer({ folder: join(root, folder), settings });
};
const make = async (id: string, tenant: string, text: string) => {
  await server.call('POST', '/instances', { id, tenant });
  await server.call('PUT', `/api/instances/${id}/volumes/workspace/kept`, text);
};
const segments = (id: string) => filesIn(bucket).filter((name) => name.startsWith(`replica/${id}/`));
const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
/** Files below a folder whose bytes contain a text. */
const holding = (folder: string, text: string) =>
  filesIn(folder).filter((name) => readFileSync(join(folder, name)).includes(text));

test('forgetting a tenant leaves nothing of its sandboxes in the replica, in the spool or where they end', async () => {
  await start();
  await make('a', 'acme', 'MARKER-of-acme');
  await make('other', 'other', 'MARKER-of-other');
  for (const id of ['a', 'other']) {
    await server.call('POST', `/api/instances/${id}/snapshots`, {});
    await server.call('POST', `/instances/${id}/suspend`);
    await vi.waitFor(() => expect(segments(id).length).toBeGreaterThan(1), SOON);
  }
  const copies = () => filesIn(bucket).filter((name) => name.startsWith('replica/_copies/'));
  await vi.waitFor(() => expect(copies()).toHaveLength(2), SOON);
  expect(holding(bucket, 'MARKER-of-acme')).not.toEqual([]);
  const started = await server.call<{ id: string }>('DELETE', '/api/tenants/acme', { confirm: 'acme' });
  await vi.waitFor(async () => {
    const job = await server.call<{ state: string }>('GET', `/api/jobs/${started.json.id}`);
    expect(job.json.state).toBe('done');
  }, SOON);
  expect(holding(bucket, 'MARKER-of-acme')).toEqual([]);
  expect(segments('a')).toEqual([]);
  expect(copies()).toHaveLength(1);
  expect(holding(join(root, 'data'), 'MARKER-of-acme')).toEqual([]);
  expect(filesIn(join(root, 'data', 'replica')).filter((name) => /(?:^|\/)a(?:\.|\/)/.test(name))).toEqual([]);
  expect(holding(bucket, 'MARKER-of-other')).not.toEqual([]);
});

test('the replica of another installation is refused, and nothing in it changes', async () => {
  await start();
  await make('a', 'acme', 'text');
  await server.call('POST', '/instances/a/suspend');
  await vi.waitFor(async () => {
    const { json } = await server.call<Instance>('GET', '/api/instances/a');
    expect(json.recovery_point).toMatchObject({ as: 'filed', behind_s: 0 });
  }, SOON);
  // What the first one goes on to ship of its registry is beside this.
  const seen = () => [...segments('a'), 'winterdock.json'].map((name) => hashOf(join(bucket, name)));
  const before = seen();
  await expect(
    startServer({ folder: join(root, 'second'), settings: { WB_REPLICA_URL: `file://${bucket}` } }),
  ).rejects.toMatchObject({
    extra: { start_refused: 'store_claimed' },
    hint: expect.stringContaining('a prefix of its own in WB_REPLICA_URL'),
  });
  expect(seen()).toEqual(before);
});

test('a replica that is away is said, holds nobody up, and has everything once it is back', async () => {
  await start();
  await make('a', 'acme', 'first');
  await vi.waitFor(() => expect(segments('a').length).toBeGreaterThan(1), SOON);
  renameSync(bucket, `${bucket}-away`);
  await server.call('PUT', '/api/instances/a/volumes/workspace/kept', 'MARKER-later');
  expect((await server.call('POST', '/instances/a/suspend')).status).toBe(200);
  await vi.waitFor(
    async () => expect((await server.call<{ status: string }>('GET', '/readyz')).json.status).toBe('degraded'),
    SOON,
  );
  renameSync(`${bucket}-away`, bucket);
  await vi.waitFor(() => expect(holding(bucket, 'MARKER-later')).not.toEqual([]), SOON);
});

test('a stop and a start go on with the series of each sandbox and of the registry', async () => {
  await start();
  await make('a', 'acme', 'first');
  await vi.waitFor(() => expect(segments('a').length).toBeGreaterThan(1), SOON);
  await vi.waitFor(() => expect(segments('_registry').length).toBeGreaterThan(1), SOON);
  for (const round of ['second', 'third']) {
    await server.stop();
    const before = [segments('a').length, segments('_registry').length];
    await start();
    await server.call('PUT', '/api/instances/a/volumes/workspace/kept', round);
    await vi.waitFor(() => expect(segments('a').length).toBeGreaterThan(before[0] ?? 0), SOON);
    await vi.waitFor(() => expect(segments('_registry').length).toBeGreaterThan(before[1] ?? 0), SOON);
  }
  for (const id of ['a', '_registry']) {
    expect(new Set(segments(id).map((name) => name.split('/')[2])).size, id).toBe(1);
  }
});
