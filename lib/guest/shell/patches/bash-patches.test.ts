import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { BashPatch } from './bash-patch.ts';
import { ALL_PATCHES, patched, patchedSource } from './bash-patches.ts';

const BUNDLE = dirname(createRequire(import.meta.url).resolve('just-bash'));

test('every patch finds its place exactly once in the installed version of just-bash, after those before it', () => {
  const files = [...new Set(ALL_PATCHES.map((patch) => patch.file))];
  expect(files.length).toBeGreaterThan(15);
  for (const file of files) {
    const source = readFileSync(join(BUNDLE, file), 'utf8');
    // It throws for a place that is missing, and for one that is there twice.
    expect(patchedSource(file, () => source)).not.toBe(source);
  }
});

test('each patch is refused where its place is gone, and where there are two', () => {
  for (const patch of ALL_PATCHES) {
    const source = readFileSync(join(BUNDLE, patch.file), 'utf8');
    if (source.split(patch.from).length === 2) {
      expect(() => patched(source.replace(patch.from, ''), patch), patch.from).toThrow('to be changed');
      expect(() => patched(source + patch.from, patch), patch.from).toThrow('to be changed');
    } else expect(isOfEarlierPatch(patch), patch.from).toBe(true);
  }
});

/** Whether its place is one that earlier patches of the same file have made, or have made unique. */
function isOfEarlierPatch(patch: BashPatch): boolean {
  const before = ALL_PATCHES.slice(0, ALL_PATCHES.indexOf(patch));
  return before.some(({ file }) => file === patch.file);
}

test('a file of another version is refused, and a file without patches is left alone', () => {
  expect(() => patchedSource('index.js', () => 'another')).toThrow('is not the one that is to be changed');
  expect(patchedSource('chunks/another.js', () => 'as it is')).toBeNull();
});
