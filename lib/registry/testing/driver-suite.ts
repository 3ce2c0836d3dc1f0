/** The suite that every driver of a closed registry passes, but for one that keeps nothing. */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { instanceId } from '../../testing/plain-ids.ts';
import type { RegistryDriver } from '../driver.ts';
import { entry, makeInstance, THRESHOLDS } from './fixtures.ts';
import { fileDriver } from './open-test-registry.ts';

/** One kind of registry: `place` prepares a place without a registry and says how to reach it, each time anew. */
interface DriverSite {
  place(): Promise<() => RegistryDriver>;
  discard(): Promise<void>;
}

/** Runs the suite on a driver. */
export function driverContract(name: string, site: DriverSite): void {
  describe(name, () => {
    let reach: () => RegistryDriver;
    let folder: string;
    beforeEach(async () => {
      reach = await site.place();
      folder = mkdtempSync(join(tmpdir(), 'winterdock-driver-'));
    });
    afterEach(async () => {
      await site.discard();
      rmSync(folder, { recursive: true });
    });
    const open = () => reach().open({ thresholds: THRESHOLDS });
    /** Makes a registry with these sandboxes, and closes it. */
    const make = async (...ids: string[]) => {
      const registry = await open();
      for (const id of ids) await makeInstance(registry, id);
      await registry.close();
    };
    const idsIn = async (driver = reach()) => {
      const reader = await driver.readLive();
      try {
        return (await reader.rows('', 10)).map(({ id }) => id);
      } finally {
        await reader.close();
      }
    };
    /** A copy as a backup holds it. */
    const copy = async () => {
      const reader = await reach().readLive();
      const path = join(folder, 'copy');
      await reader.copyTo(path);
      await reader.close();
      return path;
    };

    test('nothing is there and nothing is made before it is opened', async () => {
      const driver = reach();
      expect([driver.isKept, await driver.presence()]).toEqual([true, { kind: 'missing' }]);
      const reads = [() => driver.inspect(), () => driver.readLive(), () => driver.readLedger()];
      for (const read of reads) await expect(read()).rejects.toThrow();
      await driver.remove();
      await driver.setAside(async () => expect.unreachable());
      expect(await reach().presence()).toEqual({ kind: 'missing' });
      await make('a');
      expect((await reach().presence()).kind).toBe('there');
    });

    test('a moment stays as it was, and a live reader sees each commit, beside a writer', async () => {
      const registry = await open();
      await makeInstance(registry, 'a');
      const [moment, live, ledger] = [await reach().inspect(), await reach().readLive(), await reach().readLedger()];
      expect([await moment.hasInstance('a'), await live.count(), (await ledger.lines(0, 9)).length]).toEqual([
        true,
        1,
        1,
      ]);
      await makeInstance(registry, 'b');
      expect([await moment.hasInstance('b'), (await moment.rows('', 9)).length]).toEqual([false, 1]);
      expect([await live.count(), await live.row(instanceId('b'))]).toMatchObject([2, { id: 'b' }]);
      expect((await ledger.lines(0, 9)).length).toBe(1);
      expect(await live.chainHead()).toEqual(await registry.ledger.head());
      expect(await moment.integrity()).toBe('ok');
      expect(await live.migrations()).toBe(reach().knownMigrations());
      for (const reader of [moment, live, ledger]) await reader.close();
      await registry.close();
    });

    test('a copy is a whole SQLite registry of its moment, and the one it is of goes on', async () => {
      const registry = await open();
      await makeInstance(registry, 'a');
      const path = await copy();
      await makeInstance(registry, 'b');
      expect(await idsIn(fileDriver(path))).toEqual(['a']);
      expect(await idsIn()).toEqual(['a', 'b']);
      await registry.close();
    });

    test('a draft is seen by nobody before it is placed, and is then the registry', async () => {
      await make('a');
      const path = await copy();
      await make('b');
      const draft = await reach().draft(path, { thresholds: THRESHOLDS });
      await makeInstance(draft.registry, 'c');
      expect(await idsIn()).toEqual(['a', 'b']);
      await draft.place();
      await draft.discard();
      expect(await idsIn()).toEqual(['a', 'c']);
      expect(existsSync(path)).toBe(true);
    });

    test('a draft that is given up leaves nothing, and one that a kill left is overwritten', async () => {
      await make('a');
      const path = await copy();
      const left = await reach().draft(path, { thresholds: THRESHOLDS });
      await makeInstance(left.registry, 'left');
      await left.registry.close();
      const draft = await reach().draft(path, { thresholds: THRESHOLDS });
      expect(await draft.registry.instances.get(instanceId('left'))).toBeNull();
      await draft.discard();
      await draft.discard();
      expect(await idsIn()).toEqual(['a']);
    });

    test('what is set aside is not there any more, can be repeated, and its head stays where it was', async () => {
      await make('a');
      const { headPath } = reach();
      const moved: string[] = [];
      const move = async (path: string, name: string) => {
        moved.push(name);
        renameSync(path, join(folder, name));
      };
      await reach().setAside(move);
      await reach().setAside(move);
      expect([new Set(moved).size, await reach().presence()]).toEqual([moved.length, { kind: 'missing' }]);
      expect(reach().headPath).toBe(headPath);
      await make('b');
      expect(await idsIn()).toEqual(['b']);
      await reach().remove();
      expect(await reach().presence()).toEqual({ kind: 'missing' });
    });

    test('its lock keeps another out, also in the run that makes it, and is released once', async () => {
      const driver = reach();
      const refused = 'Another Winterdock uses the registry';
      const unlock = await driver.lock(folder);
      const registry = await driver.open({ thresholds: THRESHOLDS });
      await registry.ledger.append([entry()]);
      await expect(reach().lock(folder)).rejects.toThrow(refused);
      await registry.ledger.append([entry()]);
      await registry.close();
      await expect(reach().lock(folder)).rejects.toThrow(refused);
      await unlock();
      await unlock();
      await reach().requireUnlocked();
      await (await reach().lock(folder))();
    });
  });
}
