/** The suite that every drawer driver passes. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Drawer } from '../drawer.ts';
import { sha256Of } from '../files.ts';

const SIZE = 300_000;

/** Bytes that neither compress away nor repeat. */
function bytes(seed: number): Buffer {
  const content = Buffer.alloc(SIZE);
  let state = seed;
  for (let at = 0; at < SIZE; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    content[at] = state >>> 24;
  }
  return content;
}

/** Runs the drawer suite on what `make` returns for a fresh data folder. */
export function drawerContract(make: (dataFolder: string) => Drawer): void {
  let folder: string;
  let drawer: Drawer;
  let source: string;
  let target: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-drawer-'));
    drawer = make(folder);
    source = join(folder, 'source.sqlite');
    target = join(folder, 'target.sqlite');
    writeFileSync(source, bytes(1));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const keys = async () => {
    const all: string[] = [];
    for await (const key of drawer.keys()) all.push(key);
    return all.sort();
  };

  test('what was put in comes out byte for byte', async () => {
    const before = await sha256Of(source);
    expect([before, null]).toContain(await drawer.put(source, 'a'));
    expect(await keys()).toEqual(['a']);
    await (await drawer.fetch('a', target)).makeDurable();
    expect(await sha256Of(target)).toBe(before);
  });

  test('the file is in exactly one whole place or in both, never in none', async () => {
    await drawer.put(source, 'a');
    expect(existsSync(source) || drawer.stamp('a') !== null).toBe(true);
    expect(drawer.stamp('a')).not.toBeNull();
    await drawer.fetch('a', target);
    expect(existsSync(target)).toBe(true);
  });

  test('a taken key is refused and both files are kept', async () => {
    await drawer.put(source, 'a');
    const kept = drawer.stamp('a');
    const other = join(folder, 'other.sqlite');
    writeFileSync(other, bytes(2));
    await expect(drawer.put(other, 'a')).rejects.toMatchObject({ code: 'conflict' });
    expect(drawer.stamp('a')).toEqual(kept);
    expect(readFileSync(other)).toEqual(bytes(2));
  });

  test('a missing key is a missing file and leaves no target behind', async () => {
    await expect(drawer.fetch('nobody', target)).rejects.toMatchObject({ code: 'missing_file' });
    expect(existsSync(target)).toBe(false);
    expect(drawer.stamp('nobody')).toBeNull();
    expect(drawer.open('nobody')).toBeNull();
  });

  test('a missing source leaves the drawer as it was', async () => {
    await expect(drawer.put(join(folder, 'nothing'), 'a')).rejects.toThrow();
    expect(await keys()).toEqual([]);
    expect(
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.staging\//.test(path)),
    ).toEqual([]);
  });

  test('removing is durable and may be repeated', async () => {
    await drawer.put(source, 'a');
    await drawer.remove('a');
    await drawer.remove('a');
    expect(drawer.stamp('a')).toBeNull();
    expect(await keys()).toEqual([]);
  });

  test('the row shows a path relative to the data folder, inside the drawer', () => {
    expect(drawer.pathOf('a')).toMatch(/^[a-z]+\/a\./);
  });
}
