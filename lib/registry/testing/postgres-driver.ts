/**
 * The registry on Postgres as a driver under test: a database of its own, made of a template and removed after each
 * test.
 */
import { type PlainIds, withPlainIds } from '../../testing/plain-ids.ts';
import { connect } from '../postgres/connect.ts';
import { migrate } from '../postgres/migrate.ts';
import { openPostgresRegistry } from '../postgres/open.ts';
import type { Registry } from '../registry.ts';
import { type RegistryUnderTest, THRESHOLDS } from './fixtures.ts';
import { postgresServer } from './postgres-server.ts';

const TEMPLATE = 'registry_template';
let made = 0;
let template: Promise<void> | null = null;

/** Runs one statement on the server itself. */
async function administer(statement: string): Promise<void> {
  const server = await postgresServer();
  const sql = await connect(server.url('postgres'), { most: 1 });
  await sql.unsafe(statement);
  await sql.end();
}

/** The template: an empty registry. */
async function makeTemplate(): Promise<void> {
  await administer(`create database ${TEMPLATE}`);
  const sql = await connect((await postgresServer()).url(TEMPLATE), { most: 1 });
  await migrate(sql);
  await sql.end();
}

/** A new database with an empty registry. Returns its URL. */
export async function newDatabase(name: string): Promise<string> {
  template ??= makeTemplate();
  await template;
  await administer(`create database ${name} template ${TEMPLATE} strategy file_copy`);
  return (await postgresServer()).url(name);
}

/** `wrap` gets every opened registry, and returns the one that the suite uses. */
export function postgresDriver(wrap = (registry: Registry): Registry => registry): RegistryUnderTest {
  let name = '';
  let url = '';
  let opened: PlainIds<Registry>[] = [];
  const again = async (thresholds = THRESHOLDS) => {
    const sql = await connect(url, { most: 4 });
    const registry = withPlainIds(wrap(await openPostgresRegistry(sql, { thresholds })));
    opened.push(registry);
    return registry;
  };
  return {
    async open() {
      made += 1;
      name = `registry_${made}`;
      url = await newDatabase(name);
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
