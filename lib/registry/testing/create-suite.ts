/** What every registry guarantees of new rows and of settings. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import { UNOWNED } from '../owner.ts';
import type { Registry } from '../registry.ts';
import {
  entry,
  HOSTILE,
  instance,
  makeInstance,
  type RegistryUnderTest,
  START,
  storeWorkbook,
  transitionTo,
} from './fixtures.ts';

export function createSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const types = async () => (await registry.ledger.after(0, 100)).map((line) => line.type);

  const seen = async (id: string) => {
    const row = await registry.instances.get(id);
    if (row === null) throw new Error(`no ${id}`);
    return row;
  };

  describe('creating', () => {
    test('a new instance reads back as it was given, in state created, with its ledger line', async () => {
      await storeWorkbook(registry as Registry, 'globex', 'wb');
      const given = instance('a', {
        tenant: 'globex',
        name: 'The first',
        vfsPath: ':memory:',
        ephemeral: true,
        policy: 'minimal',
        keepHot: true,
        hotToWarmSeconds: 0,
        idleToSuspendSeconds: 60,
        idleToFreezeSeconds: 120,
        replicate: '5s',
        labels: { env: 'prod', 'odd key': '' },
        workbook: 'wb',
        workbookVersion: 1,
        lineageBlueprint: 'blue',
        lineageSnapshot: 'snap',
        lineageParent: 'parent',
      });
      const row = await registry.instances.create(given, START, entry({ instance: 'a', type: 'instance.created' }));
      expect(row).toEqual({
        ...given,
        state: 'created',
        updated: START,
        created: START,
        stateSince: START,
        generation: 0,
        fault: null,
        faultReason: null,
        pending: null,
        holdUntil: null,
        bytes: null,
        file: null,
        failures: 0,
        ...UNOWNED,
        stored: null,
      });
      expect(await registry.instances.get('a')).toEqual(row);
      expect(await types()).toEqual(['workbook.put', 'instance.created']);
    });

    test('a taken id stays a conflict for ever and never resets its row', async () => {
      const active = await makeInstance(registry, 'a', 'active', { name: 'kept' });
      await makeInstance(registry, 'b', 'deleted');
      for (const id of ['a', 'b']) {
        await expect(async () => registry.instances.create(instance(id), START + 5, entry())).rejects.toMatchObject({
          code: 'conflict',
        });
      }
      expect(await registry.instances.get('a')).toEqual(active);
      expect((await registry.instances.get('b'))?.state).toBe('deleted');
      expect(await types()).not.toContain('test.line');
    });

    test('a name is unique within its tenant among sandboxes that are not deleted', async () => {
      await makeInstance(registry, 'a', 'archived', { name: 'desk' });
      const again = (tenant: string, id: string) => async () =>
        registry.instances.create(instance(id, { tenant, name: 'desk' }), START, entry());
      await expect(again('acme', 'b')).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('desk'),
      });
      expect(await registry.instances.get('b')).toBeNull();
      await again('globex', 'c')();
      await registry.instances.commit(transitionTo(await seen('a'), 'deleted'));
      await again('acme', 'd')();
      await makeInstance(registry, 'e');
      await makeInstance(registry, 'f');
      await expect(async () => registry.instances.patch('e', { name: 'desk' }, START, entry())).rejects.toMatchObject({
        code: 'conflict',
      });
      expect((await seen('e')).name).toBeNull();
      expect((await registry.instances.patch('d', { name: 'desk' }, START, entry()))?.name).toBe('desk');
    });

    test('hostile text in every string field comes back unchanged', async () => {
      for (const [n, text] of HOSTILE.entries()) {
        const id = `${n}:${text}`;
        const given = instance(id, {
          tenant: text,
          name: text,
          vfsPath: text,
          policy: text,
          labels: { [text]: text, other: text },
          workbook: text,
          lineageBlueprint: text,
          lineageSnapshot: text,
          lineageParent: text,
        });
        const line = entry({
          instance: id,
          tenant: text,
          type: text,
          actor: text,
          reason: text,
          error: text,
          requestId: text,
        });
        await registry.instances.create(given, START, line);
        expect(await registry.instances.get(id)).toMatchObject(given);
        expect(await registry.ledger.after((await registry.ledger.lastSeq()) - 1, 1)).toEqual([
          { ...line, seq: n + 1 },
        ]);
        const page = await registry.instances.list({
          tenant: text,
          name: text,
          label: { key: text, value: text },
          sort: 'name',
          reverse: false,
          limit: 10,
        });
        expect(page.rows.map((row) => row.id)).toEqual([id]);
        expect(await registry.instances.count({ label: { key: text, value: text } }, 10)).toBe(1);
        expect(await registry.instances.countsByState([text])).toMatchObject({ created: 1 });
        expect(
          (await registry.ledger.page({ tenant: text, instance: id, type: text, actor: text }, 10)).rows,
        ).toHaveLength(1);
      }
      expect(await registry.instances.countsByState()).toMatchObject({ created: HOSTILE.length });
    });
  });

  describe('patching', () => {
    test('given members change, absent ones stay, and the idle clock does not move', async () => {
      const before = await makeInstance(registry, 'a', 'active', { name: 'one', labels: { a: '1' } });
      const given = {
        name: 'two',
        labels: { b: '2' },
        keepHot: true,
        holdUntil: START + 10,
        hotToWarmSeconds: 0,
        idleToSuspendSeconds: 1,
        idleToFreezeSeconds: 2,
        replicate: 'filed',
        policy: 'compute',
        workbook: 'wb',
      };
      const after = await registry.instances.patch('a', given, START + 99, entry({ type: 'instance.patched' }));
      expect(after).toEqual({ ...before, ...given });
      const bare = { ...after, name: null };
      expect(await registry.instances.patch('a', { name: null, labels: undefined }, START, entry())).toEqual(bare);
      const relabel = (labels: Record<string, string | null>, most = 9) =>
        registry.instances.relabel('a', labels, most, entry({ type: 'instance.relabelled' }));
      expect(await relabel({ c: '3', a: null })).toBe('changed');
      expect(await relabel({ c: '3', z: null })).toBe('same');
      expect(await relabel({ d: '4' }, 2)).toBe('too_many');
      expect(await registry.instances.relabel('nobody', {}, 9, entry())).toBeNull();
      expect(await registry.instances.get('a')).toEqual({ ...bare, labels: { b: '2', c: '3' } });
      const written = await types();
      expect(
        ['instance.patched', 'instance.relabelled'].map((one) => written.filter((type) => type === one).length),
      ).toEqual([1, 1]);
    });

    test('a patch of settings that have changed since they were read is refused and changes nothing', async () => {
      const asRead = await makeInstance(registry, 'a', 'suspended', { labels: { b: '2', a: '1' } });
      await registry.instances.touch([{ id: 'a', updated: START + 5 }]);
      expect((await registry.instances.patch('a', { name: 'mine' }, START, entry(), asRead))?.name).toBe('mine');
      const late = registry.instances.patch('a', { keepHot: true }, START, entry(), asRead);
      await expect(late).rejects.toMatchObject({ code: 'precondition_failed' });
      expect(await registry.instances.get('a')).toMatchObject({ name: 'mine', keepHot: false });
    });

    test('an unknown instance is null without a ledger line, a deleted one is gone', async () => {
      expect(await registry.instances.patch('nobody', { keepHot: true }, START, entry())).toBeNull();
      await makeInstance(registry, 'a', 'deleted');
      await expect(async () => registry.instances.patch('a', { keepHot: true }, START, entry())).rejects.toMatchObject({
        code: 'gone',
      });
      expect(await types()).not.toContain('test.line');
    });
  });
}
