import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compiledFolder, isEmpty } from './compiled.ts';
import { createPool } from './pool.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-compiled-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('compiled code is kept for this version of the code alone', () => {
  const old = join(folder, 'an-older-version');
  mkdirSync(old);
  const mine = compiledFolder(folder);
  expect(existsSync(old)).toBe(false);
  expect(isEmpty(mine)).toBe(true);
  mkdirSync(join(mine, 'v24'));
  expect(compiledFolder(folder)).toBe(mine);
  expect(isEmpty(mine)).toBe(false);
});

test('the code is compiled before the first worker that may serve a sandbox is started', async () => {
  const none = createPool({ size: 0, maxActive: 1, dataFolder: folder });
  await none.start();
  await none.stop();
  const cache = compiledFolder(join(folder, 'cache'));
  const compiled = () => readdirSync(cache, { recursive: true }).sort();
  const first = compiled();
  expect(first.length).toBeGreaterThan(20);
  const one = createPool({ size: 1, maxActive: 1, dataFolder: folder });
  await one.start();
  await one.stop();
  expect(compiled()).toEqual(first);
}, 60_000);
