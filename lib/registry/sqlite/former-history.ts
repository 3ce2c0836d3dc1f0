/**
 * The history before the first migration of db/migrations: thirty others, of which commit 49ff4dee has the last. They
 * became one, which makes the same schema. A file with exactly those thirty is carried over: its journal is rewritten
 * to say what it has. A file with fewer is refused, and looked at without a change of it.
 */
import { hash as digestOf } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Database } from 'better-sqlite3';
import { performingNow } from '../../base/effects.ts';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';

/** A line of the migrator's journal: the hash of a migration, and the time by which it is identified. */
export interface JournalLine {
  hash: string;
  createdMs: number;
}

/** How many there were, the time of the last one, and the SHA-256 of all their times and hashes. */
const FORMER = {
  count: 30,
  lastMs: 1_795_730_370_258,
  sha256: '3b3164ece7c038565a6f51587d828cc505cc9ac00a31812ff5d98831fb3211c9',
};
const CARRIES = '49ff4dee';
const JOURNAL = '__drizzle_migrations';
const IS_THERE = `SELECT count(*) AS n FROM sqlite_schema WHERE name = '${JOURNAL}'`;
const OTHERS = `SELECT count(*) AS n FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('${JOURNAL}', 'sqlite_sequence')`;
const LINES = `SELECT hash, created_at AS createdMs FROM ${JOURNAL} ORDER BY created_at`;

/** The migrations that a registry has, oldest first. */
export function journalOf(client: Pick<Database, 'prepare'>): JournalLine[] {
  if ((client.prepare(IS_THERE).get() as { n: number }).n === 0) return [];
  return (client.prepare(LINES).all() as { hash: unknown; createdMs: unknown }[]).map((line) => ({
    hash: String(line.hash),
    createdMs: Number(line.createdMs),
  }));
}

/** True when a file has the last of the former migrations, and no other. */
export function isLastFormer(journal: readonly JournalLine[]): boolean {
  const text = journal.map(({ hash, createdMs }) => `${createdMs} ${hash}`).join('\n');
  return journal.length === FORMER.count && digestOf('sha256', text) === FORMER.sha256;
}

/** Throws `conflict` for the journal of a file that is older than what can be carried over; `what` names the file. */
export function refuseFormer(journal: readonly JournalLine[], what: string): void {
  const former = journal.filter(({ createdMs }) => createdMs <= FORMER.lastMs);
  if (former.length === 0 || isLastFormer(journal)) return;
  throw new WinterdockError(
    'conflict',
    `${what} is of an older version of Winterdock: its ${journal.length} migrations are not the ${FORMER.count} that this version carries over. It was not changed. Winterdock of commit ${CARRIES} brings it there: start that version on it once, or restore the backup with it; then start this one.`,
    { extra: { start_refused: 'older' } },
  );
}

/**
 * Throws `conflict` for a database that has tables and no migration: another program's, or a sandbox's. The migrator
 * commits both at once, and the tables are looked for first. `what` names the file.
 */
export function refuseForeign(client: Pick<Database, 'prepare'>, what: string): void {
  if ((client.prepare(OTHERS).get() as { n: number }).n === 0 || journalOf(client).length > 0) return;
  throw foreign(what, 'it has tables, and none of a registry');
}

function foreign(what: string, why: string): WinterdockError {
  return new WinterdockError(
    'conflict',
    `${what} is a database of something else: ${why}. It was not changed. Set WB_REGISTRY to the registry, or to a file that is not there yet.`,
    { extra: { start_refused: 'foreign' } },
  );
}

/** Files that this process has open, and how many times: closing another descriptor of one would release its locks. */
const held = new Map<string, number>();

/** Counts a file as opened until `release`. `:memory:` may be counted too. */
export function holdFile(path: string): void {
  held.set(path, (held.get(path) ?? 0) + 1);
}

/** The end of one `holdFile`. */
export function releaseFile(path: string): void {
  const others = (held.get(path) ?? 1) - 1;
  if (others === 0) held.delete(path);
  else held.set(path, others);
}

/**
 * Throws `conflict` when the file at `path` is too old, before anybody opens it: opening one that was left with its log
 * would write the log into it. `what` names it. A file that is not there or cannot be read so is for the opener to
 * judge.
 */
export function refuseFormerFile(path: string, what = `The registry ${path}`): void {
  lookAt(path, (client) => refuseFormer(journalOf(client), what));
}

/**
 * Throws `conflict` for a database of something else, one without tables too. What is only in a log is not seen:
 * `migrate` judges that.
 */
export function refuseForeignFile(path: string): void {
  const hasLog = ['-wal', '-journal'].some((suffix) => existsSync(path + suffix));
  if (hasLog) return;
  lookAt(path, (client) => {
    const what = `The registry ${path}`;
    refuseForeign(client, what);
    const isEmpty = journalOf(client).length === 0;
    if (isEmpty && !isJustMade(path)) throw foreign(what, 'it has no tables, and no registry was begun in it');
  });
}

/**
 * Whether a database without tables is as a server left it that was killed while it made its registry: with a log, and
 * without the numbers by which other programs know theirs. https://sqlite.org/fileformat2.html#the_database_header
 */
function isJustMade(path: string): boolean {
  const header = Buffer.alloc(100);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, header);
  } finally {
    closeSync(descriptor);
  }
  const [keepsLog, userVersion, applicationId] = [header[18] === 2, header.readInt32BE(60), header.readInt32BE(68)];
  return keepsLog && userVersion === 0 && applicationId === 0;
}

/** Looks at a file as an immutable one. Throws the refusals of `look`, and no errors of its database. */
function lookAt(path: string, look: (client: Pick<Database, 'prepare'>) => void): void {
  if (held.has(path)) return;
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  try {
    const address = pathToFileURL(path);
    address.search = 'immutable=1';
    const client = new DatabaseSync(address, { readOnly: true });
    try {
      look(client as unknown as Pick<Database, 'prepare'>);
    } finally {
      client.close();
    }
  } catch (error) {
    if (isWinterdockError(error)) throw error;
  }
}

/**
 * Rewrites the journal of a file that has the last of the former migrations, so that it has `first` alone, in one
 * transaction. Does nothing when another process has done it.
 */
export function carryOver(client: Database, first: JournalLine): void {
  client.exec('BEGIN IMMEDIATE');
  try {
    if (isLastFormer(journalOf(client))) {
      client.exec(`DELETE FROM ${JOURNAL}`);
      client.prepare(`INSERT INTO ${JOURNAL}(hash, created_at) VALUES (?, ?)`).run(first.hash, first.createdMs);
    }
    performingNow({ kind: 'commit', path: client.name }, () => client.exec('COMMIT'));
  } catch (error) {
    if (client.inTransaction) client.exec('ROLLBACK');
    throw error;
  }
}
