/** A replica in a store that answers and takes nothing: sandboxes go on, it is said, and everything is there later. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Instance } from '../../contract/schema.ts';
import { findMoment, restoreMoment } from '../../replication/moments/replica-reader.ts';
import { TenantBundles } from '../../replication/segment-bundles/bundle-reader.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { type FaultProxy, startFaultProxy } from '../../storage/object-store/testing/fault-proxy.ts';
import {
  connectionTo,
  type S3Server,
  startS3Server,
  useTestKeys,
} from '../../storage/object-store/testing/s3-server.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const SOON = { timeout: 240_000, interval: 100 };
const URL = 's3://bucket/refused';
let root: string;
let store: S3Server;
let proxy: FaultProxy;
let server: TestServer;
let forgetKeys: () => void;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-refused-'));
  forgetKeys = useTestKeys();
  store = await startS3Server();
  proxy = await startFaultProxy(store.endpoint, () => 1);
  server = await startServer({
    folder: join(root, 'data'),
    settings: { WB_REPLICA_URL: URL, WB_STORE_ENDPOINT: proxy.endpoint, WB_STORE_REGION: 'us-east-1' },
  });
  await server.call('POST', '/instances', { id: 'a', tenant: 'acme' });
});
afterAll(async () => {
  await server.stop();
  await proxy.stop();
  await store.stop();
  forgetKeys();
  rmSync(root, { recursive: true, force: true });
});

const put = async (text: string) => {
  const { status } = await server.call('PUT', '/api/instances/a/volumes/workspace/f', text);
  expect(status).toBeLessThan(300);
};
const behind = async () => (await server.call<Instance>('GET', '/api/instances/a')).json.recovery_point?.behind_s;
const ready = async () => (await server.call('GET', '/readyz')).text;

/** What a restore of now has of the file. */
async function restored(): Promise<string | null> {
  const objects = await openObjectStore(URL, connectionTo(store.endpoint));
  const folder = mkdtempSync(join(root, 'restored-'));
  const target = join(folder, 'a.sqlite');
  try {
    const moment = await findMoment(objects, 'a', null, new TenantBundles(objects, 'acme'));
    if (moment === null) return null;
    await restoreMoment(objects, moment, { target, tmp: join(folder, 'tmp'), atRest: true });
  } finally {
    await objects.close();
  }
  const db = new DatabaseSync(target, { readOnly: true });
  const row = db.prepare("SELECT content FROM vfs WHERE path = '/f'").get();
  db.close();
  return row === undefined ? null : Buffer.from(row.content as Uint8Array).toString();
}

test.each([
  [507, 'InsufficientStorage', 'it is full'],
  [403, 'QuotaExceeded', 'it is full'],
  [403, 'AccessDenied', 'it refuses the credentials'],
  [503, 'SlowDown', 'The replica is behind'],
])('that answers %i %s', async (status, code, says) => {
  await put(`before ${code}`);
  await vi.waitFor(async () => expect(await restored()).toBe(`before ${code}`), SOON);
  proxy.refuseWrites({ status, code });
  await put(`meanwhile ${code}`);
  await vi.waitFor(async () => expect(await ready()).toContain(says), SOON);
  await put(`last ${code}`);
  await vi.waitFor(async () => expect(await behind()).toBeGreaterThan(0), SOON);
  expect(await restored()).toBe(`before ${code}`);
  proxy.refuseWrites(null);
  await vi.waitFor(async () => expect(await restored()).toBe(`last ${code}`), SOON);
  await vi.waitFor(async () => expect(await behind()).toBe(0), SOON);
  await vi.waitFor(async () => expect(await ready()).not.toContain('degraded'), SOON);
});
