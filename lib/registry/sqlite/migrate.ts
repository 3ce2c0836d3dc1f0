/**
 * Runs the migrations in db/migrations that the registry lacks, with drizzle's migrator. An up-to-date file is opened
 * without loading the migrator and without waiting for a writer. A file with data is copied before it is migrated. A
 * file with the last of the former migrations is carried over first. One of a newer or an older version is refused, and
 * so is another program's database.
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
import type { Upgrade } from '../storage.ts';
import { carryOver, isLastFormer, journalOf, refuseForeign, refuseFormer } from './former-history.ts';

const MIGRATIONS = { migrationsFolder: join(import.meta.dirname, '../../../db/migrations') };

/** Number of migrations in this version. */
export function knownMigrations(): number {
  return readMigrationFiles(MIGRATIONS).length;
}

/**
 * Runs all missing migrations, or none. When several processes open a new file at the same time, one migrates it and
 * the others wait. Returns the upgrade of a file with data; null for a new or up-to-date file, and without `keepCopy`.
 * Throws `conflict` for a file of a newer or an older version, and SQLite's error when there is no room for the copy;
 * the file is then unchanged.
 */
export function migrate(client: Database, { keepCopy }: { keepCopy: boolean }): Upgrade | null {
  const known = readMigrationFiles(MIGRATIONS).map(({ hash, folderMillis }) => ({ hash, createdMs: folderMillis }));
  refuseForeign(client, `The registry ${client.name}`);
  const journal = journalOf(client);
  refuseFormer(journal, `The registry ${client.name}`);
  const [first] = known;
  const former = isLastFormer(journal) ? first : undefined;
  const times = known.map(({ createdMs }) => createdMs);
  const recorded = former === undefined ? journal.map(({ createdMs }) => createdMs) : [former.createdMs];
  const unknown = recorded.filter((time) => !times.includes(time));
  if (unknown.length > 0) throw newer(client.name, recorded.length, unknown.length);
  const last = recorded.at(-1) ?? 0;
  const isComplete = times.every((time) => time <= last);
  if (isComplete && former === undefined) return null;
  const copy = journal.length > 0 && keepCopy ? copyBeside(client, known.length) : null;
  let isCarried = false;
  try {
    if (former !== undefined) {
      carryOver(client, former);
      isCarried = true;
    }
    if (!isComplete) run(client);
  } catch (error) {
    // The file is unchanged, so the copy is not needed; the next attempt makes its own.
    if (copy !== null && !isCarried) unlinkFileNow(copy);
    throw error;
  }
  return copy === null ? null : { from: journal.length, to: known.length, copy };
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
 * Writes `<file>.before-<migrations>` durably and completely, or not at all; an existing one is kept. Returns its path.
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
    { extra: { start_refused: 'newer' } },
  );
}
