/** A replica whose store was emptied, cut short, put back to what it was, or is away when the server starts. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Instance } from '../../contract/schema.ts';
import { findMoment, restoreMoment } from '../../replication/moments/replica-reader.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { filesIn } from '../../testing/files-in.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const SOON = { timeout: 240_000 };
const CONNECTION = { endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} };
let root: string;
let bucket: string;
let server: TestServer | null;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-replaced-'));
  bucket = join(root, 'disk', 'bucket');
  mkdirSync(dirname(bucket));
  server = null;
});
afterEach(async () => {
  await server?.stop();
  rmSync(root, { recursive: true, force: true });
});

async function start(): Promise<TestServer> {
  server = await startServer({ folder: join(root, 'data'), settings: { WB_REPLICA_URL: `file://${bucket}` } });
  return server;
}
async function stop(): Promise<void> {
  await server?.stop();
  server = null;
}
const put = async (text: string) => {
  const { status } = (await server?.call('PUT', '/api/instances/a/volumes/workspace/f', text)) ?? { status: 0 };
  expect(status).toBeLessThan(300);
};
/** Suspends it, and waits until the server says that the replica has everything. */
const rest = async () => {
  await server?.call('POST', '/api/instances/a/suspend');
  await vi.waitFor(async () => {
    const shown = await server?.call<Instance>('GET', '/api/instances/a');
    expect(shown?.json.recovery_point).toMatchObject({ as: 'filed', behind_s: 0 });
  }, SOON);
};
/** What a restore of now has of the file; null: nothing. */
async function restored(): Promise<string | null> {
  const store = await openObjectStore(`file://${bucket}`, CONNECTION);
  const folder = mkdtempSync(join(root, 'restored-'));
  try {
    const moment = await findMoment(store, 'a', null, null);
    if (moment === null) return null;
    const target = join(folder, 'a.sqlite');
    await restoreMoment(store, moment, { target, tmp: join(folder, 'tmp'), atRest: true });
    const db = new DatabaseSync(target, { readOnly: true });
    const row = db.prepare("SELECT content FROM vfs WHERE path = '/f'").get();
    db.close();
    return row === undefined ? null : Buffer.from(row.content as Uint8Array).toString();
  } finally {
    await store.close();
  }
}
/** A sandbox at rest with `one`, and then `two`; the store as it was in between is beside it. */
async function twoStates(): Promise<string> {
  const { call } = await start();
  await call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await put('one');
  await rest();
  const before = join(root, 'before');
  cpSync(bucket, before, { recursive: true });
  await put('two');
  await rest();
  await stop();
  expect(await restored()).toBe('two');
  return before;
}

test.each([
  ['was emptied', async (_before: string) => rmSync(bucket, { recursive: true })],
  [
    'was put back to what it was',
    async (before: string) => {
      rmSync(bucket, { recursive: true });
      renameSync(before, bucket);
    },
  ],
  [
    'lacks a base',
    async (_before: string) => {
      for (const path of filesIn(bucket)) if (/^replica\/a\/.*\/9\//.test(path)) rmSync(join(bucket, path));
    },
  ],
  [
    'lacks the last segment',
    async (_before: string) => {
      const last = filesIn(bucket)
        .filter((path) => path.startsWith('replica/a/') && path.includes('/ltx/0/'))
        .at(-1);
      rmSync(join(bucket, last ?? 'none'));
    },
  ],
  [
    'has half of the last segment',
    async (_before: string) => {
      const last = filesIn(bucket)
        .filter((path) => path.startsWith('replica/a/') && path.includes('/ltx/0/'))
        .at(-1);
      writeFileSync(join(bucket, last ?? 'none'), 'half');
    },
  ],
])(
  'a replica whose store %s while the server was down has all that was written, once the server says so',
  async (_what, spoil) => {
    const before = await twoStates();
    await spoil(before);
    const { call } = await start();
    await vi.waitFor(async () => {
      const { json } = await call('GET', '/api/events?type=replica.gap&instance=a');
      expect(json).toMatchObject([{ reason: 'the store lacks what it was given' }]);
    }, SOON);
    await put('three');
    await rest();
    expect(await restored()).toBe('three');
  },
);

test('a server whose replica is away starts, says so, and ships once it is back', async () => {
  await twoStates();
  // A disk that is not there.
  renameSync(dirname(bucket), join(root, 'away'));
  const { call } = await start();
  await put('three');
  expect((await call('GET', '/api/instances/a/volumes/workspace/f')).text).toBe('three');
  await vi.waitFor(async () => {
    const { json } = await call<{ status: string }>('GET', '/readyz');
    expect(json.status).toBe('degraded');
  }, SOON);
  renameSync(join(root, 'away'), dirname(bucket));
  await rest();
  expect(await restored()).toBe('three');
});

test('a replica that is removed and made anew while the server runs is filled again by itself', async () => {
  await start();
  await server?.call('POST', '/instances', { id: 'a', tenant: 'acme' });
  await put('one');
  await server?.call('POST', '/api/instances/a/snapshots', {});
  await rest();
  const copies = () => filesIn(bucket).filter((name) => name.startsWith('replica/_copies/'));
  await vi.waitFor(() => expect(copies()).toHaveLength(1), SOON);
  rmSync(bucket, { recursive: true });
  await put('two');
  await vi.waitFor(async () => expect((await server?.call('GET', '/readyz'))?.text).toContain('is not there'), SOON);
  // What is not there is made by nobody but who runs the machine.
  expect(existsSync(bucket)).toBe(false);
  mkdirSync(bucket);
  await vi.waitFor(async () => expect(await restored()).toBe('two'), SOON);
  await vi.waitFor(() => expect(copies()).toHaveLength(1), SOON);
  await rest();
  expect((await server?.call<{ status: string }>('GET', '/readyz'))?.json.status).toBe('ok');
});
