import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { parseRegistryUrl, registryName } from './registry-url.ts';

const file = (path: string) => ({ driver: 'sqlite', path });

test('a path is a file, relative to the working folder, and :memory: is none', () => {
  expect(parseRegistryUrl('/data/registry.sqlite')).toEqual(file('/data/registry.sqlite'));
  expect(parseRegistryUrl('/data/../a:b@c/r')).toEqual(file('/a:b@c/r'));
  expect(parseRegistryUrl('state/r.sqlite')).toEqual(file(join(process.cwd(), 'state/r.sqlite')));
  expect(parseRegistryUrl('./a:b@c')).toEqual(file(join(process.cwd(), 'a:b@c')));
  expect(parseRegistryUrl(':memory:')).toEqual({ driver: 'memory' });
  expect(registryName(parseRegistryUrl(':memory:'))).toBe(':memory:');
});

test('a URL of a file is the same as its path', () => {
  expect(parseRegistryUrl('sqlite:///data/registry.sqlite')).toEqual(file('/data/registry.sqlite'));
  expect(parseRegistryUrl('SQLite:///data/a%20b%3F%25')).toEqual(file('/data/a b?%'));
  expect(parseRegistryUrl('sqlite:///data//x/../registry.sqlite')).toEqual(file('/data/registry.sqlite'));
  expect(registryName(parseRegistryUrl('sqlite:///data/r'))).toBe('/data/r');
});

const SECRET = 'hunter2';
const WRONG = [
  `postgres://me:${SECRET}@db/winterdock`,
  `POSTGRES://me:${SECRET}@db/winterdock`,
  `postgres:/me:${SECRET}@db/winterdock`,
  `postgres:me:${SECRET}@db/winterdock`,
  `postgres//me:${SECRET}@db/winterdock`,
  `postgres%3A//me%3A${SECRET}@db/winterdock`,
  `jdbc:postgresql://db/winterdock?password=${SECRET}`,
  ` postgres://me:${SECRET}@db/winterdock`,
  `postgres://me:${SECRET}@db/winterdock\n`,
  `"postgres://me:${SECRET}@db/winterdock"`,
  `//me:${SECRET}@db/winterdock`,
  `://me:${SECRET}@db/winterdock`,
  `/postgres://me:${SECRET}@db/winterdock`,
  `me:${SECRET}@db:5432/winterdock`,
  `me:${SECRET}@db`,
  `sqlite://me:${SECRET}@db/winterdock`,
  `sqlite://${SECRET}/registry.sqlite`,
  `sqlite:/data/${SECRET}`,
  `sqlite:${SECRET}`,
  `sqlite:///data/r?key=${SECRET}`,
  `sqlite:///data/r#${SECRET}`,
  `sqlite:///data/%${SECRET}`,
  `sqlite:///data/%00${SECRET}`,
  `sqlite:///${SECRET}/`,
  'sqlite:///:memory:',
  'sqlite://',
  `file:///data/${SECRET}`,
];

test.each(WRONG)('what is no path and no known URL is refused without a word of it: %j', (text) => {
  expect(() => parseRegistryUrl(text)).toThrow(/^must be a path, sqlite:\/\/\/PATH or :memory:/);
  const refusal = (work: () => unknown) => {
    try {
      work();
    } catch (error) {
      return `${(error as Error).message} ${(error as Error).stack} ${JSON.stringify(error)}`;
    }
    throw new Error('It was not refused.');
  };
  const settings = { WB_REGISTRY: text, PORT: '65536' };
  const said = refusal(() => readConfig(settings));
  expect(said).toContain('WB_REGISTRY=(hidden): must be a path');
  expect(said).toContain('PORT="65536"');
  expect(said).not.toContain(SECRET);
});
