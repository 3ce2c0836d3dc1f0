/** What every registry guarantees of facts beside the state: faults, checks, activity. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import {
  entry,
  FILE,
  instance,
  makeInstance,
  type RegistryUnderTest,
  START,
  THRESHOLDS,
  transitionTo,
} from './fixtures.ts';

export function recordSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const seen = async (id: string) => {
    const row = await registry.instances.get(id);
    if (row === null) throw new Error(`no ${id}`);
    return row;
  };

  describe('faults, checks and touches', () => {
    test('a fault is raised with its reason and cleared, without a transition', async () => {
      const row = await makeInstance(registry, 'a', 'frozen');
      await registry.instances.setFault('a', { fault: 'missing', reason: 'no file' }, entry({ type: 'fault.raised' }));
      expect(await registry.instances.get('a')).toEqual({ ...row, fault: 'missing', faultReason: 'no file' });
      expect(await registry.instances.countsByFault()).toEqual({ error: 0, unknown: 0, corrupt: 0, missing: 1 });
      await registry.instances.setFault('a', null, entry({ type: 'fault.cleared' }));
      expect(await registry.instances.get('a')).toEqual(row);
      expect(await registry.instances.countsByFault()).toEqual({ error: 0, unknown: 0, corrupt: 0, missing: 0 });
      await expect(async () => registry.instances.setFault('x', null, entry())).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    test('the check of a file is recorded only while the row has the checked generation', async () => {
      const row = await registry.instances.commit(
        transitionTo(await makeInstance(registry, 'a', 'suspended'), 'frozen', { file: FILE }),
      );
      const check = { sha256: 'ab'.repeat(32), quickCheck: 'ok' };
      await registry.instances.recordCheck('a', row.generation - 1, check);
      expect((await seen('a')).file).toEqual(FILE);
      // Other facts of the file, above all its identity, do not come from the check.
      const found = { ...check, identity: 'of another', size: 1 };
      await registry.instances.recordCheck('a', row.generation, found);
      expect((await seen('a')).file).toEqual({ ...FILE, ...check });
      const active = await registry.instances.commit(transitionTo(row, 'active'));
      await registry.instances.recordCheck('a', active.generation, check);
      expect((await seen('a')).file).toBeNull();
    });

    test('the volumes of checked files are summed by tenant, each as last measured, until it is deleted', async () => {
      const sums = async (tenant = 'acme') => (await registry.quotas.tenant(tenant))?.volumes;
      const check = { sha256: 'ab'.repeat(32), quickCheck: 'ok' };
      const a = await registry.instances.commit(
        transitionTo(await makeInstance(registry, 'a', 'suspended'), 'frozen', { file: FILE }),
      );
      const b = await registry.instances.commit(
        transitionTo(await makeInstance(registry, 'b', 'suspended'), 'frozen', { file: FILE }),
      );
      await makeInstance(registry, 'c', 'frozen', { tenant: 'globex' });
      expect(await sums()).toEqual({ instances: 0, workspace: 0, memory: 0, tmp: 0 });
      await registry.instances.recordCheck('a', a.generation, check, { workspace: 100, memory: 10, tmp: 1 });
      await registry.instances.recordCheck('b', b.generation - 1, check, { workspace: 999, memory: 999, tmp: 999 });
      await registry.instances.recordCheck('b', b.generation, check, { workspace: 200, memory: 0, tmp: 2 });
      expect(await sums()).toEqual({ instances: 2, workspace: 300, memory: 10, tmp: 3 });
      await registry.instances.recordCheck('a', a.generation, check, { workspace: 50, memory: 20, tmp: 0 });
      expect(await sums()).toEqual({ instances: 2, workspace: 250, memory: 20, tmp: 2 });
      const archived = await registry.instances.commit(
        transitionTo((await registry.instances.get('a')) ?? a, 'archived'),
      );
      expect(await sums()).toEqual({ instances: 2, workspace: 250, memory: 20, tmp: 2 });
      await registry.instances.commit(transitionTo(archived, 'deleted'));
      expect(await sums()).toEqual({ instances: 1, workspace: 200, memory: 0, tmp: 2 });
      expect(await sums('globex')).toEqual({ instances: 0, workspace: 0, memory: 0, tmp: 0 });
    });

    test('touches stamp many rows at once, never backwards, and skip unknown ids', async () => {
      const a = await makeInstance(registry, 'a', 'active');
      const b = await makeInstance(registry, 'b', 'active');
      const gone = await makeInstance(registry, 'gone', 'deleted');
      await registry.instances.touch([
        { id: 'a', updated: START + 50, bytes: 10 },
        { id: 'b', updated: START - 50 },
        { id: 'gone', updated: START + 50 },
        { id: 'nobody', updated: START + 50 },
      ]);
      expect(await registry.instances.get('a')).toEqual({ ...a, updated: START + 50, bytes: 10 });
      expect(await registry.instances.get('b')).toEqual(b);
      expect(await registry.instances.get('gone')).toEqual(gone);
      await registry.instances.touch([{ id: 'a', updated: START + 40, bytes: null }]);
      expect(await registry.instances.get('a')).toEqual({ ...a, updated: START + 50, bytes: null });
      await registry.instances.touch([]);
    });

    test('times later than now are set back to now, a few at a time, with their due times', async () => {
      const DAYS = 40 * 86_400;
      for (const id of ['a', 'b', 'c']) await makeInstance(registry, id, 'active');
      await makeInstance(registry, 'near', 'active');
      const gone = await makeInstance(registry, 'gone', 'deleted');
      await registry.instances.touch(['a', 'b', 'c'].map((id) => ({ id, updated: START + DAYS })));
      await registry.instances.touch([{ id: 'near', updated: START + 30 }]);
      expect(await registry.instances.clampUpdated(START, 60, 2)).toBe(2);
      expect(await registry.instances.clampUpdated(START, 60, 2)).toBe(1);
      expect(await registry.instances.clampUpdated(START, 60, 2)).toBe(0);
      for (const id of ['a', 'b', 'c']) expect((await registry.instances.get(id))?.updated).toBe(START);
      expect((await registry.instances.get('near'))?.updated).toBe(START + 30);
      expect(await registry.instances.get('gone')).toEqual(gone);
      expect(
        (await registry.instances.due(START + THRESHOLDS.idleToSuspendSeconds, 10)).map(({ row }) => row.id).sort(),
      ).toEqual(['a', 'b', 'c']);
    });

    test('every row with a file is found in the order of ids, from any id on', async () => {
      for (const id of ['d', 'b', 'a', 'c']) await makeInstance(registry, id, 'frozen');
      await makeInstance(registry, 'aa', 'deleted');
      await makeInstance(registry, 'bb');
      await registry.instances.create(instance('cc', { vfsPath: ':memory:' }), START, entry());
      expect((await registry.instances.withFile('', 10)).map((row) => row.id)).toEqual(['a', 'b', 'c', 'd']);
      expect((await registry.instances.withFile('a', 2)).map((row) => row.id)).toEqual(['b', 'c']);
      expect(await registry.instances.withFile('d', 10)).toEqual([]);
    });

    test('the storage check reports ok, without blocking anybody', async () => {
      const stop = new AbortController();
      expect(await registry.storage.check(stop.signal)).toBe('ok');
      stop.abort();
      await expect(registry.storage.check(stop.signal)).rejects.toThrow();
    });

    test('a ping writes, and a closed registry may be closed again', async () => {
      await registry.maintenance.ping();
      await registry.close();
      await registry.close();
      await expect(async () => registry.maintenance.ping()).rejects.toThrow();
    });
  });
}
