import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { objectNameOf } from '../base/cloud-address.ts';
import type { Instance } from '../contract/schema.ts';
import { registryDriver } from '../registry/drivers.ts';
import { lateStore } from '../storage/object-store/late-store.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { startServer } from '../testing/server.ts';
import type { Finding } from './findings.ts';
import { examineStore } from './store.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-doctor-store-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const bucket = () => join(root, 'bucket');
const url = () => `file://${bucket()}`;

/** Freezes sandboxes of these ids with a store; returns their rows. */
async function frozen(ids: string[]): Promise<Instance[]> {
  const server = await startServer({ folder: join(root, 'data'), settings: { WB_COLD_URL: url(), WB_POOL: '0' } });
  const rows: Instance[] = [];
  for (const id of ids) {
    await server.call('POST', '/instances', { id, tenant: 'acme' });
    await server.call('PUT', `/api/instances/${id}/volumes/workspace/kept`, id);
    await server.call('POST', `/instances/${id}/suspend`);
    rows.push((await server.call<Instance>('POST', `/instances/${id}/freeze`)).json);
  }
  await server.stop();
  return rows;
}

async function found(full = true, at = url()): Promise<[string, string, string | null][]> {
  const findings: Finding[] = [];
  const registry = await registryDriver({ driver: 'sqlite', path: join(root, 'data/registry.sqlite') }).inspect();
  const connection = { endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} };
  const store = lateStore(at, () => openObjectStore(at, connection));
  try {
    await examineStore({ store, registry, full, nowMs: Date.now(), find: (finding) => void findings.push(finding) });
  } finally {
    await store.close();
    await registry.close();
  }
  return findings.map(({ kind, weight, about, path }) => [kind, weight, about ?? path]);
}

test('a store that has what the rows name is well, and what it lost or nobody named is told', async () => {
  const [gone, cut] = await frozen(['gone', 'cut', 'whole']);
  expect(await found()).toEqual([]);
  const pathOf = (row: Instance | undefined) => join(bucket(), objectNameOf(row?.stored?.address ?? ''));
  rmSync(pathOf(gone));
  rmSync(pathOf(cut));
  writeFileSync(pathOf(cut), 'short');
  const old = new Date(Date.now() - 2 * 86_400_000);
  for (const name of ['drawers/cold/strange', 'drawers/cold/young']) writeFileSync(join(bucket(), name), 'x');
  utimesSync(join(bucket(), 'drawers/cold/strange'), old, old);
  expect((await found()).sort()).toEqual([
    ['object.changed', 'wrong', 'cut'],
    ['object.missing', 'wrong', 'gone'],
    ['object.unknown', 'note', 'drawers/cold/strange'],
  ]);
  expect(await found(false)).toEqual([]);
});

test('of a store that is away, empty or another installation’s nothing is concluded', async () => {
  await frozen(['a']);
  renameSync(bucket(), `${bucket()}-elsewhere`);
  mkdirSync(bucket());
  expect(await found()).toEqual([['store.unmarked', 'wrong', null]]);
  writeFileSync(join(bucket(), 'winterdock.json'), '{"id":"somebody","term":1}');
  expect(await found()).toEqual([['store.foreign', 'wrong', null]]);
  expect(await found(true, `file://${root}/not/there`)).toEqual([['store.away', 'wrong', null]]);
});
