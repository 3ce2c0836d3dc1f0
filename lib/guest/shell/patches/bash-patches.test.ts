import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { BYTE_PATCHES, patchedSource } from './bash-patches.ts';
import { TRUNCATION_PATCHES } from './bash-truncation-patches.ts';

const BUNDLE = dirname(createRequire(import.meta.url).resolve('just-bash'));

test('every patch applies exactly once to the installed version of just-bash', () => {
  const all = [...BYTE_PATCHES, ...TRUNCATION_PATCHES];
  for (const file of new Set(all.map((change) => change.file))) {
    const source = patchedSource(file, () => readFileSync(join(BUNDLE, file), 'utf8')) ?? '';
    for (const { to } of all.filter((change) => change.file === file)) expect(source).toContain(to);
  }
});

test('a file of another version is refused, and a file without patches is left alone', () => {
  expect(() => patchedSource('index.js', () => 'another')).toThrow('is not the one that is to be changed');
  expect(patchedSource('chunks/another.js', () => 'as it is')).toBeNull();
});
