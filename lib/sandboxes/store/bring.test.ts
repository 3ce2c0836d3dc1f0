import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeClock } from '../../base/clock.ts';
import { observeEffects } from '../../base/effects.ts';
import type { Registry } from '../../registry/registry.ts';
import { REQUEST, startTestEngine } from '../testing/test-engine.ts';
import { storeStage, until } from './testing/store-stage.ts';

const at = storeStage();

test('what is cached wakes as ever, and what is not comes from the store, whole', async () => {
  await at.start();
  for (const [id, state, kind] of [
    ['near', 'frozen', 'cold'],
    ['far', 'frozen', 'cold'],
    ['packed', 'archived', 'archive'],
  ] as const) {
    await at.rest(id, state);
    if (id !== 'near') rmSync(at.copyOf(id, kind));
    const { row, source } = await at.dock.sandboxes.resume(id, REQUEST);
    expect([id, source]).toEqual([id, id === 'near' ? 'cold' : 'cloud']);
    expect(row.stored).not.toBeNull();
    expect(await at.dock.get(id, '/kept')).toBe(`of ${id}`);
    expect(await at.dock.get(id, '/kept', 'memory')).toBe(`of ${id}`);
    expect(at.has(id, kind)).toBe(false);
  }
});

test('reading, copying and listing bring what is not cached once, however many ask, and record it', async () => {
  const counted = at.counting();
  await at.start({ objects: counted.objects });
  await at.rest('a');
  await at.rest('b', 'archived');
  for (const id of ['a', 'b']) {
    const kind = id === 'a' ? 'cold' : 'archive';
    rmSync(at.copyOf(id, kind));
    counted.downloads.length = 0;
    const texts = await Promise.all([1, 2, 3, 4].map(() => at.dock.get(id, '/kept')));
    expect(texts).toEqual(Array(4).fill(`of ${id}`));
    expect(counted.downloads).toHaveLength(1);
    expect(at.has(id, kind)).toBe(true);
    const row = await at.rowOf(id);
    expect(row.vfsPath).toBe(row.stored?.address);
    const stat = statSync(at.copyOf(id, kind), { bigint: true });
    expect(row.file).toMatchObject({ inode: `${stat.ino}`, ctimeNs: `${stat.ctimeNs}`, sha256: row.stored?.sha256 });
    rmSync(at.copyOf(id, kind));
    const copy = join(at.folder, `copy of ${id}`);
    await at.dock.sandboxes.copyOut(id, copy, { volumes: ['workspace'] });
    expect(statSync(copy).size).toBeGreaterThan(0);
  }
  rmSync(join(at.folder, 'archive'), { recursive: true });
  mkdirSync(join(at.folder, 'archive'));
  counted.downloads.length = 0;
  const listed = await at.dock.sandboxes.read('b', { op: 'list', volume: 'workspace', limit: 10 });
  expect(listed.files.map(({ path }) => path)).toEqual(['/kept']);
  expect(counted.downloads.map((name) => name.split('.').at(-1))).toEqual(['listing']);
});

test('who reads what is not cached while somebody wakes it, or wakes and suspends it, reads it as it is then', async () => {
  await at.start();
  for (const id of ['woken', 'suspended']) {
    await at.rest(id);
    rmSync(at.copyOf(id));
    const { sandboxes } = at.dock;
    const moved = sandboxes.resume(id, REQUEST);
    const suspended = id === 'suspended' ? sandboxes.suspend(id, REQUEST) : null;
    expect(await Promise.all([1, 2, 3].map(() => at.dock.get(id, '/kept')))).toEqual(Array(3).fill(`of ${id}`));
    await Promise.all([moved, suspended]);
    expect(await at.rowOf(id)).toMatchObject({ fault: null });
  }
});

