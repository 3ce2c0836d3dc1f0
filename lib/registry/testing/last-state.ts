/**
 * For tests: a data folder that the server of commit 49ff4dee left when it was killed, the last one before its thirty
 * migrations became one: sandboxes in every state, a schedule, a log beside the registry.
 */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

const ARCHIVE = join(import.meta.dirname, 'last-state.tar.gz');
const MIGRATIONS = join(import.meta.dirname, '../../../db/migrations');

/** Number of migrations in this version. */
export const KNOWN: number = JSON.parse(readFileSync(join(MIGRATIONS, 'meta/_journal.json'), 'utf8')).entries.length;

/** Number of migrations of the folder. */
export const FORMER = 30;

/** What is in it, as `expectWhole` of lib/backup/testing/server-content.ts wants to know. */
export const CONTENT = {
  snapshot: 'snap-g9ba78j5a6',
  names: { 'sb-fpe6ax83hw': 'ofSnapshot', 'sb-bwqm371273': 'resumedClone', 'sb-k1gyf6ddj6': 'ofBlueprint' },
};

/** Lays it in `folder`, an absolute path, which it makes. */
export function layLastState(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { status, stderr } = spawnSync('tar', ['-xzf', ARCHIVE, '-C', folder, '--strip-components=1'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
}

/**
 * Takes the last of the thirty migrations from a registry's journal, as an older version would have left it, and leaves
 * the file without a log.
 */
export function makeOlder(path: string): void {
  const client = new Database(path);
  client.exec('DELETE FROM __drizzle_migrations WHERE created_at = (SELECT max(created_at) FROM __drizzle_migrations)');
  client.close();
}

/** Every file below a folder, but for the lock of a server, with a hash of its bytes. */
export function everyFileIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter(
    (entry) => entry.isFile() && entry.name !== 'lock.sqlite',
  );
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(paths.map((path) => [path, hash('sha256', readFileSync(path))]));
}
