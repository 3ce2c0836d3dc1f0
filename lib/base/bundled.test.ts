import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BUNDLE_LIST, BUNDLES, type BundleList, currentBundle, entryOf } from './bundled.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

let root = '';
let list: BundleList;

/** An installed folder: the bundle and its sources, without what made it. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-bundle-'));
  cpSync(join(ROOT, BUNDLES, BUNDLE_LIST), join(root, BUNDLES, BUNDLE_LIST));
  list = JSON.parse(readFileSync(join(root, BUNDLES, BUNDLE_LIST), 'utf8'));
  for (const path of Object.keys(list.sources)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    cpSync(join(ROOT, path), join(root, path));
  }
});
afterEach(() => rmSync(root, { recursive: true }));

test('processes start from the bundle of the sources that are here', () => {
  expect(Object.keys(list.sources)).toEqual(
    expect.arrayContaining(['lib/guest/worker/worker.ts', 'lib/vfs/reader.ts', 'lib/bundles/worker.ts']),
  );
  expect(entryOf('worker', '/source')).toBe(join(ROOT, BUNDLES, list.folder, 'worker.cjs'));
  expect(readdirSync(join(ROOT, BUNDLES, list.folder))).toEqual(
    expect.arrayContaining(['worker.cjs', 'reader.cjs', 'bundle.cjs']),
  );
});

test('an installed folder has a bundle without the tools that made it', () => {
  expect(currentBundle({ root })).toBe(join(BUNDLES, list.folder));
  expect(currentBundle({ root, tools: true })).toBeNull();
});

test('a bundle of other sources is not used', () => {
  writeFileSync(join(root, 'lib/guest/worker/worker.ts'), 'throw new Error();');
  expect(currentBundle({ root })).toBeNull();
});

test('a bundle is not used when a source of it is gone, or its list is damaged', () => {
  rmSync(join(root, 'lib/vfs/reader.ts'));
  expect(currentBundle({ root })).toBeNull();
  writeFileSync(join(root, BUNDLES, BUNDLE_LIST), '{');
  expect(currentBundle({ root })).toBeNull();
});