test('what is prefetched comes from the store, and goes back without being sent again', async () => {
  const clock = new FakeClock();
  await at.start({}, { clock });
  await at.rest('a');
  const before = await at.rowOf('a');
  rmSync(at.copyOf('a'));
  expect(await at.dock.sandboxes.prefetch('a', REQUEST)).toEqual({ source: 'cloud', vfsPath: 'live/a/vfs.sqlite' });
  clock.advance(600_000);
  await at.dock.sandboxes.tick();
  const after = await at.rowOf('a');
  expect(after).toMatchObject({ state: 'frozen', vfsPath: before.vfsPath, stored: before.stored, ownerHost: null });
  expect(at.has('a')).toBe(true);
  expect(await at.statesOf('a')).toEqual(['current']);
  expect(await at.dock.get('a', '/kept')).toBe('of a');
});

test('what is archived or replaced although it is not cached comes near first, and nothing of it is lost', async () => {
  await at.start();
  await at.rest('a');
  rmSync(at.copyOf('a'));
  await at.dock.sandboxes.archive('a', REQUEST);
  expect(await at.rowOf('a')).toMatchObject({ state: 'archived', vfsPath: expect.stringMatching(/^cloud:archive/) });
  expect(await at.dock.get('a', '/kept')).toBe('of a');

  await at.rest('forced');
  rmSync(at.copyOf('forced'));
  at.away(true);
  await expect(at.dock.sandboxes.archive('forced', REQUEST, { force: true })).rejects.toMatchObject({
    code: 'storage_unavailable',
  });
  await expect(at.dock.sandboxes.resume('forced', REQUEST, { force: true })).rejects.toMatchObject({
    code: 'storage_unavailable',
  });
  await expect(at.dock.get('forced', '/kept')).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(await at.rowOf('forced')).toMatchObject({ state: 'frozen', fault: null, pending: null });
  at.away(false);
  expect((await at.dock.sandboxes.resume('forced', REQUEST)).source).toBe('cloud');
  expect(await at.dock.get('forced', '/kept')).toBe('of forced');
});

test('a copy that somebody replaced by other bytes or a link is kept aside, and the stored file is brought', async () => {
  await at.start();
  for (const [id, replace] of [
    ['bytes', (path: string) => writeFileSync(path, 'something else')],
    [
      'link',
      (path: string) => {
        rmSync(path);
        symlinkSync('/etc/passwd', path);
      },
    ],
    ['other', (path: string) => copyFileSync(at.copyOf('whole'), path)],
  ] as const) {
    if (id === 'other') await at.rest('whole');
    await at.rest(id);
    replace(at.copyOf(id));
    expect([id, (await at.dock.sandboxes.resume(id, REQUEST)).source]).toEqual([id, 'cloud']);
    expect(await at.dock.get(id, '/kept')).toBe(`of ${id}`);
    expect((await at.rowOf(id)).fault).toBeNull();
  }
  expect(readFileSync('/etc/passwd', 'utf8')).toContain('root');
});

