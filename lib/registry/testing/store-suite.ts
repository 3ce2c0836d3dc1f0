/** What every registry guarantees of the store: a row names a whole object or none, and each name is used once. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cloudAddress, objectNameOf } from '../../base/cloud-address.ts';
import type { Plain, PlainIds } from '../../testing/plain-ids.ts';
import type { StoredRecord } from '../instances.ts';
import type { Registry } from '../registry.ts';
import type { NewStoreName } from '../store-names.ts';
import type { InstanceRow, RowOwner } from '../types.ts';
import { entry, FILE, intent, makeInstance, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';

const ONE: RowOwner = { host: 'one', term: 1, token: 'of one' };
const NOW_MS = START * 1000;
const SHA256 = 'ab'.repeat(32);

export function storeSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  /** A frozen sandbox whose file is in the cold drawer of the host `one`. */
  async function frozen(id: string, tenant = 'acme'): Promise<InstanceRow> {
    const row = await makeInstance(registry, id, 'suspended', { tenant });
    await registry.instances.begin(id, intent(row, { verb: 'freeze', to: 'frozen' }), { owner: ONE });
    return registry.instances.commit(
      transitionTo(row, 'frozen', { vfsPath: `cold/${id}.sqlite`, file: FILE, owner: ONE }),
    );
  }
  const addressOf = (row: Pick<Plain<InstanceRow>, 'id' | 'generation'>, token: string) =>
    cloudAddress({ kind: 'cold', id: row.id, generation: row.generation, token });
  const nameOf = (row: InstanceRow, token: string): NewStoreName => ({
    name: objectNameOf(addressOf(row, token)),
    instance: row.id,
    tenant: row.tenant,
    kind: 'cold',
    host: 'one',
    begunMs: NOW_MS,
  });
  const recordOf = (row: InstanceRow, token: string, over: Partial<StoredRecord> = {}): StoredRecord => ({
    id: row.id,
    generation: row.generation,
    vfsPath: row.vfsPath ?? '',
    host: 'one',
    stored: { address: addressOf(row, token), generation: row.generation, sha256: SHA256, bytes: 4096, at: START },
    nowMs: NOW_MS + 1,
    ledger: [entry({ instance: row.id, tenant: row.tenant, type: 'file.stored' })],
    ...over,
  });
  const statesOf = async (id: string) =>
    (await registry.storeNames.ofInstance(id as never))
      .map(({ name, state }) => `${name.split('-').at(-1)} ${state}`)
      .sort();
  const linesOf = async (id: string) =>
    (await registry.ledger.page({ instance: id as never, type: 'file.stored' }, 10)).rows.length;

  test('a row names an object in the transaction that says it is whole, and is nobody’s then', async () => {
    const row = await frozen('a');
    expect(row).toMatchObject({ ownerHost: 'one', stored: null });
    await registry.storeNames.begin(nameOf(row, 'x'));
    const record = recordOf(row, 'x');
    const after = await registry.instances.recordStored(record);
    expect(after).toEqual({
      ...row,
      vfsPath: record.stored.address,
      stored: record.stored,
      file: { ...FILE, sha256: SHA256 },
      ownerHost: null,
      ownerTerm: null,
    });
    expect(await registry.instances.get('a')).toEqual(after);
    expect(await statesOf('a')).toEqual(['x current']);
    // Said again, as after an answer that was lost, it is the same, once.
    expect(await registry.instances.recordStored(record)).toEqual(after);
    expect(await linesOf('a')).toBe(1);
    expect(await registry.instances.countInStore()).toBe(1);
    expect(await registry.instances.sizeInStore()).toEqual({ sandboxes: 1, bytes: record.stored.bytes });
  });

  test('nothing is recorded of a row that has moved on, has an intent, or is another host’s', async () => {
    const row = await frozen('a');
    await registry.storeNames.begin(nameOf(row, 'x'));
    for (const over of [
      { generation: row.generation + 1 },
      { vfsPath: 'archive/a.sqlite.zst' },
      { host: 'two' },
      { id: 'unknown' as never },
      { stored: { ...recordOf(row, 'x').stored, address: addressOf(row, 'never-begun') } },
    ])
      expect(await registry.instances.recordStored(recordOf(row, 'x', over))).toBeNull();
    await registry.instances.recordCheck('a', row.generation, { sha256: 'cd'.repeat(32), quickCheck: null });
    expect(await registry.instances.recordStored(recordOf(row, 'x'))).toBeNull();
    await registry.instances.begin('a', intent(row), { owner: ONE });
    expect(await registry.instances.recordStored(recordOf(row, 'x'))).toBeNull();
    const active = await registry.instances.commit(transitionTo(row, 'active', { owner: ONE }));
    expect(await registry.instances.recordStored(recordOf(active, 'x'))).toBeNull();
    expect(await statesOf('a')).toEqual(['x uploading']);
    expect((await registry.instances.get('a'))?.stored).toBeNull();
    expect(await linesOf('a')).toBe(0);
    await registry.storeNames.supersede([nameOf(row, 'x').name], NOW_MS);
    const again = await frozen('b');
    await registry.storeNames.begin(nameOf(again, 'y'));
    await registry.storeNames.supersede([nameOf(again, 'y').name], NOW_MS);
    expect(await registry.instances.recordStored(recordOf(again, 'y'))).toBeNull();
  });

  test('what was stored stays while a sandbox is awake, and is superseded by the next and by its deletion', async () => {
    const row = await frozen('a');
    await registry.storeNames.begin(nameOf(row, 'x'));
    const stored = await registry.instances.recordStored(recordOf(row, 'x'));
    if (stored === null) throw new Error('not recorded');
    await registry.instances.begin('a', intent(stored), { owner: ONE });
    const active = await registry.instances.commit(transitionTo(stored, 'active', { owner: ONE }));
    expect(active.stored).toEqual(stored.stored);
    const asleep = await registry.instances.commit(
      transitionTo(active, 'suspended', { vfsPath: 'live/a/vfs.sqlite', file: FILE, owner: ONE }),
    );
    expect(asleep).toMatchObject({ stored: stored.stored, ownerHost: 'one' });
    const next = await registry.instances.commit(
      transitionTo(asleep, 'frozen', { vfsPath: 'cold/a.sqlite', file: FILE, owner: { ...ONE, token: null } }),
    );
    await registry.storeNames.begin(nameOf(next, 'y'));
    expect(await statesOf('a')).toEqual(['x current', 'y uploading']);
    const replaced = await registry.instances.recordStored(recordOf(next, 'y'));
    expect(await statesOf('a')).toEqual(['x superseded', 'y current']);
    if (replaced === null) throw new Error('not recorded');
    const archived = await registry.instances.commit(transitionTo(replaced, 'archived', { vfsPath: null }));
    const deleted = await registry.instances.commit(transitionTo(archived, 'deleted'));
    expect(deleted.stored).toBeNull();
    expect(await statesOf('a')).toEqual(['x superseded', 'y superseded']);
  });

  test('uploads that are due are found tenant by tenant, those of a host and of nobody, with the oldest’s time', async () => {
    expect(await registry.instances.uploadBacklog()).toEqual({ n: 0, since: null });
    const rows = new Map<string, InstanceRow>();
    for (const [id, tenant] of [
      ['b2', 'b'],
      ['a1', 'a'],
      ['b1', 'b'],
      ['c1', 'c'],
    ] as const)
      rows.set(id, await frozen(id, tenant));
    await makeInstance(registry, 'asleep', 'suspended', { tenant: 'a' });
    const ids = async (after: { tenant: string; id: string }, limit = 10, host?: string) =>
      (await registry.instances.uploadsDue(after, limit, host)).map(({ id }) => id);
    const start = { tenant: '', id: '' };
    expect(await ids(start)).toEqual(['a1', 'b1', 'b2', 'c1']);
    expect(await ids(start, 2)).toEqual(['a1', 'b1']);
    expect(await ids({ tenant: 'b', id: 'b1' })).toEqual(['b2', 'c1']);
    expect(await ids(start, 10, 'two')).toEqual([]);
    expect(await ids(start, 10, 'one')).toEqual(['a1', 'b1', 'b2', 'c1']);
    expect(await registry.instances.uploadBacklog()).toEqual({ n: 4, since: START });
    expect(await registry.instances.uploadBacklog('two')).toEqual({ n: 0, since: null });
    const row = rows.get('b1');
    if (row === undefined) throw new Error('no row');
    await registry.storeNames.begin(nameOf(row, 'x'));
    await registry.instances.recordStored(recordOf(row, 'x'));
    expect(await ids(start)).toEqual(['a1', 'b2', 'c1']);
    expect(await registry.instances.uploadBacklog('one')).toEqual({ n: 3, since: START });
  });

  test('the stat of a file that was brought back is recorded of the same filing only', async () => {
    const row = await frozen('a');
    await registry.storeNames.begin(nameOf(row, 'x'));
    await registry.instances.recordStored(recordOf(row, 'x'));
    const brought = { ...FILE, inode: '77', sha256: null };
    await registry.instances.recordBrought('a', row.generation + 1, brought);
    expect((await registry.instances.get('a'))?.file).toEqual({ ...FILE, sha256: SHA256 });
    await registry.instances.recordBrought('a', row.generation, brought);
    expect((await registry.instances.get('a'))?.file).toEqual({ ...FILE, inode: '77', sha256: SHA256 });
    await registry.instances.begin('a', intent(row), { owner: ONE });
    await registry.instances.recordBrought('a', row.generation, FILE);
    expect((await registry.instances.get('a'))?.file).toMatchObject({ inode: '77' });
  });

  test('a name is used once, and is forgotten only after it was superseded', async () => {
    const row = await frozen('a');
    const first = nameOf(row, 'x');
    await registry.storeNames.begin(first);
    await expect(registry.storeNames.begin(first)).rejects.toMatchObject({ code: 'conflict' });
    expect(await registry.storeNames.get(first.name)).toEqual({
      ...first,
      hash: null,
      state: 'uploading',
      supersededMs: null,
    });
    expect(await registry.storeNames.get('another')).toBeNull();
    expect((await registry.storeNames.begunUploads('one')).map(({ name }) => name)).toEqual([first.name]);
    expect(await registry.storeNames.begunUploads('two')).toEqual([]);
    await registry.storeNames.remove(first.name);
    expect(await statesOf('a')).toEqual(['x uploading']);
    await registry.storeNames.supersede([first.name, 'another'], NOW_MS);
    await registry.storeNames.supersede([first.name], NOW_MS + 5000);
    expect(await registry.storeNames.begunUploads('one')).toEqual([]);
    expect(await registry.storeNames.superseded(NOW_MS - 1, 10)).toEqual([]);
    expect(await registry.storeNames.clampSuperseded(NOW_MS)).toBe(0);
    const gone = await registry.storeNames.superseded(NOW_MS, 10);
    expect(gone).toEqual([{ ...first, hash: null, state: 'superseded', supersededMs: NOW_MS }]);
    await expect(registry.storeNames.begin(first)).rejects.toMatchObject({ code: 'conflict' });
    const dayBefore = NOW_MS - 86_400_000;
    expect(await registry.storeNames.clampSuperseded(dayBefore)).toBe(1);
    expect(await registry.storeNames.superseded(dayBefore - 1, 10)).toEqual([]);
    expect(await registry.storeNames.superseded(dayBefore, 10)).toMatchObject([{ supersededMs: dayBefore }]);
    await registry.storeNames.remove(first.name);
    expect(await statesOf('a')).toEqual([]);
  });

  test('names are listed of a tenant and of all, in pages', async () => {
    for (const [id, tenant] of [
      ['a', 'one'],
      ['b', 'two'],
      ['c', 'two'],
    ] as const)
      await registry.storeNames.begin(nameOf(await frozen(id, tenant), 'x'));
    const ids = (found: { instance: string | null }[]) => found.map(({ instance }) => instance);
    expect(ids(await registry.storeNames.ofTenant('two', '', 10))).toEqual(['b', 'c']);
    const [first] = await registry.storeNames.page('', 1);
    expect(first?.instance).toBe('a');
    expect(ids(await registry.storeNames.page(first?.name ?? '', 10))).toEqual(['b', 'c']);
  });
}
