/** Makes the tables of a registry on Postgres, and brings older ones forward, in one transaction. */
import type { Sql } from 'postgres';
import { STEPS } from '../../../db/postgres/migrations.ts';
import { WinterdockError } from '../../base/errors.ts';

/** The lock of whoever makes tables: any number that nobody else in the database takes. */
const MAKERS = 7_305_812;

/** How many steps a database has; null for one that has nothing of a registry. */
async function stepsOf(sql: Pick<Sql, 'unsafe'>): Promise<number | null> {
  const [[table] = []] = await sql.unsafe(`select to_regclass('registry_steps')::text`).values();
  if (table === null || table === undefined) return null;
  const [[steps] = []] = await sql.unsafe('select count(*) from registry_steps').values();
  return Number(steps);
}

/** Makes all steps that are missing, or none. Rejects with `conflict` for a registry of a newer version. */
export async function migrate(sql: Sql): Promise<void> {
  const known = STEPS.length;
  if ((await stepsOf(sql)) === known) return;
  await sql.begin(async (transaction) => {
    await transaction.unsafe(`select pg_advisory_xact_lock(${MAKERS})`);
    const steps = await stepsOf(transaction as unknown as Sql);
    if (steps !== null && steps > known) throw newer(steps, steps - known);
    if (steps === null) await transaction.unsafe('create table registry_steps (step bigint primary key)');
    for (const [at, step] of STEPS.entries()) {
      if (at < (steps ?? 0)) continue;
      for (const statement of step()) await transaction.unsafe(statement);
      await transaction.unsafe(`insert into registry_steps values (${at + 1})`);
    }
  });
}

function newer(has: number, unknown: number): WinterdockError {
  return new WinterdockError(
    'conflict',
    `A newer version of Winterdock has written the registry: of its ${has} steps this version does not know ${unknown}. Start the newer version.`,
    { extra: { start_refused: 'newer' } },
  );
}