test('an object with other bytes raises the fault and is not taken, and the copy that is here goes on', async () => {
  await at.start();
  await at.rest('a');
  await at.rest('b');
  for (const id of ['a', 'b']) writeFileSync(at.objectOf(await at.rowOf(id)), 'x'.repeat(4096), { mode: 0o600 });
  rmSync(at.copyOf('a'));
  await expect(at.dock.sandboxes.resume('a', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
  expect(await at.rowOf('a')).toMatchObject({ state: 'frozen', fault: 'corrupt' });
  expect(at.has('a')).toBe(false);
  expect((await at.dock.sandboxes.resume('b', REQUEST)).source).toBe('cold');
});

test('of a file that is lost and was not stored the older one is the way out, asked for by name', async () => {
  await at.start();
  await at.rest('a', 'frozen', 'before');
  await at.dock.put('a', '/kept', 'after');
  await at.dock.sandboxes.suspend('a', REQUEST);
  const { stored } = await at.rowOf('a');
  await expect(at.dock.sandboxes.resume('a', REQUEST, { fromStored: true })).rejects.toMatchObject({
    code: 'conflict',
  });
  rmSync(join(at.folder, 'live', 'a'), { recursive: true });
  await expect(at.dock.sandboxes.resume('a', REQUEST)).rejects.toMatchObject({ code: 'missing_file' });
  expect(await at.rowOf('a')).toMatchObject({ fault: 'missing', stored });
  const audit = { ...REQUEST, reason: 'it is better than nothing' };
  expect(await at.dock.sandboxes.resume('a', audit, { fromStored: true })).toMatchObject({ path: 'cold' });
  expect(await at.dock.get('a', '/kept')).toBe('before');
  expect((await at.rowOf('a')).fault).toBeNull();
  const [line] = (await at.dock.registry.ledger.page({ instance: 'a', type: 'file.restored' }, 5)).rows;
  expect(line).toMatchObject({ source: 'cloud', reason: expect.stringContaining('it is better than nothing') });
  expect(line?.reason).toContain('what was written since is lost');
  await at.dock.create('fresh');
  await expect(at.dock.sandboxes.resume('fresh', REQUEST, { fromStored: true })).rejects.toMatchObject({
    code: 'missing_file',
  });
});

test('a file that is brought back as it was filed is not said to have lost anything', async () => {
  await at.start({ cacheBytes: 0 });
  await at.rest('a');
  const object = at.objectOf(await at.rowOf('a'));
  const whole = readFileSync(object);
  rmSync(at.copyOf('a'), { force: true });
  writeFileSync(object, 'something else');
  await expect(at.dock.sandboxes.resume('a', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
  expect(await at.rowOf('a')).toMatchObject({ fault: 'corrupt' });
  writeFileSync(object, whole);
  await at.dock.sandboxes.resume('a', { ...REQUEST, reason: 'the store is mended' }, { fromStored: true });
  expect(await at.dock.get('a', '/kept')).toBe('of a');
  const [line] = (await at.dock.registry.ledger.page({ instance: 'a', type: 'file.restored' }, 5)).rows;
  expect(line?.reason).toContain('it is the one that was filed');
});

test('the scrubber takes a cached copy that rotted away, and finds nothing wrong with one that is not there', async () => {
  await at.start();
  await at.rest('rotten');
  await at.rest('evicted');
  await at.dock.stop();
  rmSync(at.copyOf('evicted'));
  const path = at.copyOf('rotten');
  const { atime, mtime } = statSync(path);
  const bytes = readFileSync(path);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(path, bytes);
  utimesSync(path, atime, mtime);
  const { registry } = await at.start({}, { scrub: { startMs: 0, passMs: 0, pageMs: 1, share: 1 } });
  const { file, generation } = await at.rowOf('rotten');
  const now = statSync(path, { bigint: true });
  // Its stat as recorded: it rotted on the disk.
  await registry.instances.recordBrought('rotten', generation, {
    ...(file ?? { sha256: null, quickCheck: null }),
    size: Number(now.size),
    inode: `${now.ino}`,
    mtimeNs: `${now.mtimeNs}`,
    ctimeNs: `${now.ctimeNs}`,
  });
  await until(() => !at.has('rotten'));
  for (const id of ['rotten', 'evicted']) {
    expect((await at.rowOf(id)).fault).toBeNull();
    expect(await at.dock.get(id, '/kept')).toBe(`of ${id}`);
  }
  expect(await at.typesOf('rotten')).toContain('orphan.set_aside');
});

test('an object that is not found counts as lost only once that is established, and its sandbox has the fault then', async () => {
  const established = Promise.withResolvers<boolean>();
  await at.start({ isMissing: () => established.promise });
  await at.rest('a');
  const row = await at.rowOf('a');
  rmSync(at.objectOf(row));
  rmSync(at.copyOf('a'));
  for (const asking of [at.dock.sandboxes.resume('a', REQUEST), at.dock.get('a', '/kept')]) {
    await expect(asking).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await at.rowOf('a')).toMatchObject({ fault: null, state: 'frozen', pending: null });
  }
  established.resolve(true);
  await until(async () => (await at.rowOf('a')).fault === 'missing');
  expect(await at.rowOf('a')).toMatchObject({ faultReason: expect.stringContaining(row.stored?.address ?? '') });
});

test('an object that the store forgot is stored again from its copy before that may go', async () => {
  await at.start();
  await at.rest('a');
  const forgotten = await at.rowOf('a');
  rmSync(at.objectOf(forgotten));
  await at.start({ cacheBytes: 0, cacheKeptMs: 0 });
  await until(async () => (await at.rowOf('a')).stored?.address !== forgotten.stored?.address);
  await until(() => !at.has('a'));
  expect(await at.typesOf('a')).toContain('file.forgotten');
  // Where what is brought stays until it was read.
  await at.start();
  expect(await at.dock.get('a', '/kept')).toBe('of a');
});

test('a disk that is full while a file is brought is no fault of the sandbox, and nothing is left of the attempt', async () => {
  await at.start();
  await at.rest('a');
  rmSync(at.copyOf('a'));
  const before = await at.rowOf('a');
  for (const kind of ['create', 'write', 'sync', 'rename'] as const) {
    let isFull = false;
    observeEffects({
      before: (effect) => {
        if (effect.kind !== kind || !/\/cold\/\.staging\//.test(effect.path)) return;
        isFull = true;
        throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' });
      },
    });
    try {
      for (const ask of [() => at.dock.sandboxes.resume('a', REQUEST), () => at.dock.get('a', '/kept')]) {
        await expect(ask(), kind).rejects.toMatchObject({ code: 'storage_unavailable' });
      }
    } finally {
      observeEffects(null);
    }
    expect([kind, isFull]).toEqual([kind, true]);
    expect(await at.rowOf('a')).toMatchObject({ fault: null, state: 'frozen', pending: null, stored: before.stored });
    expect(readdirSync(join(at.folder, 'cold', '.staging'))).toEqual([]);
  }
  expect((await at.dock.sandboxes.resume('a', REQUEST)).source).toBe('cloud');
  expect(await at.dock.get('a', '/kept')).toBe('of a');
});

test('two wakes at once bring once', async () => {
  const counted = at.counting();
  await at.start({ objects: counted.objects });
  await at.rest('a');
  rmSync(at.copyOf('a'));
  const woken = await Promise.all([at.dock.sandboxes.resume('a', REQUEST), at.dock.sandboxes.resume('a', REQUEST)]);
  expect(woken.map(({ source }) => source)).toEqual(['cloud', null]);
  expect(counted.downloads).toHaveLength(1);
});

test('a wake of what is cached asks the registry as often as one without a store, and the store for nothing', async () => {
  const asked: string[] = [];
  const between = (registry: Registry): Registry => {
    const counting = <T extends object>(store: T): T =>
      new Proxy(store, {
        get(target, name) {
          const method: unknown = Reflect.get(target, name);
          if (typeof method !== 'function') return method;
          return (...args: unknown[]) => {
            asked.push(String(name));
            return Reflect.apply(method, target, args);
          };
        },
      });
    const { instances, ledger, quotas } = registry;
    return { ...registry, instances: { ...counting(instances) }, ledger: counting(ledger), quotas: counting(quotas) };
  };
  const counted = at.counting();
  const asks: string[][] = [];
  for (const [id, hasStore] of [
    ['stored', true],
    ['plain', false],
  ] as const) {
    // Without `start` nothing is uploaded, and nothing beside the wake asks.
    await at.start({ objects: counted.objects }, { between });
    if (hasStore) await at.rest(id);
    await at.dock.stop();
    const dock = await startTestEngine({
      dataFolder: at.folder,
      between,
      ...(hasStore && { store: { objects: counted.objects } }),
    });
    if (!hasStore) {
      await dock.create(id);
      await dock.put(id, '/kept', 'x');
      await dock.sandboxes.suspend(id, REQUEST);
      await dock.sandboxes.freeze(id, REQUEST);
    }
    counted.downloads.length = 0;
    asked.length = 0;
    expect((await dock.sandboxes.resume(id, REQUEST)).source).toBe('cold');
    asks.push([...asked]);
    await dock.stop();
  }
  expect(asks[0]?.length).toBeGreaterThan(2);
  expect(asks[0]).toEqual(asks[1]);
  expect(counted.downloads).toEqual([]);
});
