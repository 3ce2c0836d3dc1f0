import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './build.ts';

/** Every group of packages that a manifest names. */
const GROUPS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

function namedIn(path: string): string[] {
  if (!existsSync(join(ROOT, path))) return [];
  const manifest = JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Partial<Record<string, object>>;
  return GROUPS.flatMap((group) => Object.keys(manifest[group] ?? {}));
}

test('every package that is installed has its line in the decision on dependencies, and every line its package', () => {
  const text = readFileSync(join(ROOT, 'docs', 'decisions', '048-dependencies.md'), 'utf8');
  const rows = [...text.matchAll(/^\|((?: `[^`]+`,?)+) \|([^|]+)\|([^|]+)\|([^|]+)\|$/gm)];
  const listed = rows.flatMap(([, names = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  const manifests = [
    'package.json',
    ...['peers', 'frameworks', 'bench-peers'].map((folder) => `testing/${folder}/package.json`),
  ];
  const installed = new Set(manifests.flatMap(namedIn));
  expect(listed.toSorted()).toEqual([...installed].toSorted());
  for (const [row, , what = '', why = '', megabytes = ''] of rows) {
    expect(what.trim() && why.trim() && /^\d+(\.\d+)?$/.test(megabytes.trim()), row).toBeTruthy();
  }
});
