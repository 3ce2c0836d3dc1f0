import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './build.ts';
import { TABLES } from './test-days.ts';
import { CHOSEN, DRIVER_FOLDERS, filesOnPostgres, SQLITE_ALONE } from './test-postgres.ts';
import { sortTests } from './test-projects.ts';

const { shared, isolated } = filesOnPostgres(ROOT);
const { engine, isolated: ownProcess } = sortTests(ROOT);

test('what is SQLite’s alone is there, has a reason, and is no more than that', () => {
  for (const [name, reason] of Object.entries(SQLITE_ALONE)) {
    const [file = '', title] = name.split(' > ');
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(reason.length, name).toBeGreaterThan(10);
    if (title === undefined) {
      expect([...engine, ...ownProcess]).toContain(file);
      continue;
    }
    expect(readFileSync(join(ROOT, file), 'utf8'), name).toContain(title);
    // A test of a file that runs: a file that does not needs no list of its tests.
    expect([...shared, ...isolated], name).toContain(file);
  }
});

test('every file of lib that opens an engine, a server or a registry of tests runs on Postgres, but what is listed', () => {
  const opens = /\b(?:startServer|startTestEngine|startVictim|spawnServer|openRegistryOfTests)\(/;
  const files = [...engine, ...ownProcess].filter((file) => file.startsWith('lib/'));
  const missing = files.filter(
    (file) => opens.test(readFileSync(join(ROOT, file), 'utf8')) && ![...shared, ...isolated].includes(file),
  );
  const ownServer = /testing\/postgres-(?:server|driver|cluster|pair)\.ts'/;
  const unlisted = missing.filter((file) => !(file in SQLITE_ALONE));
  expect(unlisted.filter((file) => !ownServer.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
  expect(shared.length + isolated.length).toBeGreaterThan(150);
});

test('what a run of everything runs on Postgres is there, and runs on every day', () => {
  expect([...shared, ...isolated]).toEqual(expect.arrayContaining([...CHOSEN]));
  expect(new Set(CHOSEN).size).toBe(CHOSEN.length);
  const drawn = new Set(TABLES.flat().map(({ file }) => file));
  expect(CHOSEN.filter((file) => drawn.has(file))).toEqual([]);
  for (const path of DRIVER_FOLDERS) expect(existsSync(join(ROOT, path)), path).toBe(true);
});
