/**
 * Brings the registry's tables up to date with db/migrations by drizzle's migrator, which is loaded only when something
 * is missing: a file that is up to date is opened without it, and without waiting for whoever writes to it. A file that
 * holds something is copied first, and one that a newer version has written is refused.
 */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { migrator, queriesOver } from '../../../db/drizzle.ts';
import {
  chmodFileNow,
  performingNow,
  renameFileNow,
  syncFileNow,
  syncFolderNow,
  unlinkFileNow,
} from '../../base/effects.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { Upgrade } from '../maintenance.ts';

const MIGRATIONS = { migrationsFolder: join(import.meta.dirname, '../../../db/migrations') };
const IS_RECORDED = "SELECT count(*) FROM sqlite_schema WHERE name = '__drizzle_migrations'";
const RECORDED = 'SELECT created_at FROM __drizzle_migrations ORDER BY created_at';

/** How many migrations this version knows. */
export function knownMigrations(): number {
  return readMigrationFiles(MIGRATIONS).length;
}

/**
 * Does all that is missing, or nothing. Of processes that open a new file at once one does it; the others wait and find
 * it done. Returns what was done to a file that held something; null for one that is new or lacked nothing. Throws
 * `conflict` when a newer version has written the file, and what SQLite throws when there is no room for the copy;
 * nothing was changed then.
 */
export function migrate(client: Database): Upgrade | null {
  const known = readMigrationFiles(MIGRATIONS).map(({ folderMillis }) => folderMillis);
  const recorded = recordedIn(client);
  const unknown = recorded.filter((time) => !known.includes(time));
  if (unknown.length > 0) throw newer(client.name, recorded.length, unknown.length);
  const last = recorded.at(-1) ?? 0;
  if (known.every((time) => time <= last)) return null;
  if (recorded.length === 0) {
    run(client);
    return null;
  }
  const copy = copyBeside(client, known.length);
  try {
    run(client);
  } catch (error) {
    // Nothing was changed, so the copy says nothing that the file does not; the next try makes its own.
    unlinkFileNow(copy);
    throw error;
  }
  return { from: recorded.length, to: known.length, copy };
}

/** When each migration that the file has was made, as the migrator knows them, oldest first. */
function recordedIn(client: Database): number[] {
  if (Number(client.prepare(IS_RECORDED).pluck().get()) === 0) return [];
  return client.prepare(RECORDED).pluck().all().map(Number);
}

function run(client: Database): void {
  const { migrate: bring } = migrator();
  const queries = queriesOver(client);
  try {
    bring(queries, MIGRATIONS);
  } catch {
    client.exec('BEGIN IMMEDIATE; COMMIT');
    bring(queries, MIGRATIONS);
  }
}

/**
 * Writes `<file>.before-<migrations>`, durably and whole or not at all; one that is there already is kept. Returns its
 * path.
 */
function copyBeside(client: Database, migrations: number): string {
  const name = `${client.name}.before-${migrations}`;
  let copy = name;
  for (let n = 2; existsSync(copy); n += 1) copy = `${name}.${n}`;
  const unfinished = `${client.name}.unfinished`;
  unlinkFileNow(unfinished);
  try {
    performingNow({ kind: 'create', path: unfinished }, () => client.prepare('VACUUM INTO ?').run(unfinished));
    chmodFileNow(unfinished, 0o600);
    syncFileNow(unfinished);
  } catch (error) {
    unlinkFileNow(unfinished);
    throw error;
  }
  renameFileNow(unfinished, copy);
  syncFolderNow(dirname(copy));
  return copy;
}

function newer(file: string, has: number, unknown: number): WinterdockError {
  return new WinterdockError(
    'conflict',
    `A newer version of Winterdock has written the registry ${file}: of its ${has} migrations this version does not know ${unknown}. Start the newer version, or put back the copy that it kept beside it (${file}.before-…); docs/operations.md says how.`,
  );
}
