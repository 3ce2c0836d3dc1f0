import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeClock } from '../../base/clock.ts';
import { isCloudAddress, objectNameOf } from '../../base/cloud-address.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { REQUEST } from '../testing/test-engine.ts';
import { readRowDocument } from './row-document.ts';
import { storeStage, until } from './testing/store-stage.ts';

const at = storeStage();

test('a filing answers when its object is whole in the store, beside what makes its row again', async () => {
  await at.start();
  for (const [id, state, kind] of [
    ['a', 'frozen', 'cold'],
    ['b', 'archived', 'archive'],
  ] as const) {
    await at.rest(id, state);
    const row = await at.rowOf(id);
    expect(row.vfsPath).toBe(row.stored?.address);
    expect(row).toMatchObject({ state, ownerHost: null, stored: { generation: row.generation } });
    expect(isCloudAddress(row.vfsPath)).toBe(true);
    expect(readFileSync(at.objectOf(row))).toEqual(readFileSync(at.copyOf(id, kind)));
    const name = objectNameOf(row.stored?.address ?? '');
    const beside = readRowDocument(readFileSync(join(at.bucket, `${name}.row.json`)), name);
    expect(beside).toMatchObject({ id, tenant: 'acme', state, stored: row.stored });
    expect(at.names().filter((path) => path.startsWith(name))).toEqual(
      [name, ...(state === 'archived' ? [`${name}.listing`] : []), `${name}.row.json`].sort(),
    );
  }
  expect((await at.dock.registry.storeNames.ofInstance('b')).map(({ kind, state }) => [kind, state]).sort()).toEqual([
    ['archive', 'current'],
    ['cold', 'superseded'],
  ]);
});

test('while the store is away a filing says so within seconds, is filed here, and the same request waits again', async () => {
  await at.start();
  await at.dock.create('a');
  await at.dock.put('a', '/kept', 'of a');
  await at.dock.sandboxes.suspend('a', REQUEST);
  at.away(true);
  for (const _ of ['first', 'again']) {
    const began = performance.now();
    await expect(at.dock.sandboxes.freeze('a', REQUEST)).rejects.toMatchObject({ code: 'storage_unavailable' });
    // Well under the minute that the next attempt of the upload may be away.
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(await at.rowOf('a')).toMatchObject({ state: 'frozen', vfsPath: 'cold/a.sqlite', fault: null, failures: 0 });
    expect(at.dock.sandboxes.store?.uploadOf(await at.rowOf('a'))).not.toBe('none');
  }
  at.away(false);
  const row = await at.dock.sandboxes.freeze('a', REQUEST);
  expect(isCloudAddress(row.vfsPath)).toBe(true);
  expect((await at.statesOf('a')).filter((state) => state === 'current')).toHaveLength(1);
});

