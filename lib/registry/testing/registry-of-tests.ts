/**
 * Which registry the engines and servers of tests have: the file in their data folder, or, with
 * `WB_TEST_REGISTRY=postgres`, a database of the run's PostgreSQL server. A data folder has one database, for each
 * process that asks: it is new where the folder is new or empty, and goes after the folder has gone. What is told a
 * registry by its own settings keeps that one.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { type PostgresAddress, parsePostgresUrl } from '../../base/postgres-url.ts';
import { parseRegistryUrl } from '../../base/registry-url.ts';
import { programOf } from '../../testing/program.ts';
import type { RegistryDriver, RegistryOptions } from '../driver.ts';
import { registryDriver } from '../drivers.ts';
import { connect } from '../postgres/connect.ts';
import type { Registry } from '../registry.ts';
import { THRESHOLDS } from './fixtures.ts';
import { placeNewRegistry } from './new-registry.ts';
import { openTestRegistry } from './open-test-registry.ts';

/** Whether the engines and servers of this run have their registry on Postgres. */
export const onPostgres = (): boolean => process.env.WB_TEST_REGISTRY === 'postgres';

/** The variable with the URL of a database of the run's server, which its processes inherit. */
export const POSTGRES_OF_RUN = 'WB_TEST_POSTGRES';
const FILE = 'registry.sqlite';
/** In a data folder whose registry is a database: its name. */
const MARK = 'registry.database';
const MAINTENANCE = 'postgres';
/** The program that makes the database of a folder. */
const MAKER = programOf(fileURLToPath(new URL('./make-database.ts', import.meta.url)));
/** A database with an empty registry. */
export const TEMPLATE_OF_RUN = 'registry_of_tests';
/** What Postgres says of a database that is copied while somebody is connected to it. */
const IN_USE = '55006';
/** Of one registry: tests have many at once, and a server takes 300. */
const CONNECTIONS = 4;
/** Databases of folders that are gone are removed so many at a time. */
const REMOVED_AT_ONCE = 8;

/** What this process has asked for. Its test files may each load this module again. */
const ASKED = Symbol.for('winterdock.registry-of-tests');
const shared = globalThis as { [ASKED]?: { count: number; databases: Map<string, string> } };
shared[ASKED] ??= { count: 0, databases: new Map() };
const asked = shared[ASKED];

/**
 * The settings that the registry of an engine or server on a data folder (absolute path) is opened with. It is new
 * where the folder is. `given`: the WB_REGISTRY that a test asks for, which stays as it is.
 */
export async function registryOfTests(folder: string, given?: string): Promise<Record<string, string>> {
  if (given === undefined && onPostgres()) {
    await ensureDatabase(folder);
    return settingsOfTests(folder);
  }
  const url = parseRegistryUrl(given ?? resolve(folder, FILE));
  if (url.driver === 'sqlite') await placeNewRegistry(url.path);
  return {};
}

/** The same for what runs on a data folder after or beside an engine: nothing is made. */
export function settingsOfTests(folder: string): Record<string, string> {
  if (!onPostgres()) return {};
  return {
    WB_REGISTRY: urlOf(databaseOf(folder)),
    WB_REGISTRY_POOL: String(CONNECTIONS),
    // A busy machine is no failure.
    WB_HOST_LEASE_MS: '30000',
  };
}

/** Where the registry of a data folder (absolute path) is on Postgres; null: it is a file. */
export function addressOfTests(folder: string): PostgresAddress | null {
  return onPostgres() ? addressOf(databaseOf(folder)) : null;
}

/** The driver of the registry that an engine or server on a data folder (absolute path) has or had. */
export function driverOfTests(folder: string): RegistryDriver {
  const server = addressOfTests(folder);
  if (server === null) return registryDriver({ driver: 'sqlite', path: resolve(folder, FILE) });
  return registryDriver({ driver: 'postgres', server, headFolder: folder, connections: CONNECTIONS });
}

/**
 * Opens a registry without an engine, that of a folder (absolute path), which is new where that is. Null: one that is
 * gone when it is closed.
 */
export async function openRegistryOfTests(
  folder: string | null,
  options: Partial<RegistryOptions> = {},
): Promise<Registry> {
  if (!onPostgres()) return openTestRegistry(folder === null ? null : resolve(folder, FILE), options);
  const home = folder ?? mkdtempSync(join(tmpdir(), 'winterdock-registry-'));
  await ensureDatabase(home);
  const registry = await driverOfTests(home).open({ thresholds: THRESHOLDS, ...options });
  const close = async () => {
    await registry.close();
    rmSync(home, { recursive: true, force: true });
  };
  return folder === null ? { ...registry, close } : registry;
}

/** Leaves a data folder (absolute path) without a registry: no file, or a database that has nothing. */
export async function loseRegistry(folder: string): Promise<void> {
  const { headPath } = driverOfTests(folder);
  if (headPath !== null) rmSync(headPath, { force: true });
  if (onPostgres()) {
    await makeDatabase(folder, null);
    mark(folder);
  }
  for (const end of ['', '-wal', '-shm']) rmSync(resolve(folder, FILE + end), { force: true });
}

