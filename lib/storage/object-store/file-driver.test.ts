import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { observeEffects } from '../../base/effects.ts';
import type { StoreConnection } from '../../base/store-url.ts';
import type { ObjectStore } from './object-store.ts';
import { openObjectStore } from './open-store.ts';
import { objectStoreContract } from './testing/contract-suite.ts';

const CONNECTION: StoreConnection = {
  ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
};
const suite = mkdtempSync(join(tmpdir(), 'winterdock-file-store-'));
afterAll(() => rmSync(suite, { recursive: true }));

describe('a store in a folder', () => {
  const store = () => openObjectStore(pathToFileURL(join(suite, 'a store')).href, CONNECTION);
  objectStoreContract(store, { traits: { ifMatchMade: null, ifMatchRefused: null } });
});

describe('a folder that others can reach', () => {
  let folder: string;
  let root: string;
  let store: ObjectStore;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-file-store-'));
    root = join(folder, 'store');
    store = await openObjectStore(pathToFileURL(root).href, CONNECTION);
    writeFileSync(join(folder, 'secret'), 'secret');
  });
  afterEach(() => {
    observeEffects(null);
    rmSync(folder, { recursive: true });
  });

  const listed = async () => {
    const found: string[] = [];
    for await (const page of store.list('')) found.push(...page.map((one) => one.name));
    return found.toSorted();
  };

  test.each(['small', 'large'])(
    'that is gone is away for a %s upload, and nothing is made in its place',
    async (size) => {
      writeFileSync(join(folder, 'file'), Buffer.alloc(size === 'small' ? 10 : 12_000_000));
      renameSync(root, `${root}-away`);
      await expect(store.upload('a/b', join(folder, 'file'))).rejects.toMatchObject({ extra: { away: 'no_bucket' } });
      expect(existsSync(root)).toBe(false);
      // A folder of the same name may be the place where a disk is mounted.
      mkdirSync(root);
      await expect(store.upload('a/b', join(folder, 'file'))).rejects.toMatchObject({ extra: { away: 'no_bucket' } });
      expect(readdirSync(root)).toEqual([]);
    },
  );

  test('loses after a day, and at no other time, what a killed process left unfinished', async () => {
    await store.put('a', Buffer.from('x'));
    const left = join(root, '.staging', 'left');
    writeFileSync(left, 'half');
    // As of what is in it: that says nothing of when it was written.
    utimesSync(left, 1, 1);
    const opened = () => openObjectStore(pathToFileURL(root).href, CONNECTION);
    await (await opened()).close();
    expect(readdirSync(join(root, '.staging'))).toEqual(['left']);
    vi.useFakeTimers({ now: Date.now() + 86_500_000, toFake: ['Date'] });
    try {
      await (await opened()).close();
    } finally {
      vi.useRealTimers();
    }
    expect(readdirSync(join(root, '.staging'))).toEqual([]);
  });

  test('is made for its owner alone, and neither it nor its objects are for others', async () => {
    await store.put('a/b', Buffer.from('x'));
    for (const path of [root, join(root, 'a'), join(root, 'a', 'b')]) expect(statSync(path).mode & 0o077).toBe(0);
  });

  test('has links, pipes and folders in place of objects: none is followed, waited for or removed', async () => {
    await store.put('real', Buffer.from('real'));
    symlinkSync(join(folder, 'secret'), join(root, 'link'));
    symlinkSync(join(root, 'real'), join(root, 'inner'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    mkdirSync(join(root, 'folder'));
    for (const name of ['link', 'inner', 'pipe', 'folder']) {
      await expect(store.get(name)).rejects.toMatchObject({ code: 'corrupt' });
      await expect(store.head(name)).rejects.toMatchObject({ code: 'corrupt' });
      await expect(store.open(name)).rejects.toMatchObject({ code: 'corrupt' });
      await expect(store.download(name, join(folder, 'back'))).rejects.toMatchObject({ code: 'corrupt' });
      await expect(store.copy(name, 'copied')).rejects.toMatchObject({ code: 'corrupt' });
      await expect(store.remove(name)).rejects.toMatchObject({ code: 'corrupt' });
      expect(lstatSync(join(root, name)).isFile()).toBe(false);
    }
    expect(await listed()).toEqual(['real']);
    expect(existsSync(join(folder, 'back'))).toBe(false);
  });

  test('has a link in place of a folder: nothing is read, listed or written behind it', async () => {
    mkdirSync(join(folder, 'outside'));
    writeFileSync(join(folder, 'outside', 'secret'), 'secret');
    symlinkSync(join(folder, 'outside'), join(root, 'drawers'));
    await expect(store.get('drawers/secret')).rejects.toMatchObject({ code: 'corrupt' });
    await expect(store.put('drawers/mine', Buffer.from('x'))).rejects.toMatchObject({ code: 'corrupt' });
    await expect(store.put('drawers/deep/mine', Buffer.from('x'))).rejects.toMatchObject({ code: 'corrupt' });
    await expect(store.remove('drawers/secret')).rejects.toMatchObject({ code: 'corrupt' });
    expect(await listed()).toEqual([]);
    for await (const page of store.list('drawers/')) expect(page).toEqual([]);
    expect(readdirSync(join(folder, 'outside'))).toEqual(['secret']);
  });

  test('has an object where a folder is wanted: it stays', async () => {
    await store.put('a', Buffer.from('one'));
    await expect(store.put('a/b', Buffer.from('two'))).rejects.toMatchObject({ code: 'corrupt' });
    expect(await store.head('a/b')).toBeNull();
    expect(Buffer.from(await store.get('a')).toString()).toBe('one');
  });

  test('that was taken away is away, and nothing is written into what is there instead', async () => {
    await store.put('a', Buffer.from('one'));
    renameSync(root, join(folder, 'taken'));
    const away = { code: 'storage_unavailable', extra: { away: 'no_bucket' } };
    await expect(store.get('a')).rejects.toMatchObject(away);
    mkdirSync(root);
    for (const method of [
      () => store.get('a'),
      () => store.head('a'),
      () => store.put('b', Buffer.from('x')),
      () => store.upload('b', join(folder, 'secret')),
      () => store.remove('a'),
      () => store.copy('a', 'b'),
      () => listed(),
    ]) {
      await expect(method()).rejects.toMatchObject(away);
    }
    expect(readdirSync(root)).toEqual([]);
  });

  test('that does not exist, nor the one above it, is away', async () => {
    const url = pathToFileURL(join(folder, 'no', 'store')).href;
    await expect(openObjectStore(url, CONNECTION)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(existsSync(join(folder, 'no'))).toBe(false);
  });

  test.skipIf(process.getuid?.() === 0)('that is closed to this user is away', async () => {
    chmodSync(root, 0);
    await expect(store.get('a')).rejects.toMatchObject({ extra: { away: 'refused' } });
    chmodSync(root, 0o700);
  });

  test.each(['create', 'write', 'sync', 'rename'])(
    'is full or broken at %s: no object, and no part of one',
    async (kind) => {
      observeEffects({
        before(effect) {
          if (effect.kind === kind && effect.path.includes('.staging')) {
            throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' });
          }
        },
      });
      const failing = store.upload('a/b', join(folder, 'secret'));
      await expect(failing).rejects.toMatchObject({ code: 'storage_unavailable', extra: { away: 'full' } });
      observeEffects(null);
      expect(await listed()).toEqual([]);
      expect(readdirSync(join(root, '.staging'))).toEqual([]);
    },
  );

  test('keeps what a killed process left until its name is purged, and nobody else’s', async () => {
    let left = '';
    observeEffects({
      before(effect) {
        if (effect.kind !== 'rename') return;
        left = effect.path;
        throw new Error('killed');
      },
    });
    await expect(store.upload('a/b', join(folder, 'secret'))).rejects.toThrow('killed');
    observeEffects(null);
    writeFileSync(left, 'half');
    writeFileSync(join(root, '.staging', 'other'), 'half');
    await store.purge('a/c');
    expect(readdirSync(join(root, '.staging'))).toHaveLength(2);
    await store.purge('a/b');
    expect(readdirSync(join(root, '.staging'))).toEqual(['other']);
  });

  test('reports what is wrong with a local file as that, and not as the store’s', async () => {
    mkdirSync(join(folder, 'mine'));
    await expect(store.upload('a', join(folder, 'mine'))).rejects.toMatchObject({ code: 'corrupt' });
    await store.put('a', Buffer.from('x'));
    const nowhere = store.download('a', join(folder, 'no', 'back'));
    await expect(nowhere).rejects.toMatchObject({ code: 'ENOENT' });
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('secret');
  });
});