test('where an upload is only to be queued a filing answers at once, and the queue outlives a restart', async () => {
  await at.start({ ack: 'queued' });
  at.away(true);
  for (const id of ['a', 'b']) {
    await at.dock.create(id);
    await at.dock.put(id, '/kept', id);
    await at.dock.sandboxes.suspend(id, REQUEST);
    expect((await at.dock.sandboxes.freeze(id, REQUEST)).vfsPath).toBe(`cold/${id}.sqlite`);
  }
  expect(await at.dock.registry.instances.uploadBacklog()).toMatchObject({ n: 2 });
  await at.dock.stop();
  at.away(false);
  const counted = at.counting();
  await at.start({ ack: 'queued', objects: counted.objects });
  await until(async () => (await at.dock.registry.instances.uploadBacklog()).n === 0);
  for (const id of ['a', 'b']) expect((await at.rowOf(id)).vfsPath).toMatch(/^cloud:cold\//);
  expect(counted.lists).toBe(0);
});

test('a verb that begins while a file is uploaded ends that, and what was sent is never named', async () => {
  for (const step of ['begun', 'sent', 'described']) {
    let isWoken = false;
    const wakeAt = async (reached: string) => {
      if (reached !== step || isWoken) return;
      isWoken = true;
      await at.dock.sandboxes.resume(step, REQUEST);
    };
    const objects: ObjectStore = {
      ...at.objects,
      async upload(...args) {
        await wakeAt('begun');
        const sent = await at.objects.upload(...args);
        await wakeAt('sent');
        return sent;
      },
      async put(...args) {
        const put = await at.objects.put(...args);
        await wakeAt('described');
        return put;
      },
    };
    await at.start({ ack: 'queued', objects });
    await at.rest(step);
    await until(async () => isWoken && (await at.statesOf(step)).join() === 'superseded');
    expect(await at.rowOf(step)).toMatchObject({ state: 'active', stored: null });
    expect(await at.dock.get(step, '/kept')).toBe(`of ${step}`);
    await at.dock.sandboxes.suspend(step, REQUEST);
    await at.dock.sandboxes.freeze(step, REQUEST);
    await until(async () => (await at.rowOf(step)).stored !== null);
  }
});

test('somebody who waits for an upload is told when the sandbox moves on', async () => {
  let woken: Promise<unknown> | null = null;
  await at.start(
    {},
    {
      failpoint: (reached) => {
        if (reached === 'upload.begun') woken ??= at.dock.sandboxes.resume('a', REQUEST);
      },
    },
  );
  await expect(at.rest('a')).rejects.toMatchObject({ code: 'conflict' });
  await woken;
  expect((await at.rowOf('a')).state).toBe('active');
});

test('copies stay within their bytes, the last used longest, and nothing goes that is not stored', async () => {
  await at.start({ cacheBytes: 0, cacheKeptMs: 0, ack: 'queued' });
  at.away(true);
  await at.rest('only');
  expect(at.has('only')).toBe(true);
  at.away(false);
  await at.dock.sandboxes.freeze('only', REQUEST);
  await until(() => !at.has('only'));
  expect(at.dock.sandboxes.store?.cached).toEqual({ files: 0, bytes: 0 });
  expect((await at.dock.sandboxes.resume('only', REQUEST)).source).toBe('cloud');
  await at.start();
  for (const id of ['a', 'b', 'c']) await at.rest(id);
  expect(await at.dock.get('a', '/kept')).toBe('of a');
  const { size } = statSync(at.copyOf('a'));
  await at.start({ cacheBytes: 2 * size, cacheKeptMs: 0 });
  await until(() => ['a', 'b', 'c'].filter((id) => at.has(id)).length === 2);
  for (const id of ['a', 'b', 'c']) expect(await at.dock.get(id, '/kept')).toBe(`of ${id}`);
});

test('a deleted sandbox’s objects go a day later, by their names alone, and what is named stays', async () => {
  const clock = new FakeClock();
  const counted = at.counting();
  await at.start({ objects: counted.objects }, { clock });
  await at.rest('gone', 'archived');
  await at.rest('stays');
  await at.objects.put('drawers/cold/gone/1-stranger', Buffer.from('not ours'));
  await at.dock.sandboxes.delete('gone', REQUEST);
  const before = at.names();
  expect(await at.dock.sandboxes.store?.collect()).toBe(0);
  expect(at.names()).toEqual(before);
  clock.advance(86_400_000 + 1000);
  // The frozen object that was superseded, and the archived one.
  expect(await at.dock.sandboxes.store?.collect()).toBe(2);
  const { stored } = await at.rowOf('stays');
  const name = objectNameOf(stored?.address ?? '');
  expect(at.names()).toEqual(['drawers/cold/gone/1-stranger', name, `${name}.row.json`]);
  expect(await at.statesOf('gone')).toEqual([]);
  // A registry that says of a name that a row has it, and that it was superseded: the row counts.
  await at.dock.registry.storeNames.supersede([name], 0);
  expect(await at.dock.sandboxes.store?.collect()).toBe(0);
  expect(at.names()).toContain(name);
  expect(counted.lists).toBe(0);
});

test('a clock that is set back a day, or by years, neither removes anything early nor keeps it for good', async () => {
  for (const seconds of [86_400, 10 * 365 * 86_400]) {
    const clock = new FakeClock();
    clock.advance(seconds);
    await at.start({}, { clock });
    const id = `of-${seconds}`;
    await at.rest(id, 'archived');
    await at.dock.sandboxes.delete(id, REQUEST);
    const before = at.names();
    clock.advance(-seconds);
    for (const hours of [0, 1, 22.9]) {
      clock.advance(hours * 3600);
      expect(await at.dock.sandboxes.store?.collect()).toBe(0);
    }
    expect(at.names()).toEqual(before);
    clock.advance(2 * 3600);
    expect(await at.dock.sandboxes.store?.collect()).toBe(2);
    expect(at.names()).toEqual([]);
  }
});

test('deleting asks nothing of the store, and is done while that is away', async () => {
  await at.start();
  await at.rest('a', 'archived');
  await at.rest('b');
  rmSync(at.copyOf('b'));
  at.away(true);
  await at.dock.sandboxes.delete('a', REQUEST);
  await at.dock.sandboxes.runPlan('b', 'deleted', REQUEST);
  for (const id of ['a', 'b']) expect(await at.rowOf(id)).toMatchObject({ state: 'deleted', stored: null });
  at.away(false);
});

test('who asks while the upload ends is answered with what was stored', async () => {
  let seen: PromiseWithResolvers<void> | null = null;
  const between = (registry: Registry): Registry => ({
    ...registry,
    instances: {
      ...registry.instances,
      async get(id) {
        const row = await registry.instances.get(id);
        if (row?.vfsPath !== 'cold/a.sqlite' || seen === null) return row;
        const { resolve } = seen;
        seen = null;
        resolve();
        // The answer is late: meanwhile the row is stored.
        await until(async () => (await registry.instances.get(id))?.stored !== null);
        return row;
      },
    },
  });
  const begun = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const objects: ObjectStore = {
    ...at.objects,
    async upload(...args) {
      begun.resolve();
      await goesOn.promise;
      return at.objects.upload(...args);
    },
  };
  await at.start({ objects }, { between });
  const first = at.rest('a');
  await begun.promise;
  seen = Promise.withResolvers<void>();
  const { promise } = seen;
  const second = at.dock.sandboxes.freeze('a', REQUEST);
  await promise;
  goesOn.resolve();
  await first;
  expect(isCloudAddress((await second).vfsPath)).toBe(true);
});
