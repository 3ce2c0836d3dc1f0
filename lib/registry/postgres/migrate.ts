/** Makes the schema and the tables of a registry on Postgres, and brings older ones forward, in one transaction. */
import type { Sql } from 'postgres';
import { STEPS } from '../../../db/postgres/migrations.ts';
import { WinterdockError } from '../../base/errors.ts';
import { SCHEMA } from './connect.ts';

/** The lock of whoever makes tables: any number that nobody else in the database takes. */
const MAKERS = 7_305_812;

/** How many steps a registry has; null where there is none. */
export async function stepsOf(sql: Pick<Sql, 'unsafe'>, schema = SCHEMA): Promise<number | null> {
  const [[table] = []] = await sql.unsafe(`select to_regclass('${schema}.registry_steps')::text`).values();
  if (table === null || table === undefined) return null;
  const [[steps] = []] = await sql.unsafe(`select count(*) from ${schema}.registry_steps`).values();
  return Number(steps);
}

/**
 * Makes all steps that are missing in the schema that `sql` looks for names in, or none. Rejects with `conflict` for a
 * registry of a newer version.
 */
export async function migrate(sql: Sql, schema = SCHEMA): Promise<void> {
  const known = STEPS.length;
  if ((await stepsOf(sql, schema)) === known) return;
  await sql.begin(async (transaction) => {
    await transaction.unsafe(`select pg_advisory_xact_lock(${MAKERS})`);
    const steps = await stepsOf(transaction as unknown as Sql, schema);
    requireKnown(steps);
    // Whoever may not make schemas may have been given one.
    const [[there] = []] = await transaction.unsafe(`select to_regnamespace('${schema}')::text`).values();
    if (there === null) await transaction.unsafe(`create schema ${schema}`);
    if (steps === null) await transaction.unsafe('create table registry_steps (step bigint primary key)');
    for (const [at, step] of STEPS.entries()) {
      if (at < (steps ?? 0)) continue;
      for (const statement of step()) await transaction.unsafe(statement);
      await transaction.unsafe(`insert into registry_steps values (${at + 1})`);
    }
  });
}

/** Throws `conflict` for the steps of a newer version. */
export function requireKnown(steps: number | null): void {
  const unknown = (steps ?? 0) - STEPS.length;
  if (unknown <= 0) return;
  throw new WinterdockError(
    'conflict',
    `A newer version of Winterdock has written the registry: of its ${steps} steps this version does not know ${unknown}. Start the newer version.`,
    { extra: { start_refused: 'newer' } },
  );
}
