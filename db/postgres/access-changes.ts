/**
 * A number that grows with each change of what servers keep in memory: keys, people and their sessions, what is set of
 * tenants, and the global thresholds. It changes in the transaction of the change itself, whoever makes it, so a server
 * that has read the same number twice has missed nothing in between.
 */
import { getTableConfig } from '../drizzle.ts';
import { keys } from '../schema.ts';

/** When a key was last used is written every minute, and nobody keeps it. */
const OF_KEYS = getTableConfig(keys)
  .columns.map(({ name }) => name)
  .filter((name) => name !== 'last_used')
  .join(', ');

const trigger = (table: string, events: string, when = 'FOR EACH STATEMENT') =>
  `CREATE TRIGGER access_changed AFTER ${events} ON "${table}" ${when} EXECUTE FUNCTION access_changed()`;

/** In the order in which they are made. */
export const ACCESS_CHANGES: readonly string[] = [
  'CREATE TABLE access_changes (is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), number bigint NOT NULL)',
  'INSERT INTO access_changes (number) VALUES (0)',
  // By the schema of the changed table: whoever changes rows by hand may look for names elsewhere.
  `CREATE FUNCTION access_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %I.access_changes SET number = number + 1', tg_table_schema);
  RETURN NULL;
END
$$`,
  trigger('keys', `INSERT OR UPDATE OF ${OF_KEYS} OR DELETE OR TRUNCATE`),
  trigger('user', 'INSERT OR UPDATE OR DELETE OR TRUNCATE'),
  // One that was opened just now is kept by nobody yet.
  trigger('session', 'UPDATE OR DELETE OR TRUNCATE'),
  trigger('tenants', 'INSERT OR UPDATE OR DELETE OR TRUNCATE'),
  // Many other facts are in this table, and change often.
  trigger('settings', 'INSERT OR UPDATE', `FOR EACH ROW WHEN (new.key = 'thresholds')`),
];
