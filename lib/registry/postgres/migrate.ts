/**
 * Makes the schema and the tables of a registry on Postgres, and brings older ones forward, in one transaction. A step
 * expands or contracts: a registry that was only expanded by a newer version can be used by this one too.
 */
import type { Sql } from 'postgres';
import { CONTRACTING, STEPS } from '../../../db/postgres/migrations.ts';
import { WinterdockError } from '../../base/errors.ts';
import { SCHEMA } from './connect.ts';

/** The lock of whoever makes tables: any number that nobody else in the database takes. */
const MAKERS = 7_305_812;

/** The steps of a version. */
export interface KnownSteps {
  steps: readonly (() => readonly string[])[];
  /** Numbers of those that contract. */
  contracting: ReadonlySet<number>;
}

/** The steps of a registry. */
interface MadeSteps {
  count: number;
  /** Number of the last one that contracts; 0: none. */
  contracted: number;
}

const KNOWN: KnownSteps = { steps: STEPS, contracting: CONTRACTING };

/** Which steps a registry has; null where there is none. */
export async function stepsOf(sql: Pick<Sql, 'unsafe'>, schema = SCHEMA): Promise<MadeSteps | null> {
  const [[table] = []] = await sql.unsafe(`select to_regclass('${schema}.registry_steps')::text`).values();
  if (table === null || table === undefined) return null;
  // The table had no second column at first.
  const [[count, contracted] = []] = await sql
    .unsafe(
      `select count(*), coalesce(max(step) filter (where (to_jsonb(one) ->> 'contracts')::int = 1), 0)
        from ${schema}.registry_steps as one`,
    )
    .values();
  return { count: Number(count), contracted: Number(contracted) };
}

/** Runs work while nobody else uses the registry. */
type Alone = (work: () => Promise<void>) => Promise<void>;

/**
 * Makes all steps that are missing in the schema that `sql` looks for names in, or none. Rejects with `conflict` for a
 * registry that a newer version has contracted. `known`: for tests. `alone`: for a registry that others may use, of
 * which a step that contracts takes away what they need.
 */
export async function migrate(
  sql: Sql,
  schema = SCHEMA,
  known = KNOWN,
  alone: Alone = (work) => work(),
): Promise<void> {
  const isWhole = (made: MadeSteps | null) => {
    requireKnown(made, known);
    return (made?.count ?? 0) >= known.steps.length;
  };
  const made = await stepsOf(sql, schema);
  if (isWhole(made)) return;
  const contracts = made !== null && [...known.contracting].some((step) => step > made.count);
  const make = () => makeSteps(sql, schema, known, isWhole);
  await (contracts ? alone(make) : make());
}

async function makeSteps(
  sql: Sql,
  schema: string,
  known: KnownSteps,
  isWhole: (made: MadeSteps | null) => boolean,
): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction.unsafe(`select pg_advisory_xact_lock(${MAKERS})`);
    const made = await stepsOf(transaction as unknown as Sql, schema);
    if (isWhole(made)) return;
    // Whoever may not make schemas may have been given one.
    const [[there] = []] = await transaction.unsafe(`select to_regnamespace('${schema}')::text`).values();
    if (there === null) await transaction.unsafe(`create schema ${schema}`);
    await transaction.unsafe('create table if not exists registry_steps (step bigint primary key)');
    await transaction.unsafe('alter table registry_steps add column if not exists contracts bigint not null default 0');
    for (const [at, step] of known.steps.entries()) {
      if (at < (made?.count ?? 0)) continue;
      for (const statement of step()) await transaction.unsafe(statement);
      const contracts = known.contracting.has(at + 1) ? 1 : 0;
      await transaction.unsafe(`insert into registry_steps (step, contracts) values (${at + 1}, ${contracts})`);
    }
  });
}

/** Throws `conflict` for a registry that a version with more steps has contracted. */
export function requireKnown(made: MadeSteps | null, { steps } = KNOWN): void {
  if (made === null || made.contracted <= steps.length) return;
  throw new WinterdockError(
    'conflict',
    `A newer version of Winterdock has written the registry: this version knows ${steps.length} of its ${made.count} steps, and step ${made.contracted} took away what it needs. Start the newer version.`,
    { extra: { start_refused: 'newer' } },
  );
}
