/**
 * Runs once before Vitest's tests on Postgres: starts the one server that all of them have databases of, with an empty
 * registry that these are copied from. It ends with the run.
 */

import { parsePostgresUrl } from '../lib/base/postgres-url.ts';
import { connect } from '../lib/registry/postgres/connect.ts';
import { migrate } from '../lib/registry/postgres/migrate.ts';
import { postgresServer } from '../lib/registry/testing/postgres-server.ts';
import { POSTGRES_OF_RUN, TEMPLATE_OF_RUN } from '../lib/registry/testing/registry-of-tests.ts';

const MAINTENANCE = 'postgres';

export default async function setUp(): Promise<void> {
  const server = await postgresServer();
  const on = async (database: string) => connect(parsePostgresUrl(server.url(database)));
  const maintenance = await on(MAINTENANCE);
  await maintenance.unsafe(`create database ${TEMPLATE_OF_RUN}`);
  await maintenance.end();
  const template = await on(TEMPLATE_OF_RUN);
  await migrate(template);
  await template.end();
  process.env[POSTGRES_OF_RUN] = server.url(MAINTENANCE);
}