/** Copies a data folder (absolute path) with its registry, as both are now. */
export async function copyFolderOfTests(from: string, to: string): Promise<void> {
  cpSync(from, to, { recursive: true });
  if (onPostgres()) await ensureDatabase(to);
}

/** The same in the middle of a step, with owners and times. */
export function copyFolderNow(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
  if (onPostgres()) makeDatabaseNow(to);
}

/** How many databases this process has asked for. */
export const databasesAskedFor = (): number => asked.count;

/**
 * Runs a command on a data folder (absolute path), which may be one that the command makes, with the settings of its
 * registry. For a command that is waited for without a promise.
 */
export function commandOnFolder<T>(folder: string, command: (settings: Record<string, string>) => T): T {
  if (!onPostgres()) return command({});
  if (markOf(folder) !== databaseOf(folder)) makeDatabaseNow(folder);
  try {
    return command(settingsOfTests(folder));
  } finally {
    if (!isNew(folder)) mark(folder);
  }
}

function makeDatabaseNow(folder: string): void {
  const { status, stderr } = spawnSync(process.execPath, [MAKER, folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`A database was not made: ${stderr}`);
  noteDatabase(folder);
}

/** What a process of its own does for that: makes the database of a folder, which stays as it is where it is new. */
export async function makeDatabaseFor(folder: string): Promise<void> {
  if (isNew(folder)) await makeDatabase(folder, null);
  else await ensureDatabase(folder);
}

const isNew = (folder: string) => !existsSync(folder) || readdirSync(folder).length === 0;

/** Which database a data folder has, as a file in it says; null where there is none. */
function markOf(folder: string): string | null {
  const path = join(folder, MARK);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

function mark(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, MARK);
  writeFileSync(path, databaseOf(folder), { mode: 0o600 });
  const { uid, gid } = statSync(folder);
  chownSync(path, uid, gid);
}

/**
 * Makes the database of a data folder, unless it has one. A file in the folder says which it has: a copy of a folder
 * gets a copy of its database, as it would of a file.
 */
async function ensureDatabase(folder: string): Promise<void> {
  const marked = markOf(folder);
  if (marked === databaseOf(folder)) {
    noteDatabase(folder);
    return;
  }
  // Others are as a folder that lost its registry.
  await makeDatabase(folder, marked ?? (isNew(folder) ? TEMPLATE_OF_RUN : null));
  mark(folder);
}

function noteDatabase(folder: string): string {
  const name = databaseOf(folder);
  asked.count += 1;
  asked.databases.set(folder, name);
  return name;
}

/** Makes the database of a data folder anew. `from`: the one that it is a copy of; null: it has nothing. */
async function makeDatabase(folder: string, from: string | null): Promise<void> {
  const name = noteDatabase(folder);
  const sql = await connect(addressOf(MAINTENANCE));
  try {
    await removeGone((database) => sql.unsafe(`drop database if exists ${database} with (force)`));
    await sql.unsafe(`drop database if exists ${name} with (force)`);
    await sql.unsafe(`create database ${name}${from === null ? '' : ` template ${from} strategy file_copy`}`);
  } catch (error) {
    if (from === null || (error as { code?: string }).code !== IN_USE) throw error;
    await sql.unsafe(`create database ${name} template ${TEMPLATE_OF_RUN} strategy file_copy`);
    await copyRows(from, name);
  } finally {
    await sql.end();
  }
}

/** Copies one moment of a registry that has a server into a database with an empty one. */
async function copyRows(from: string, to: string): Promise<void> {
  const [source, target] = await Promise.all([connect(addressOf(from)), connect(addressOf(to))]);
  try {
    await source.unsafe('begin isolation level repeatable read read only');
    const names = "select quote_ident(tablename) from pg_tables where schemaname = 'winterdock'";
    const tables = (await source.unsafe(names).values()).map(([name]) => String(name));
    // Without its triggers: what they would do is copied too.
    await target.unsafe('set session_replication_role = replica');
    await target.unsafe(`truncate ${tables}`);
    for (const table of tables) {
      const rows = await source.unsafe(`copy ${table} to stdout`).readable();
      await pipeline(rows, await target.unsafe(`copy ${table} from stdin`).writable());
    }
    const sequences = `select sequencename, last_value from pg_sequences where schemaname = 'winterdock'`;
    for (const [name, last] of await source.unsafe(sequences).values())
      if (last !== null) await target.unsafe(`select setval('"${name}"', ${last})`);
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
}

/** Removes the databases of folders that are gone, several at a time. */
async function removeGone(remove: (database: string) => Promise<unknown>): Promise<void> {
  const gone = [...asked.databases].filter(([folder]) => !existsSync(folder));
  if (gone.length < REMOVED_AT_ONCE) return;
  for (const [folder, database] of gone) {
    await remove(database);
    asked.databases.delete(folder);
  }
}

const databaseOf = (folder: string) => `of_${createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 20)}`;

function urlOf(database: string): string {
  const server = process.env[POSTGRES_OF_RUN];
  if (server === undefined)
    throw new Error(`${POSTGRES_OF_RUN} names no server: tests on Postgres are started by Vitest.`);
  // A busy machine is no failure.
  return `${server.replace(/[^/]+$/, database)}?connect_timeout=120`;
}

const addressOf = (database: string) => parsePostgresUrl(urlOf(database));
