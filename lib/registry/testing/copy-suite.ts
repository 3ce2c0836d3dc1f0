/** What every registry guarantees of copies and of instances made from them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyPath, parseCopyPath } from '../../base/copy-paths.ts';
import { instanceId, type PlainIds } from '../../testing/plain-ids.ts';
import type { BlueprintRow, SnapshotRow } from '../copies.ts';
import type { Registry } from '../registry.ts';
import type { NewStoreName } from '../store-names.ts';
import { entry, HOSTILE, instance, makeInstance, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';

const HASH = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);
const FILE = { size: 8192, inode: '1', mtimeNs: '2', ctimeNs: '3', sha256: HASH, quickCheck: 'ok' };
const CONTENT = { hash: HASH, bytes: 8192, volumes: [{ volume: 'workspace', files: 1, bytes: 5 }], file: FILE };

const snapshot = (id: string, over: Partial<SnapshotRow> = {}): SnapshotRow => ({
  ...CONTENT,
  id,
  tenant: 'acme',
  source: instanceId('origin'),
  tag: null,
  created: START,
  actor: 'key:test',
  deleted: null,
  momentMs: null,
  ...over,
});
const blueprint = (name: string, over: Partial<BlueprintRow> = {}): BlueprintRow => ({
  ...CONTENT,
  name,
  tenant: 'acme',
  source: instanceId('origin'),
  created: START,
  actor: 'key:test',
  replicate: null,
  ...over,
});

export function copySuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  const lineCount = async () => (await registry.ledger.page({}, 500)).rows.length;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  test('a path names its copy, and any other path none', () => {
    expect(parseCopyPath(copyPath('snapshot', HASH))).toEqual({ kind: 'snapshot', hash: HASH });
    expect(parseCopyPath(copyPath('blueprint', HASH))).toEqual({ kind: 'blueprint', hash: HASH });
    for (const path of [
      'snapshots/a.sqlite',
      `cold/${HASH}.sqlite`,
      `x/snapshots/${HASH}.sqlite`,
      `snapshots/../${HASH}.sqlite`,
    ])
      expect(parseCopyPath(path)).toBeNull();
  });

  test('snapshots and blueprints read back complete, whatever text they have, after a restart too', async () => {
    const rows = HOSTILE.map((text, n) =>
      snapshot(`s${n}`, { tag: text, source: instanceId(`i${n}`), created: START + n }),
    );
    for (const row of rows) await registry.copies.addSnapshot(row, entry({ type: 'snapshot.taken' }));
    await registry.copies.addBlueprint(blueprint('base', { tenant: null, source: null, replicate: '2s' }), entry());
    expect(await lineCount()).toBe(rows.length + 1);
    const again = await driver.again();
    for (const row of rows) expect(await again.copies.snapshot(row.id)).toEqual(row);
    expect(await again.copies.blueprint('base')).toEqual(
      blueprint('base', { tenant: null, source: null, replicate: '2s' }),
    );
    expect(await again.copies.snapshot('none')).toBeNull();
    expect(await again.copies.blueprint('none')).toBeNull();
  });

  test('snapshots are listed newest first, in pages, by every filter', async () => {
    const all: SnapshotRow[] = [];
    for (let n = 0; n < 23; n += 1) {
      const row = snapshot(`s${String(n).padStart(2, '0')}`, {
        tenant: n % 2 === 0 ? 'acme' : 'globex',
        tag: [null, 'nightly', 'release'][n % 3] ?? null,
        source: instanceId(`i${n % 4}`),
        created: START + Math.floor(n / 5),
      });
      all.unshift(row);
      await registry.copies.addSnapshot(row, entry());
    }
    const readAll = async (filter: Parameters<Registry['copies']['snapshots']>[0]) => {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await registry.copies.snapshots(filter, 4, cursor);
        expect(page.rows.length).toBeLessThanOrEqual(4);
        found.push(...page.rows.map(({ id }) => id));
        cursor = page.next ?? undefined;
      } while (cursor !== undefined);
      return found;
    };
    const ids = (keep: (row: SnapshotRow) => boolean) => all.filter(keep).map(({ id }) => id);
    expect(await readAll({})).toEqual(ids(() => true));
    expect(await readAll({ tenant: 'globex' })).toEqual(ids(({ tenant }) => tenant === 'globex'));
    expect(await readAll({ tenants: ['acme'] })).toEqual(ids(({ tenant }) => tenant === 'acme'));
    expect(await readAll({ tenants: [] })).toEqual([]);
    expect(await readAll({ tag: 'release' })).toEqual(ids(({ tag }) => tag === 'release'));
    expect(await readAll({ source: instanceId('i2'), tenant: 'acme' })).toEqual(
      ids((row) => row.source === 'i2' && row.tenant === 'acme'),
    );
    await expect(async () => registry.copies.snapshots({}, 4, 'nonsense')).rejects.toMatchObject({
      code: 'validation',
    });

    expect(await registry.copies.deleteSnapshot('s22', START + 9, entry())).toBe(true);
    expect(await registry.copies.deleteSnapshot('s22', START + 9, entry())).toBe(false);
    expect(await registry.copies.deleteSnapshot('none', START, entry())).toBe(false);
    expect(await readAll({})).toEqual(ids(({ id }) => id !== 's22'));
    expect(await registry.copies.snapshot('s22')).toMatchObject({ deleted: START + 9, hash: HASH });
  });

  test('a sandbox has a named moment once of each name, and none any more once it is deleted', async () => {
    const first = await makeInstance(registry, 'origin', 'archived');
    await makeInstance(registry, 'other', 'archived');
    const named = (id: string, tag: string, over: Partial<SnapshotRow> = {}) =>
      registry.copies.addSnapshot(snapshot(id, { tag, momentMs: START * 1000, ...over }), entry());
    const namesOf = async (id: string) =>
      (await registry.copies.namedMoments(instanceId(id))).map(({ tag, momentMs }) => [tag, momentMs]);
    await registry.copies.addSnapshot(snapshot('taken', { tag: 'before' }), entry());
    await named('m1', 'before');
    await named('m2', 'after', { momentMs: START * 1000 + 1, hash: OTHER });
    await named('m3', 'before', { source: instanceId('other') });
    await expect(async () => named('m4', 'before', { momentMs: 1 })).rejects.toMatchObject({ code: 'conflict' });
    expect(await registry.copies.snapshot('m4')).toBeNull();
    expect(await namesOf('origin')).toEqual([
      ['after', START * 1000 + 1],
      ['before', START * 1000],
    ]);
    expect((await registry.copies.snapshots({}, 9)).rows).toHaveLength(4);
    expect((await registry.copies.snapshots({ isTaken: true }, 9)).rows.map(({ id }) => id)).toEqual(['taken']);
    expect(await registry.copies.deleteSnapshot('m1', START + 9, entry())).toBe(true);
    await named('m5', 'before', { momentMs: START * 1000 + 2 });
    await registry.instances.commit(transitionTo(first, 'deleted'));
    expect(await namesOf('origin')).toEqual([]);
    expect(await namesOf('other')).toEqual([['before', START * 1000]]);
    expect((await registry.copies.snapshot('m5'))?.deleted).toEqual(expect.any(Number));
    expect((await registry.copies.snapshot('taken'))?.deleted).toBeNull();
    expect(await registry.copies.unclaimedFiles()).toEqual(
      expect.arrayContaining([copyPath('snapshot', HASH), copyPath('snapshot', OTHER)]),
    );
    expect(await registry.copies.isNeeded(copyPath('snapshot', OTHER))).toBe(false);
    expect(await registry.copies.isNeeded(copyPath('snapshot', HASH))).toBe(true);
  });

  test('a blueprint’s name is taken until the blueprint is deleted', async () => {
    for (const name of ['b', 'c', 'a']) await registry.copies.addBlueprint(blueprint(name), entry());
    await expect(async () => registry.copies.addBlueprint(blueprint('a'), entry())).rejects.toMatchObject({
      code: 'conflict',
    });
    const first = await registry.copies.blueprints(2);
    const second = await registry.copies.blueprints(2, first.next ?? undefined);
    expect([...first.rows, ...second.rows].map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(second.next).toBeNull();
    expect(await registry.copies.deleteBlueprint('a', entry())).toBe(true);
    expect(await registry.copies.deleteBlueprint('a', entry())).toBe(false);
    await registry.copies.addBlueprint(blueprint('a', { hash: OTHER }), entry());
    expect((await registry.copies.blueprint('a'))?.hash).toBe(OTHER);
  });

  describe('seeding', () => {
    beforeEach(async () => {
      await registry.copies.addSnapshot(snapshot('s'), entry());
      await registry.copies.addBlueprint(blueprint('base'), entry());
    });
    const children = (count: number, over = {}) =>
      Array.from({ length: count }, (_, n) =>
        instance(`c${n}`, { name: `n-${n}`, lineageSnapshot: 's', lineageParent: 'origin', ...over }),
      );

    test('instances begin with the contents of their copy, with a line each, and are found from their ancestor', async () => {
      const before = await lineCount();
      const ledger = children(5).map(({ id }) => entry({ instance: id, type: 'instance.created' }));
      const rows = await registry.copies.seed({ snapshot: 's' }, children(5), START + 5, ledger);
      expect(rows.map(({ id }) => id)).toEqual(['c0', 'c1', 'c2', 'c3', 'c4']);
      for (const row of rows) {
        expect(row).toMatchObject({
          state: 'created',
          vfsPath: copyPath('snapshot', HASH),
          bytes: 8192,
          file: FILE,
          created: START + 5,
        });
        expect(await registry.instances.get(row.id)).toEqual(row);
      }
      expect(await lineCount()).toBe(before + 5);
      expect(await registry.instances.count({ state: 'created' }, 100)).toBe(5);
      const first = await registry.copies.descendants({ snapshot: 's' }, 3);
      const second = await registry.copies.descendants({ snapshot: 's' }, 3, first.next ?? undefined);
      expect([...first.rows, ...second.rows].map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
      expect(second.next).toBeNull();
      expect(await registry.copies.countDescendants({ snapshot: 's' })).toBe(5);
      expect(await registry.copies.countDescendants({ blueprint: 'base' })).toBe(0);
    });

    test('when one id or name is taken, no instance is made and no line is written', async () => {
      await makeInstance(registry, 'c3');
      await makeInstance(registry, 'other', 'created', { name: 'n-2' });
      const before = await lineCount();
      for (const input of [children(5), children(3, { labels: { a: 'b' } })]) {
        const seeding = async () => registry.copies.seed({ blueprint: 'base' }, input, START, [entry()]);
        await expect(seeding).rejects.toMatchObject({ code: 'conflict' });
      }
      expect(await lineCount()).toBe(before);
      expect(await registry.instances.get('c0')).toBeNull();
      expect(await registry.instances.countsByState()).toMatchObject({ created: 2 });
      expect(
        (await registry.instances.list({ sort: 'created', reverse: false, limit: 10, label: { key: 'a', value: 'b' } }))
          .rows,
      ).toEqual([]);
    });

    test('a deleted or unknown copy seeds nothing', async () => {
      await registry.copies.deleteSnapshot('s', START, entry());
      for (const from of [{ snapshot: 's' }, { snapshot: 'x' }, { blueprint: 'x' }]) {
        await expect(async () => registry.copies.seed(from, children(1), START, [])).rejects.toMatchObject({
          code: 'not_found',
        });
      }
      expect(await registry.instances.get('c0')).toBeNull();
    });

    describe('some at a time', () => {
      const lines = (count: number) => [
        ...children(count).map(({ id }) => entry({ instance: id, type: 'instance.created' })),
        entry({ type: 'snapshot.restored' }),
      ];
      const start = { tenant: 'acme', cause: 'a reason' };
      const begin = (count = 25, atOnce = 10) =>
        registry.copies.seed({ snapshot: 's' }, children(count), START, lines(count), { start, atOnce });
      const ids = (from: number, to: number) =>
        children(to)
          .slice(from)
          .map(({ id }) => id);

      test('they are inserted in order with their lines, and the call’s own line and start come with the last', async () => {
        const before = await lineCount();
        expect((await begin()).map(({ id }) => id)).toEqual(ids(0, 10));
        expect([await lineCount(), await registry.copies.pendingStarts()]).toEqual([before + 10, []]);
        expect(await registry.copies.unfinishedSeedings()).toEqual(['c0']);
        // A restart continues where the last transaction left off.
        const again = await driver.again();
        const next = await again.copies.continueSeeding(instanceId('c0'));
        expect(next?.map(({ id }) => id)).toEqual(ids(10, 20));
        expect(await again.copies.pendingStarts()).toEqual([]);
        const last = (await again.copies.continueSeeding(instanceId('c0'))) ?? [];
        expect(last.map(({ id }) => id)).toEqual(ids(20, 25));
        for (const row of last) expect(await again.instances.get(row.id)).toEqual(row);
        expect(last[0]).toMatchObject({ vfsPath: copyPath('snapshot', HASH), bytes: 8192, file: FILE, created: START });
        expect(await again.copies.pendingStarts()).toEqual([{ ids: ids(0, 25), from: { snapshot: 's' }, ...start }]);
        expect(await again.copies.continueSeeding(instanceId('c0'))).toBeNull();
        expect(await again.copies.unfinishedSeedings()).toEqual([]);
        const { rows } = await again.ledger.page({}, 30);
        expect(rows.slice(0, 2).map(({ type, instance }) => [type, instance])).toEqual([
          ['snapshot.restored', null],
          ['instance.created', 'c24'],
        ]);
        expect(await lineCount()).toBe(before + 26);
      });

      test('those that wait hold their names and ids and need their file', async () => {
        await begin();
        const taken = { code: 'conflict', field: 'name' };
        await expect(makeInstance(registry, 'other', 'created', { name: 'n-24' })).rejects.toMatchObject(taken);
        const other = await makeInstance(registry, 'another', 'created', { name: 'free' });
        const rename = async () => registry.instances.patch(other.id, { name: 'n-24' }, START, entry());
        await expect(rename).rejects.toMatchObject(taken);
        const same = children(15, {}).map((child, n) => ({ ...child, id: instanceId(`d${n}`), name: `n-${n + 10}` }));
        const seeding = async () => registry.copies.seed({ blueprint: 'base' }, same, START, [], { atOnce: 5 });
        await expect(seeding).rejects.toMatchObject(taken);
        // Another tenant's names are its own.
        await makeInstance(registry, 'theirs', 'created', { tenant: 'globex', name: 'n-24' });
        await registry.copies.deleteSnapshot('s', START, entry());
        for (const id of ids(0, 10)) {
          const row = await registry.instances.get(id);
          if (row === null) throw new Error('no row');
          await registry.instances.commit(transitionTo(row, 'active', { vfsPath: `live/${id}/vfs.sqlite` }));
        }
        expect(await registry.copies.isNeeded(copyPath('snapshot', HASH))).toBe(true);
        expect((await registry.copies.continueSeeding(instanceId('c0')))?.length).toBe(10);
      });

      test('when one of the last has a taken id or name, or one twice, none is made', async () => {
        await makeInstance(registry, 'c24');
        await makeInstance(registry, 'other', 'created', { name: 'n-24' });
        await expect(begin).rejects.toMatchObject({ code: 'conflict', field: 'id' });
        const others = children(25).map((child, n) => ({ ...child, id: instanceId(`d${n}`) }));
        const twice = others.map((child) => ({ ...child, name: 'one' }));
        for (const input of [others, twice]) {
          const seeding = async () => registry.copies.seed({ snapshot: 's' }, input, START, [], { atOnce: 10 });
          await expect(seeding).rejects.toMatchObject({ code: 'conflict', field: 'name' });
        }
        expect(await registry.instances.countsByState()).toMatchObject({ created: 2 });
        expect(await registry.copies.unfinishedSeedings()).toEqual([]);
      });

      test('those that wait count towards the quotas, and are inserted although the quota was lowered', async () => {
        await registry.quotas.set('acme', { maxSandboxes: 25, maxBytes: 25 * 8192 }, entry());
        await expect(() => begin(26)).rejects.toMatchObject({ code: 'quota_exceeded' });
        await begin();
        await expect(makeInstance(registry, 'more')).rejects.toMatchObject({ code: 'quota_exceeded' });
        expect(await registry.quotas.bytesLeft('acme')).toBe(0);
        await registry.quotas.set('acme', { maxSandboxes: 1, maxBytes: 1 }, entry());
        for (const count of [10, 5])
          expect((await registry.copies.continueSeeding(instanceId('c0')))?.length).toBe(count);
      });
    });
  });

  test('a file is needed while a snapshot, a blueprint or an instance that was never resumed has it, and is marked when none does', async () => {
    const { copies } = registry;
    const [inSnapshots, inBlueprints] = [copyPath('snapshot', HASH), copyPath('blueprint', HASH)];
    await copies.markUnclaimed(inSnapshots);
    await copies.markUnclaimed(inSnapshots);
    expect([await copies.unclaimedFiles(), await copies.isNeeded(inSnapshots)]).toEqual([[inSnapshots], false]);

    await copies.addSnapshot(snapshot('one'), entry());
    await copies.addSnapshot(snapshot('two'), entry());
    expect([await copies.unclaimedFiles(), await copies.isNeeded(inSnapshots)]).toEqual([[], true]);
    expect(await copies.isNeeded(inBlueprints)).toBe(false);
    await copies.deleteSnapshot('one', START, entry());
    expect([await copies.unclaimedFiles(), await copies.isNeeded(inSnapshots)]).toEqual([[], true]);

    const [child] = await copies.seed({ snapshot: 'two' }, [instance('c', { lineageSnapshot: 'two' })], START, []);
    await copies.deleteSnapshot('two', START, entry());
    expect([await copies.unclaimedFiles(), await copies.isNeeded(inSnapshots)]).toEqual([[inSnapshots], true]);
    expect(await (await driver.again()).copies.unclaimedFiles()).toEqual([inSnapshots]);

    if (child === undefined) throw new Error('no child');
    await registry.instances.commit(transitionTo(child, 'active', { vfsPath: 'live/c/vfs.sqlite' }));
    expect(await copies.isNeeded(inSnapshots)).toBe(false);
    await copies.clearUnclaimed(inSnapshots);
    expect(await copies.unclaimedFiles()).toEqual([]);

    await copies.addBlueprint(blueprint('base'), entry());
    expect(await copies.isNeeded(inBlueprints)).toBe(true);
    await copies.deleteBlueprint('base', entry());
    expect([await copies.unclaimedFiles(), await copies.isNeeded(inBlueprints)]).toEqual([[inBlueprints], false]);
  });

  test('a copy is stored once for each tenant that has it, and is found by its hash', async () => {
    const hash = HASH;
    const copy = (id: string, tenant: string) => snapshot(id, { tenant, hash });
    const names = registry.storeNames;
    for (const [id, tenant] of [
      ['snap-1', 'acme'],
      ['snap-2', 'acme'],
      ['snap-3', 'other'],
    ] as const)
      await registry.copies.addSnapshot(copy(id, tenant), entry({ type: 'snapshot.taken', tenant }));
    await registry.copies.addBlueprint(blueprint('base', { hash, tenant: null }), entry({ type: 'blueprint.made' }));
    const due = async (except: string[] = []) =>
      (await names.copiesToStore(10, except)).map(({ kind, tenant }) => `${kind} ${tenant}`).sort();
    expect(await due()).toEqual(['blueprint _', 'snapshot acme', 'snapshot other']);
    expect(await due([hash])).toEqual([]);
    expect(await names.copyName('snapshot', hash)).toBeNull();
    const name = (token: string, tenant: string): NewStoreName => ({
      name: `drawers/snapshot/${tenant}/${hash}-${token}`,
      instance: null,
      tenant,
      kind: 'snapshot',
      hash,
      host: 'one',
      begunMs: 1000,
    });
    await names.begin(name('x', 'acme'));
    // An upload that is under way is not whole.
    expect(await names.copyName('snapshot', hash)).toBeNull();
    expect(await due()).toContain('snapshot acme');
    expect(await names.finishCopy(name('x', 'acme').name)).toBe(true);
    expect(await names.finishCopy(name('x', 'acme').name)).toBe(false);
    expect(await names.finishCopy('never-begun')).toBe(false);
    expect(await names.copyName('snapshot', hash)).toMatchObject({
      name: name('x', 'acme').name,
      hash,
      instance: null,
    });
    expect(await names.copyName('blueprint', hash)).toBeNull();
    expect(await due()).toEqual(['blueprint _', 'snapshot other']);
    await names.begin(name('y', 'other'));
    await names.supersedeCopy('snapshot', hash, 1005);
    expect(await names.finishCopy(name('y', 'other').name)).toBe(false);
    expect(await names.copyName('snapshot', hash)).toBeNull();
    expect((await names.superseded(1005, 10)).map((one) => one.name).sort()).toEqual([
      name('x', 'acme').name,
      name('y', 'other').name,
    ]);
  });
}
