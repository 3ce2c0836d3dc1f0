import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { objectNameOf } from '../base/cloud-address.ts';
import type { Instance } from '../contract/schema.ts';
import { driverOfTests, settingsOfTests } from '../registry/testing/registry-of-tests.ts';
import { lateStore } from '../storage/object-store/late-store.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { programOf } from '../testing/program.ts';
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
  const registry = await driverOfTests(join(root, 'data')).inspect();
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

test('what killed probes left is told once it is a day old, and --fix removes it, and nothing else', async () => {
  await frozen(['a']);
  const place = '3f0e8a52-9d3a-4c11-8a52-1f0c7b1d2e3f';
  const names = ['a', 'b'].map((end) => `probe/${place}/${end}`);
  const others = ['probe/notes.txt', `probe/${place.replace('3f0e', '0000')}/a`, 'drawers/cold/strange'];
  for (const name of [...names, ...others]) {
    mkdirSync(dirname(join(bucket(), name)), { recursive: true });
    writeFileSync(join(bucket(), name), '0123456789');
  }
  const old = new Date(Date.now() - 25 * 3_600_000);
  for (const name of [...names, 'probe/notes.txt', 'drawers/cold/strange']) utimesSync(join(bucket(), name), old, old);
  expect((await found(false)).sort()).toEqual(names.map((name) => ['probe.left', 'note', name]));
  const program = programOf(fileURLToPath(new URL('../../scripts/doctor.ts', import.meta.url)));
  const { stdout, status } = spawnSync(process.execPath, [program, '--fix'], {
    env: { ...process.env, ...settingsOfTests(join(root, 'data')), WB_DATA: join(root, 'data'), WB_COLD_URL: url() },
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([0, expect.stringContaining('done: 2 objects of killed probes were removed')]);
  expect(names.map((name) => existsSync(join(bucket(), name)))).toEqual([false, false]);
  expect(others.map((name) => existsSync(join(bucket(), name)))).toEqual([true, true, true]);
  expect((await found()).sort()).toEqual([
    ['object.unknown', 'note', 'drawers/cold/strange'],
    ['object.unknown', 'note', 'probe/notes.txt'],
  ]);
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
