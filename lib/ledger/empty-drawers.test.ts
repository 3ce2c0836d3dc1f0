import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cloudAddress, objectNameOf } from '../base/cloud-address.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { Registry } from '../registry/registry.ts';
import { entry, FILE, instance, intent, START, transitionTo } from '../registry/testing/fixtures.ts';
import { driverOfTests, openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import type { InstanceRow, RowOwner } from '../registry/types.ts';
import { createDiskDrawers } from '../storage/disk.ts';
import { findEmptyDrawers } from './empty-drawers.ts';

const TWO: RowOwner = { host: 'two', term: 1, token: 'of two' };

let root: string;
let registry: Registry;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-empty-'));
  registry = await openRegistryOfTests(root);
});
afterEach(async () => {
  await registry.close();
  rmSync(root, { recursive: true, force: true });
});

/** A row of a sandbox at rest whose file has four bytes. No file is made. */
async function rests(id: string, to: 'suspended' | 'frozen', owner?: RowOwner): Promise<InstanceRow> {
  const whose = owner === undefined ? {} : { owner };
  let row = await registry.instances.create(instance(id), START, entry());
  const path = { suspended: `live/${id}/vfs.sqlite`, frozen: `cold/${id}.sqlite` };
  for (const state of ['active', 'suspended', 'frozen'] as State[]) {
    if (owner !== undefined) await registry.instances.begin(row.id, intent(row, { to: state }), { owner });
    const vfsPath = state === 'frozen' ? path.frozen : path.suspended;
    row = await registry.instances.commit(transitionTo(row, state, { vfsPath, file: { ...FILE, size: 4 }, ...whose }));
    if (state === to) return row;
  }
  return row;
}
function lay(path: string, bytes = 4): void {
  mkdirSync(dirname(join(root, 'data', path)), { recursive: true });
  writeFileSync(join(root, 'data', path), 'x'.repeat(bytes));
}
async function empty(host: string | null = null) {
  const moment = await driverOfTests(root).inspect();
  const dataFolder = join(root, 'data');
  try {
    const found = await findEmptyDrawers({ dataFolder, drawers: createDiskDrawers(dataFolder) }, moment, host);
    return found.map(({ name, looked }) => `${name} ${looked}`);
  } finally {
    await moment.close();
  }
}

test('a drawer with one file of many is not away, and neither is one whose file another drawer has', async () => {
  for (let n = 0; n < 40; n += 1) await rests(`s${n}`, 'suspended');
  expect(await empty()).toEqual(['live 32']);
  // Not one of those that are looked for: a name that is known is enough.
  lay('live/s0/vfs.sqlite');
  expect(await empty()).toEqual([]);
  rmSync(join(root, 'data'), { recursive: true });
  lay('cold/s39.sqlite');
  lay('live/of-another/vfs.sqlite');
  expect(await empty()).toEqual([]);
});

test('files of another installation under the same names are not the files', async () => {
  for (const id of ['a', 'b']) {
    await rests(id, 'frozen');
    lay(`cold/${id}.sqlite`, 9);
  }
  expect(await empty()).toEqual(['cold 2']);
  lay('cold/b.sqlite');
  expect(await empty()).toEqual([]);
});

test('one file that is gone is lost, but for a drawer without a folder or with nobody’s files', async () => {
  await rests('a', 'frozen');
  expect(await empty()).toEqual(['cold 1']);
  mkdirSync(join(root, 'data/cold'), { recursive: true });
  expect(await empty()).toEqual([]);
  lay('cold/of-another.sqlite');
  expect(await empty()).toEqual(['cold 1']);
  rmSync(join(root, 'data'), { recursive: true });
  await registry.instances.setFault('a' as never, { fault: 'missing', reason: 'known' }, entry());
  expect(await empty()).toEqual([]);
});

test('files that the store has, or another host, are not looked for', async () => {
  for (const id of ['a', 'b']) {
    const row = await rests(id, 'frozen', TWO);
    expect(await empty()).toEqual(['cold 1']);
    expect(await empty('one')).toEqual([]);
    const address = cloudAddress({ kind: 'cold', id: row.id, generation: row.generation, token: 't' });
    const name = { name: objectNameOf(address), instance: row.id, tenant: row.tenant, kind: 'cold', host: 'two' };
    await registry.storeNames.begin({ ...name, begunMs: START * 1000 });
    const stored = { address, generation: row.generation, sha256: 'ab'.repeat(32), bytes: 4, at: START };
    const { id: key, generation, vfsPath } = row;
    const at = { id: key, generation, vfsPath: vfsPath ?? '', host: 'two', stored, nowMs: START * 1000, ledger: [] };
    expect(await registry.instances.recordStored(at)).not.toBeNull();
    expect(await empty()).toEqual([]);
  }
});
