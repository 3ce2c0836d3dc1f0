/**
 * The registry on Postgres as a driver under test: a database of its own, made of a template and removed after each
 * test.
 */

import { type PostgresAddress, parsePostgresUrl } from '../../base/postgres-url.ts';
import { type PlainIds, withPlainIds } from '../../testing/plain-ids.ts';
import { connect } from '../postgres/connect.ts';
import { PostgresDatabase } from '../postgres/database.ts';
import { migrate } from '../postgres/migrate.ts';
import { openPostgresRegistry } from '../postgres/open.ts';
import { ConnectionPool } from '../postgres/pool.ts';
import type { Registry } from '../registry.ts';
import { type RegistryUnderTest, THRESHOLDS } from './fixtures.ts';
import { postgresServer } from './postgres-server.ts';

const TEMPLATE = 'registry_template';
let made = 0;
let template: Promise<void> | null = null;

/** The address of a database of the server of this process. */
export async function addressOf(database: string): Promise<PostgresAddress> {
  return parsePostgresUrl((await postgresServer()).url(database));
}

/** Runs one statement on the server itself. Returns its rows. */
export async function administer(statement: string): Promise<unknown[][]> {
  const sql = await connect(await addressOf('postgres'));
  const rows = await sql.unsafe(statement).values();
  await sql.end();
  return rows as unknown as unknown[][];
}

/** The template: an empty registry. */
async function makeTemplate(): Promise<void> {
  await administer(`create database ${TEMPLATE}`);
  const sql = await connect(await addressOf(TEMPLATE));
  await migrate(sql);
  await sql.end();
}

/** A new database with an empty registry. Returns its address. */
export async function newDatabase(name: string): Promise<PostgresAddress> {
  template ??= makeTemplate();
  await template;
  await administer(`create database ${name} template ${TEMPLATE} strategy file_copy`);
  return addressOf(name);
}

/** `wrap` gets every opened registry, and returns the one that the suite uses. */
export function postgresUnderTest(wrap = (registry: Registry): Registry => registry): RegistryUnderTest {
  let name = '';
  let address: PostgresAddress | null = null;
  let opened: PlainIds<Registry>[] = [];
  const again = async (thresholds = THRESHOLDS) => {
    if (address === null) throw new Error('There is no database yet.');
    const database = new PostgresDatabase(await ConnectionPool.open(address, { most: 4 }));
    const registry = withPlainIds(wrap(await openPostgresRegistry(database, { thresholds, name: address.name })));
    opened.push(registry);
    return registry;
  };
  return {
    async open() {
      made += 1;
      name = `registry_${made}`;
      address = await newDatabase(name);
      return again();
    },
    again,
    async discard() {
      for (const registry of opened) await registry.close();
      opened = [];
      await administer(`drop database if exists ${name} with (force)`);
    },
  };
}
