/** The suite that every drawer driver passes: a case for each promise of drawer.ts. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Drawer } from '../drawer.ts';

const SIZE = 300_000;

/** Bytes that neither compress nor repeat. */
function bytes(seed: number): Buffer {
  const content = Buffer.alloc(SIZE);
  let state = seed;
  for (let at = 0; at < SIZE; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    content[at] = state >>> 24;
  }
  return content;
}

/** Compares bytes by hash: comparing as many one by one takes a second. */
function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

const digestOf = (path: string) => digest(readFileSync(path));
const ONE = digest(bytes(1));
const TWO = digest(bytes(2));

/**
 * Runs the drawer suite. `make` returns the drawer for a fresh data folder; a second call opens the same drawer again.
 */
export function drawerContract(make: (dataFolder: string) => Drawer | Promise<Drawer>): void {
  let folder: string;
  let drawer: Drawer;
  let source: string;
  let target: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-drawer-'));
    drawer = await make(folder);
    await drawer.prepare();
    source = join(folder, 'source.sqlite');
    target = join(folder, 'target.sqlite');
    writeFileSync(source, bytes(1));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const keys = async () => {
    const all: string[] = [];
    for await (const page of drawer.keyPages()) all.push(...page);
    return all.sort();
  };
  const other = (seed: number) => {
    const path = join(folder, `other-${seed}.sqlite`);
    writeFileSync(path, bytes(seed));
    return path;
  };
  const unfinished = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.staging\//.test(path));
  const asKept = (key: string) => drawer.at(key).read(async (path) => digestOf(path));

  describe('put', () => {
    test('stored bytes are fetched unchanged', async () => {
      const before = digestOf(source);
      expect([before, null]).toContain(await drawer.put(source, 'a'));
      expect(await keys()).toEqual(['a']);
      await (await drawer.fetch('a', target)).makeDurable();
      expect(digestOf(target)).toBe(before);
    });

    test('a moved source is gone, and a source that was read still exists', async () => {
      const sha256 = await drawer.put(source, 'a');
      expect(existsSync(source)).toBe(sha256 !== null);
      if (sha256 !== null) expect(digestOf(source)).toBe(ONE);
    });

    test('a taken key is refused and both files are kept', async () => {
      await drawer.put(source, 'a');
      const kept = await drawer.at('a').stat();
      await expect(drawer.put(other(2), 'a')).rejects.toMatchObject({ code: 'conflict' });
      expect(await drawer.at('a').stat()).toEqual(kept);
      expect(digestOf(join(folder, 'other-2.sqlite'))).toBe(TWO);
    });

    test('a missing source leaves the drawer unchanged', async () => {
      await expect(drawer.put(join(folder, 'nothing'), 'a')).rejects.toThrow();
      expect(await keys()).toEqual([]);
      expect(unfinished()).toEqual([]);
    });

    test('stored files are there when the drawer is opened again', async () => {
      await drawer.put(source, 'a');
      const stat = await drawer.at('a').stat();
      const again = await make(folder);
      expect(await again.at('a').stat()).toEqual(stat);
      await again.fetch('a', target);
      expect(digestOf(target)).toBe(ONE);
    });
  });

  describe('fetch', () => {
    test('the file is complete in exactly one place or in both, never in none', async () => {
      await drawer.put(source, 'a');
      expect(await drawer.at('a').stat()).not.toBeNull();
      const { moved } = await drawer.fetch('a', target);
      expect(digestOf(target)).toBe(ONE);
      expect(await drawer.at('a').stat()).toEqual(moved ? null : expect.anything());
    });

    test('a file that was not moved may be fetched again', async () => {
      await drawer.put(source, 'a');
      const { moved } = await drawer.fetch('a', target);
      if (moved) {
        await expect(drawer.fetch('a', target)).rejects.toMatchObject({ code: 'missing_file' });
      } else {
        const second = join(folder, 'second.sqlite');
        await drawer.fetch('a', second);
        expect(digestOf(second)).toBe(ONE);
      }
    });

    test('a missing key is a missing file and leaves no target behind', async () => {
      await expect(drawer.fetch('nobody', target)).rejects.toMatchObject({ code: 'missing_file' });
      expect(existsSync(target)).toBe(false);
      expect(unfinished()).toEqual([]);
    });
  });

  describe('stat', () => {
    test('a missing file has none', async () => {
      expect(await drawer.at('nobody').stat()).toBeNull();
    });

    test('its size is that of the stored bytes', async () => {
      await drawer.put(source, 'a');
      const stat = await drawer.at('a').stat();
      expect(stat?.size).toBe(await drawer.at('a').read(async (path) => statSync(path).size));
    });

    test('looking and reading do not change its tag', async () => {
      await drawer.put(source, 'a');
      const stat = await drawer.at('a').stat();
      await asKept('a');
      expect(await drawer.at('a').stat()).toEqual(stat);
    });

    test('other bytes under the same key have another tag', async () => {
      await drawer.put(source, 'a');
      const stat = await drawer.at('a').stat();
      await drawer.at('a').remove();
      await drawer.put(other(2), 'a');
      expect((await drawer.at('a').stat())?.tag).not.toBe(stat?.tag);
    });
  });

  describe('read', () => {
    test('the local path has the stored bytes, and the callback’s result is returned', async () => {
      await drawer.put(source, 'a');
      const first = await asKept('a');
      if (drawer.at('a').packed) expect(first).not.toBe(ONE);
      else expect(first).toBe(ONE);
      expect(await asKept('a')).toBe(first);
    });

    test('the callback’s error is thrown, and the file still exists', async () => {
      await drawer.put(source, 'a');
      const failing = drawer.at('a').read(() => Promise.reject(new Error('no more')));
      await expect(failing).rejects.toThrow('no more');
      expect(await asKept('a')).toMatch(/^[0-9a-f]{64}$/);
      expect(unfinished()).toEqual([]);
    });

    test('several may read at once', async () => {
      await drawer.put(source, 'a');
      const [first, ...others] = await Promise.all([asKept('a'), asKept('a'), asKept('a')]);
      expect(others).toEqual([first, first]);
      expect(unfinished()).toEqual([]);
    });

    test('a missing key is a missing file', async () => {
      await expect(asKept('nobody')).rejects.toMatchObject({ code: 'missing_file' });
    });
  });

  describe('remove', () => {
    test('it may be repeated, and nothing is left', async () => {
      await drawer.put(source, 'a');
      await drawer.at('a').remove();
      await drawer.at('a').remove();
      await drawer.at('a').remove('-wal');
      expect(await drawer.at('a').stat()).toBeNull();
      expect(await keys()).toEqual([]);
    });

    test('a removed key may be used again', async () => {
      await drawer.put(source, 'a');
      await drawer.at('a').remove();
      await drawer.put(other(2), 'a');
      await drawer.fetch('a', target);
      expect(digestOf(target)).toBe(TWO);
    });
  });

  describe('taking out and giving back', () => {
    test('a part that was taken out is gone, and is unchanged once it was given back', async () => {
      await drawer.put(source, 'a');
      const kept = await asKept('a');
      const aside = join(folder, 'aside');
      await drawer.at('a').takeOut('', aside);
      expect(await drawer.at('a').stat()).toBeNull();
      expect(digestOf(aside)).toBe(kept);
      await drawer.at('a').giveBack(aside, '');
      expect(existsSync(aside)).toBe(false);
      await drawer.fetch('a', target);
      expect(digestOf(target)).toBe(ONE);
    });

    test('a part that is given back replaces an existing one', async () => {
      await drawer.put(source, 'a');
      const aside = join(folder, 'aside');
      await drawer.at('a').takeOut('', aside);
      await drawer.put(other(2), 'a');
      await drawer.at('a').giveBack(aside, '');
      await drawer.fetch('a', target);
      expect(digestOf(target)).toBe(ONE);
    });

    test('a missing part is a missing file and leaves nothing behind', async () => {
      const aside = join(folder, 'aside');
      await drawer.put(source, 'a');
      await expect(drawer.at('nobody').takeOut('', aside)).rejects.toMatchObject({ code: 'missing_file' });
      await expect(drawer.at('a').takeOut('-wal', aside)).rejects.toMatchObject({ code: 'missing_file' });
      expect(existsSync(aside)).toBe(false);
    });
  });

  describe('replace', () => {
    test('written bytes are stored as they are, in place of the existing file', async () => {
      await drawer.put(source, 'a');
      const kept = join(folder, 'kept');
      await drawer.at('a').read((path) => copyFile(path, kept));
      await drawer.at('a').remove();
      await drawer.put(other(2), 'a');
      await drawer.at('a').replace((path) => copyFile(kept, path));
      expect(await asKept('a')).toBe(digestOf(kept));
      await drawer.fetch('a', target);
      expect(digestOf(target)).toBe(ONE);
    });

    test('a key that is free is taken', async () => {
      await drawer.at('a').replace((path) => writeFile(path, bytes(1)));
      expect(await keys()).toEqual(['a']);
      expect(await asKept('a')).toBe(ONE);
      expect((await drawer.at('a').stat())?.size).toBe(SIZE);
    });

    test('the writer’s error is thrown, and the file is unchanged', async () => {
      await drawer.put(source, 'a');
      const stat = await drawer.at('a').stat();
      const failing = drawer.at('a').replace(async (path) => {
        writeFileSync(path, bytes(2));
        throw new Error('no more');
      });
      await expect(failing).rejects.toThrow('no more');
      expect(await drawer.at('a').stat()).toEqual(stat);
      expect(unfinished()).toEqual([]);
    });
  });

  describe('the status of a drawer', () => {
    const signal = new AbortController().signal;

    test('its usage is that of its stored files', async () => {
      expect(await drawer.usage(signal)).toEqual({ files: 0, bytes: 0 });
      await drawer.put(source, 'a');
      await drawer.put(other(2), 'b');
      const sizes = await Promise.all(['a', 'b'].map(async (key) => (await drawer.at(key).stat())?.size ?? 0));
      expect(await drawer.usage(signal)).toEqual({ files: 2, bytes: sizes.reduce((sum, size) => sum + size) });
    });

    test('counting ends with its signal', async () => {
      await drawer.put(source, 'a');
      await expect(drawer.usage(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    });

    test('a file takes about its size, and nothing when it is missing', async () => {
      await drawer.put(source, 'a');
      const size = (await drawer.at('a').stat())?.size ?? 0;
      const allocated = (await drawer.at('a').allocatedBytes()) ?? 0;
      expect(Math.abs(allocated - size)).toBeLessThan(SIZE / 2);
      expect(await drawer.at('nobody').allocatedBytes()).toBeNull();
    });

    test('it is writable and takes a probe, which leaves nothing', async () => {
      await drawer.probe();
      expect(await keys()).toEqual([]);
      expect((await drawer.status()).writable).toBe(true);
      expect(await drawer.status()).toEqual(await (await make(folder)).status());
    });

    test('preparing it again changes nothing', async () => {
      await drawer.put(source, 'a');
      const stat = await drawer.at('a').stat();
      await drawer.prepare();
      expect(await drawer.at('a').stat()).toEqual(stat);
    });

    test('before it is prepared it can be inspected, and that creates nothing', async () => {
      const empty = mkdtempSync(join(folder, 'empty-'));
      const fresh = await make(empty);
      for await (const page of fresh.keyPages()) expect(page).toEqual([]);
      expect(await fresh.at('a').stat()).toBeNull();
      expect(await fresh.usage(signal)).toEqual({ files: 0, bytes: 0 });
      await fresh.clear();
      expect(readdirSync(empty)).toEqual([]);
    });
  });

  test('clearing removes every file, and may be repeated', async () => {
    await drawer.put(source, 'a');
    await drawer.put(other(2), 'b');
    await drawer.clear();
    await drawer.clear();
    expect(await keys()).toEqual([]);
    await drawer.put(other(3), 'a');
    expect(await keys()).toEqual(['a']);
  });

  test('nothing lies beside a stored file', async () => {
    await drawer.put(source, 'a');
    expect(await drawer.at('a').neighbours()).toEqual([]);
    expect(await drawer.at('nobody').neighbours()).toEqual([]);
  });

  test('every key is listed once, whatever else the drawer holds', async () => {
    await drawer.put(source, 'a');
    await drawer.put(other(2), 'b.c');
    await drawer.put(other(3), 'd-e_f');
    await drawer.at('d-e_f').read(() => drawer.probe());
    expect(await keys()).toEqual(['a', 'b.c', 'd-e_f']);
  });

  test('files that are removed while the pages are read interrupt nothing', async () => {
    await drawer.put(source, 'a');
    await drawer.put(other(2), 'b');
    for await (const page of drawer.keyPages()) for (const key of page) await drawer.at(key).remove();
    expect(await keys()).toEqual([]);
  });

  test('the address is a name inside the drawer, and no two keys have the same', async () => {
    expect(drawer.at('a').address).toMatch(/^[a-z]+\/a\./);
    expect(drawer.at('a').address).toBe((await make(folder)).at('a').address);
    expect(drawer.at('b').address).not.toBe(drawer.at('a').address);
  });
}
