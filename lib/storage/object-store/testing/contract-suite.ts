/** The suite that every object store passes: a case for each promise of object-store.ts. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Effect, observeEffects } from '../../../base/effects.ts';
import type { ListedObject, ObjectStore, StoreTraits } from '../object-store.ts';

/** What a store is known not to do. */
export interface StoreExceptions {
  /** The conditions that it keeps; all by default. */
  traits?: Partial<StoreTraits>;
  /** Bytes of the file that goes in several parts. */
  largeBytes?: number;
}

export const sha256 = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex');

/** Bytes that neither compress nor repeat. */
export function drawnBytes(size: number, seed: number): Buffer {
  const content = Buffer.alloc(size);
  let state = seed >>> 0;
  for (let at = 0; at + 4 <= size; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    content.writeUInt32LE((state ^ (state >>> 13)) >>> 0, at);
  }
  return content;
}

/** Runs the suite. `make` opens the store; each case uses names of its own. */
export function objectStoreContract(make: () => Promise<ObjectStore>, exceptions: StoreExceptions = {}): void {
  const { traits = {}, largeBytes = 20 * 1024 * 1024 + 17 } = exceptions;
  let store: ObjectStore;
  let folder: string;
  let place: string;

  beforeAll(async () => {
    store = await make();
  });
  afterAll(() => store.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-objects-'));
    place = `suite/${randomUUID()}`;
  });
  afterEach(() => {
    observeEffects(null);
    rmSync(folder, { recursive: true, force: true });
  });

  const name = (last: string) => `${place}/${last}`;
  const local = (last: string, content: Uint8Array) => {
    writeFileSync(join(folder, last), content);
    return join(folder, last);
  };
  const all = async (prefix: string) => {
    const found: ListedObject[] = [];
    for await (const page of store.list(prefix)) found.push(...page);
    return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  };
  const names = async (prefix: string) => (await all(prefix)).map((one) => one.name);
  const text = async (at: string) => Buffer.from(await store.get(at)).toString();

  describe('a document', () => {
    test('is read back, and is in the next list with its size', async () => {
      const before = Date.now();
      const stat = await store.put(name('a'), Buffer.from('one'));
      expect(stat).toMatchObject({ bytes: 3, etag: expect.any(String) });
      expect(Math.abs(stat.at - before)).toBeLessThan(120_000);
      expect(await text(name('a'))).toBe('one');
      expect(await store.head(name('a'))).toMatchObject({ bytes: 3, etag: stat.etag });
      expect(await all(place)).toMatchObject([{ name: name('a'), bytes: 3, etag: stat.etag }]);
    });

    test('may be empty', async () => {
      await store.put(name('a'), new Uint8Array());
      expect(await text(name('a'))).toBe('');
      expect(await (await store.open(name('a'))).toArray()).toEqual([]);
    });

    test('replaces one of the same name, and has another etag then', async () => {
      const first = await store.put(name('a'), Buffer.from('one'));
      const second = await store.put(name('a'), Buffer.from('two'));
      expect(second.etag).not.toBe(first.etag);
      expect(await text(name('a'))).toBe('two');
    });

    test('is refused above a megabyte, and not read above what is allowed', async () => {
      await expect(store.put(name('a'), Buffer.alloc(1024 * 1024 + 1))).rejects.toMatchObject({ code: 'too_large' });
      expect(await store.head(name('a'))).toBeNull();
      await store.put(name('a'), Buffer.alloc(1024 * 1024));
      await expect(store.get(name('a'), { most: 1024 })).rejects.toMatchObject({ code: 'too_large' });
    });

    test('is a missing file where there is none', async () => {
      for (const one of [() => store.get(name('a')), () => store.open(name('a'))]) {
        await expect(one()).rejects.toMatchObject({ code: 'missing_file' });
      }
      expect(await store.head(name('a'))).toBeNull();
      expect(await names(place)).toEqual([]);
    });

    test.skipIf(traits.ifAbsentRefused === false)('that must be new leaves one that is there', async () => {
      await store.put(name('a'), Buffer.from('one'), { ifAbsent: true });
      const second = store.put(name('a'), Buffer.from('two'), { ifAbsent: true });
      await expect(second).rejects.toMatchObject({ code: 'conflict' });
      expect(await text(name('a'))).toBe('one');
    });

    test.skipIf(traits.ifAbsentRefused === false)('that must be new is made by exactly one of twelve', async () => {
      const racers = Array.from({ length: 12 }, (_, at) =>
        store.put(name('a'), Buffer.from(`racer ${at}`), { ifAbsent: true }).then(
          () => `racer ${at}`,
          (error) => {
            expect(error).toMatchObject({ code: 'conflict' });
            return null;
          },
        ),
      );
      const winners = (await Promise.all(racers)).filter((one) => one !== null);
      expect(winners).toEqual([await text(name('a'))]);
    });
  });

  describe('a stream', () => {
    test('gives a range, up to the end where it has no last byte', async () => {
      await store.put(name('a'), Buffer.from('0123456789'));
      const part = async (range: { first: number; last?: number }) =>
        Buffer.concat(await (await store.open(name('a'), { range })).toArray()).toString();
      expect(await part({ first: 2, last: 4 })).toBe('234');
      expect(await part({ first: 7 })).toBe('789');
      expect(await part({ first: 8, last: 100 })).toBe('89');
      await expect(part({ first: 10 })).rejects.toMatchObject({ code: 'range_not_satisfiable' });
    });

    test('may be left in the middle', async () => {
      await store.upload(name('a'), local('a', drawnBytes(3_000_000, 1)));
      for await (const _ of await store.open(name('a'))) break;
      expect((await store.head(name('a')))?.bytes).toBe(3_000_000);
    });
  });

  describe('a file', () => {
    test.each([
      ['empty', 0],
      ['small', 100_000],
      ['of several parts', largeBytes],
    ])('that is %s comes back with the same bytes', async (_, size) => {
      const content = drawnBytes(size, 7);
      const path = local('a', content);
      const gone: number[] = [];
      const sent = await store.upload(name('a'), path, { sha256: sha256(content), progress: (at) => gone.push(at) });
      expect(sent).toEqual({ bytes: size, sha256: sha256(content) });
      expect(gone).toEqual(gone.toSorted((one, other) => one - other));
      expect(existsSync(path)).toBe(true);
      expect(await store.head(name('a'))).toMatchObject({ bytes: size });
      const back = join(folder, 'back');
      const received = await store.download(name('a'), back, { sha256: sha256(content), bytes: size });
      expect(received).toEqual({ bytes: size, sha256: sha256(content) });
      expect(sha256(readFileSync(back))).toBe(sha256(content));
    });

    test('that is another one than was filed is not stored', async () => {
      for (const size of [1000, largeBytes]) {
        const sending = store.upload(name(`a${size}`), local('a', drawnBytes(size, 1)), { sha256: sha256('other') });
        await expect(sending).rejects.toMatchObject({ code: 'corrupt' });
      }
      expect(await names(place)).toEqual([]);
    });

    test('that is not there is not stored', async () => {
      await expect(store.upload(name('a'), join(folder, 'a'))).rejects.toMatchObject({ code: 'ENOENT' });
      expect(await names(place)).toEqual([]);
    });

    test('that is packed is stored as it is, and known by what it expands to', async () => {
      const content = Buffer.alloc(400_000, 'winter ');
      const packed = zstdCompressSync(content);
      const path = local('a', packed);
      const whole = { bytes: packed.length, sha256: sha256(packed), expandedSha256: sha256(content) };
      expect(await store.upload(name('a'), path, { packed: true, sha256: sha256(content) })).toEqual(whole);
      const again = store.upload(name('b'), path, { packed: true, sha256: sha256(packed) });
      await expect(again).rejects.toMatchObject({ code: 'corrupt' });
      const checked = { packed: true, sha256: sha256(content) };
      expect(await store.download(name('a'), join(folder, 'as-stored'), checked)).toEqual(whole);
      expect(sha256(readFileSync(join(folder, 'as-stored')))).toBe(sha256(packed));
      const expanded = join(folder, 'expanded');
      expect(await store.download(name('a'), expanded, { expand: true, sha256: sha256(content) })).toEqual(whole);
      expect(sha256(readFileSync(expanded))).toBe(sha256(content));
    });

    test('that does not expand is no packed one', async () => {
      const path = local('a', zstdCompressSync(drawnBytes(300_000, 1)).subarray(0, 200_000));
      await expect(store.upload(name('a'), path, { packed: true })).rejects.toMatchObject({ code: 'corrupt' });
      await store.upload(name('a'), path);
      for (const options of [{ packed: true }, { expand: true }]) {
        const receiving = store.download(name('a'), join(folder, 'back'), options);
        await expect(receiving).rejects.toMatchObject({ code: 'corrupt' });
        expect(readdirSync(folder)).toEqual(['a']);
      }
    });

    test('with wrong bytes is corrupt, and none is left', async () => {
      const content = drawnBytes(50_000, 3);
      await store.upload(name('a'), local('a', content));
      for (const options of [{ sha256: sha256('other') }, { bytes: 49_999 }, { bytes: 50_001 }]) {
        const receiving = store.download(name('a'), join(folder, 'back'), options);
        await expect(receiving).rejects.toMatchObject({ code: 'corrupt' });
      }
      expect(readdirSync(folder)).toEqual(['a']);
    });

    test('that is missing leaves no file, and one in its way stays', async () => {
      const back = join(folder, 'back');
      await expect(store.download(name('a'), back)).rejects.toMatchObject({ code: 'missing_file' });
      expect(existsSync(back)).toBe(false);
      await store.put(name('a'), Buffer.from('one'));
      writeFileSync(back, 'mine');
      await expect(store.download(name('a'), back)).rejects.toMatchObject({ code: 'EEXIST' });
      expect(readFileSync(back, 'utf8')).toBe('mine');
    });

    test('is not stored once its transfer is called off, and not brought', async () => {
      const path = local('a', drawnBytes(largeBytes, 1));
      const sending = new AbortController();
      const why = new Error('woken');
      // Progress may be told of only once it has ended: what is called off at once is always under way.
      const uploading = store.upload(name('a'), path, { signal: sending.signal });
      setImmediate(() => sending.abort(why));
      await expect(uploading).rejects.toBe(why);
      expect(await store.head(name('a'))).toBeNull();
      await store.upload(name('b'), path);
      const receiving = new AbortController();
      const bringing = store.download(name('b'), join(folder, 'back'), { signal: receiving.signal });
      setImmediate(() => receiving.abort(why));
      await expect(bringing).rejects.toBe(why);
      expect(readdirSync(folder)).toEqual(['a']);
      for (const method of [
        () => store.put(name('c'), Buffer.from('one'), { signal: receiving.signal }),
        () => store.get(name('b'), { signal: receiving.signal }),
        () => store.upload(name('c'), path, { signal: receiving.signal }),
      ]) {
        await expect(method()).rejects.toBe(why);
      }
      expect(await names(place)).toEqual([name('b')]);
    });
  });

  describe('a list', () => {
    test('has every name that begins with the prefix once, on any number of pages', async () => {
      const made = Array.from({ length: 30 }, (_, at) => name(`part-${at % 3}/object.${at}`));
      await Promise.all(made.map((one) => store.put(one, Buffer.from('x'))));
      await store.put(name('part'), Buffer.from('x'));
      expect(await names(`${place}/part-`)).toEqual(made.toSorted());
      expect(await names(`${place}/part-1/`)).toHaveLength(10);
      expect(await names(`${place}/part-1/object.1`)).toEqual(
        made.filter((one) => one.includes('part-1/object.1')).toSorted(),
      );
      expect(await names(place)).toHaveLength(31);
    });

    test('goes on while objects are removed', async () => {
      for (const last of ['a', 'b', 'c']) await store.put(name(last), Buffer.from('x'));
      for await (const page of store.list(`${place}/`)) for (const one of page) await store.remove(one.name);
      expect(await names(place)).toEqual([]);
    });
  });

  describe('removing', () => {
    test('may be repeated, and leaves its neighbours', async () => {
      await store.put(name('a'), Buffer.from('x'));
      await store.put(name('a.row.json'), Buffer.from('y'));
      await store.remove(name('a'));
      await store.remove(name('a'));
      expect(await store.head(name('a'))).toBeNull();
      expect(await names(place)).toEqual([name('a.row.json')]);
      expect(await store.purge(name('a.row.json'))).toEqual({ remainsUntil: null });
      expect(await store.purge(name('a.row.json'))).toEqual({ remainsUntil: null });
      expect(await names(place)).toEqual([]);
    });

    test('and storing in the same folder at the same time disturb nothing', async () => {
      await Promise.all(
        Array.from({ length: 20 }, async (_, at) => {
          await store.put(name(`x/${at}`), Buffer.from('x'));
          await store.remove(name(`x/${at}`));
        }),
      );
      expect(await names(place)).toEqual([]);
    });
  });

  describe('copying', () => {
    test('makes an object of its own with the same bytes', async () => {
      const content = drawnBytes(200_000, 5);
      await store.upload(name('a'), local('a', content));
      expect(await store.copy(name('a'), name('copies/b'))).toMatchObject({ bytes: 200_000 });
      await store.remove(name('a'));
      const back = join(folder, 'back');
      await store.download(name('copies/b'), back, { sha256: sha256(content), bytes: 200_000 });
      expect(await store.head(name('a'))).toBeNull();
    });

    test('needs an original', async () => {
      await expect(store.copy(name('a'), name('b'))).rejects.toMatchObject({ code: 'missing_file' });
      expect(await names(place)).toEqual([]);
    });
  });

  test('names of another form are refused before anything happens', async () => {
    const wrong = ['', '/a', 'a/', 'a//b', '../a', 'a/../b', 'a/.b', '.a', 'a b', 'a\n', 'ä', 'a\\b', 'a?b', '-a'];
    for (const one of [...wrong, 'x'.repeat(201), Array(400).fill('a').join('/')]) {
      for (const method of [
        () => store.put(one, Buffer.from('x')),
        () => store.get(one),
        () => store.open(one),
        () => store.upload(one, local('a', Buffer.from('x'))),
        () => store.download(one, join(folder, 'back')),
        () => store.head(one),
        () => store.remove(one),
        () => store.purge(one),
        () => store.copy(one, name('b')),
        () => store.copy(name('b'), one),
      ]) {
        await expect(method()).rejects.toMatchObject({ code: 'validation' });
      }
    }
    for (const one of ['/', '../', 'a b']) expect(() => store.list(one)).toThrow('No name of an object begins like');
  });

  test('every change is an effect, which a refusal keeps from happening', async () => {
    await store.put(name('a'), Buffer.from('x'));
    const seen: Effect[] = [];
    const ours = ({ kind }: Effect) => kind.startsWith('store_');
    observeEffects({ after: (effect) => void (ours(effect) && seen.push(effect)) });
    await store.put(name('b'), Buffer.from('x'));
    await store.upload(name('c'), local('c', Buffer.from('x')));
    await store.copy(name('a'), name('d'));
    await store.remove(name('a'));
    await store.purge(name('b'));
    await store.get(name('c'));
    const path = (last: string) => `${store.url}/${name(last)}`;
    expect(seen).toEqual([
      { kind: 'store_put', path: path('b') },
      { kind: 'store_put', path: path('c') },
      { kind: 'store_copy', path: path('a'), to: path('d') },
      { kind: 'store_remove', path: path('a') },
      { kind: 'store_remove', path: path('b') },
    ]);
    const refusal = new Error('power cut');
    observeEffects({
      before(effect) {
        if (ours(effect)) throw refusal;
      },
    });
    for (const method of [
      () => store.put(name('x'), Buffer.from('x')),
      () => store.upload(name('x'), join(folder, 'c')),
      () => store.copy(name('c'), name('x')),
      () => store.remove(name('c')),
      () => store.purge(name('d')),
    ]) {
      await expect(method()).rejects.toBe(refusal);
    }
    expect(await names(place)).toEqual([name('c'), name('d')]);
  });

  test('its traits are found by trying, which leaves nothing', async () => {
    const kept = { read: true, list: true, remove: true, ifAbsentMade: true, ifAbsentRefused: true };
    const conditions = { ifMatchMade: true, ifMatchRefused: true };
    expect(await store.traits()).toEqual({
      ...{ ...kept, ...conditions, versioning: 'off', lockDays: 0, expiry: [] },
      ...traits,
    });
    expect(await names('probe/')).toEqual([]);
  });
}
