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

/** Licences that ask for no more than their text beside a copy. */
const FREE = /^(?:MIT|MIT-0|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|Python-2\.0|CC0-1\.0|Unlicense|Zlib)$/;

test('every package whose licence asks for more is named with it in the decision on dependencies', () => {
  const text = readFileSync(join(ROOT, 'docs', 'decisions', '048-dependencies.md'), 'utf8');
  const section = text.split('\n## ').find((part) => part.startsWith('Licences')) ?? '';
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { license?: string; optional?: boolean }>;
  };
  const kept = Object.entries(lock.packages).flatMap(([path, { license = 'none', optional = false }]) => {
    const name = path.split('node_modules/').at(-1) ?? '';
    const parts = license.replaceAll(/[()]/g, '').split(/ (?:OR|AND) /);
    const isFree = / OR /.test(license)
      ? parts.some((part) => FREE.test(part))
      : parts.every((part) => FREE.test(part));
    // The lock says none for what is not for this platform.
    const isElsewhere = optional && license === 'none';
    return name === '' || isFree || isElsewhere ? [] : [{ name, license }];
  });
  const told = [...section.matchAll(/^\|((?: `[^`]+`,?)+) \| ([^|]+) \|/gm)].flatMap(([, names = '', licence = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({ name, licence })),
  );
  const unsaid = kept.filter(({ name, license }) => {
    const line = told.find((one) =>
      one.name.endsWith('*') ? name.startsWith(one.name.slice(0, -1)) : one.name === name,
    );
    return line === undefined || !license.includes(line.licence);
  });
  expect(unsaid).toEqual([]);
  expect(told.filter(({ name }) => !kept.some((one) => one.name.startsWith(name.replace('*', ''))))).toEqual([]);
});
