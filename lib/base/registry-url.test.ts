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

const databaseOf = (text: string) => {
  const parsed = parseRegistryUrl(text);
  return parsed.driver === 'postgres' ? parsed.server : null;
};

test('a URL of Postgres is what psql takes: hosts, a socket, a password in percents, TLS', () => {
  expect(databaseOf(`postgres://me:${SECRET}@db/winterdock`)).toMatchObject({
    hosts: [{ host: 'db', port: 5432 }],
    database: 'winterdock',
    user: 'me',
    password: SECRET,
    tls: { mode: 'prefer', rootFile: null },
    writable: false,
    name: 'postgres://me@db:5432/winterdock',
  });
  const long = `PostgreSQL://a%40b:p%2F%3A%25@one:5433,[::1]/wd?sslmode=verify-full&sslrootcert=/etc/ca.pem&target_session_attrs=read-write&connect_timeout=3`;
  expect(databaseOf(long)).toMatchObject({
    hosts: [
      { host: 'one', port: 5433 },
      { host: '::1', port: 5432 },
    ],
    user: 'a@b',
    password: 'p/:%',
    tls: { mode: 'verify-full', rootFile: '/etc/ca.pem' },
    writable: true,
    connectSeconds: 3,
    name: 'postgres://a@b@one:5433,[::1]:5432/wd',
  });
  expect(databaseOf('postgres://me@/wd?host=/run/postgresql')).toMatchObject({
    hosts: [{ host: '/run/postgresql', port: 5432 }],
    password: null,
  });
});

test('a registry on Postgres is named without its password, and its head lies in the data folder', () => {
  const { registry } = readConfig({
    WB_REGISTRY: `postgres://me:${SECRET}@db/winterdock`,
    WB_DATA: '/data',
    WB_REGISTRY_POOL: '3',
  });
  expect(registry).toMatchObject({ driver: 'postgres', headFolder: '/data', connections: 3 });
  expect(registryName(registry)).toBe('postgres://me@db:5432/winterdock');
});

test('a registry on Postgres may have a replica of its sandboxes', () => {
  const settings = { WB_REGISTRY: `postgres://me:${SECRET}@db/wd`, WB_REPLICA_URL: 'file:///replica' };
  expect(readConfig(settings).store.replica?.url).toBe('file:///replica');
});

const WRONG = [
  `postgres:/me:${SECRET}@db/winterdock`,
  `postgres:me:${SECRET}@db/winterdock`,
  `postgres//me:${SECRET}@db/winterdock`,
  `postgres%3A//me%3A${SECRET}@db/winterdock`,
  `jdbc:postgresql://db/winterdock?password=${SECRET}`,
  ` postgres://me:${SECRET}@db/winterdock`,
  `postgres://me:${SECRET}@db/winterdock\n`,
  `postgres://me:${SECRET}@db`,
  `postgres://${SECRET}@db:99999/winterdock`,
  `postgres://db/${SECRET}`,
  `postgres://me:${SECRET}#@db/winterdock`,
  `postgres://me:${SECRET}/@db/winterdock`,
  `postgres://me:%${SECRET}@db/winterdock`,
  `postgres://me@db/winterdock?password=${SECRET}`,
  `postgres://me@db/winterdock?sslmode=${SECRET}`,
  `postgres://me@db/winterdock?sslmode=require&sslmode=${SECRET}`,
  `postgres://me@db/winterdock?sslrootcert=${SECRET}`,
  `postgres://me@db/winterdock?sslcert=/${SECRET}`,
  `postgres://me@db/winterdock?connect_timeout=${SECRET}`,
  `postgres://me@db/winterdock?host=/${SECRET}`,
  `postgres://me@${SECRET} /winterdock`,
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
  expect(() => parseRegistryUrl(text)).toThrow(/^must be (a path, sqlite:\/\/\/PATH|postgres:\/\/USER)/);
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
  expect(said).toContain('WB_REGISTRY=(hidden): must be ');
  expect(said).toContain('PORT="65536"');
  expect(said).not.toContain(SECRET);
});
