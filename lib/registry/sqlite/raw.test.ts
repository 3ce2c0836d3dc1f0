import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

/** Files that use SQLite without drizzle, and the reasons. */
const BY_HAND: Readonly<Record<string, string>> = {
  'lib/health/load/minutes-file.ts': 'the minutes of the load are in a file of their own beside the registry',
  'lib/registry/sqlite/quick-check.ts': 'PRAGMA quick_check, in a thread that loads no drizzle',
  'lib/registry/sqlite/database.ts':
    'opens the connection: PRAGMA, transactions, VACUUM, the triggers of what is being forgotten',
  'lib/registry/sqlite/migrate.ts':
    'asks for what is recorded before the tables are what the schema says, and copies the file',
  'lib/registry/sqlite/former-history.ts':
    'asks for and rewrites what is recorded of migrations, also in a file that it must not open as usual',
  'lib/registry/sqlite/file-reader.ts': 'opens a file that another owns: PRAGMA, BEGIN, VACUUM INTO',
  'lib/registry/sqlite/whole-file.ts': 'reads and loads whole tables, without their triggers',
  'lib/registry/statements/raw.ts': 'the list of all that drizzle has no words for',
  'lib/registry/statements/dialect.ts': 'a place in a statement that has another text in each dialect',
  'lib/registry/postgres/acknowledged.ts': 'what a connection leads to, and the limits of its session',
  'lib/registry/postgres/connect.ts': 'whether a server takes writes',
  'lib/registry/postgres/database.ts': 'the begin and end of transactions, and their lock',
  'lib/registry/postgres/statement.ts': 'sends the text of a built statement',
  'lib/registry/postgres/group-commit.ts': 'sends the begin and end of transactions with their statements',
  'lib/registry/postgres/follower.ts': 'listens, tells others, and asks how far the ledger is',
  'lib/registry/postgres/change-with-lines.ts': 'a change, its due time and its lines in one statement',
  'lib/registry/postgres/lists.ts': 'the index of texts, and lengths of pages that are part of a statement',
  'lib/registry/postgres/migrate.ts': 'asks for what is recorded of the steps, and runs their statements',
  'lib/registry/postgres/ledger.ts': 'the function that appends, and the head of the chain',
  'lib/registry/postgres/open.ts': 'the head of the chain',
  'lib/registry/postgres/driver.ts': 'schemas that are made, renamed and removed, and what the server says of itself',
  'lib/registry/postgres/registry-lock.ts': 'the lock of a session, and whose the registry is',
  'lib/registry/postgres/whole-schema.ts': 'reads and loads whole tables, without their triggers',
  'lib/registry/postgres/recount.ts': 'a lock of two tables',
  'lib/registry/postgres/storage.ts': 'sizes, VACUUM',
};

/** Files that use node:sqlite belong to sandboxes, not to the registry: their SQL is their file format. */
const OF_SANDBOXES = /^lib\/(vfs|bundles|instance|testing)\/|^lib\/backup\/(store|copy-file)\.ts$/;

/** drizzle's `sql` template, better-sqlite3's prepare, exec and pragma, and what sends a text to Postgres. */
const BY_TEXT = /\bsql(<[^`\n]*>)?`|\.(prepare|exec|pragma|unsafe|ask)(<[^(\n]*>)?\((?!\))/;
/** Pieces of SQL as text. */
const PIECE = /\b(SELECT|INSERT (OR \w+ )?INTO|DELETE FROM|INDEXED BY|ORDER BY|GROUP BY|UNION|WHERE|PRAGMA|VACUUM)\b/;

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split('/').includes('testing'));
}

/** The file without its comments. */
const codeOf = (path: string) =>
  readFileSync(join(ROOT, path), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '');

/** True when a file uses the registry: elsewhere `exec` may belong to a regular expression or a shell. */
const asksRegistry = (path: string) =>
  /^lib\/registry\/(?:sqlite|postgres|statements)\//.test(path) ||
  /from '(better-sqlite3|drizzle-orm[^']*)'|drizzle\.ts'|\/database\.ts'|registry\.database/.test(codeOf(path));

test('only the named files of lib write the registry’s SQL by hand', () => {
  const found = sources('lib').filter(
    (path) =>
      !OF_SANDBOXES.test(path) && asksRegistry(path) && (BY_TEXT.test(codeOf(path)) || PIECE.test(codeOf(path))),
  );
  expect(found.toSorted()).toEqual(Object.keys(BY_HAND).toSorted());
});

test('SQL that drizzle cannot express is at most 50 templates in two dialects, each with its reason', () => {
  const text = readFileSync(join(ROOT, 'lib/registry/statements/raw.ts'), 'utf8');
  expect(codeOf('lib/registry/statements/raw.ts').match(/\bsql(<[^`\n]*>)?`/g)?.length).toBeLessThanOrEqual(50);
  const exported = [...text.matchAll(/(\*\/\n)?export (?:async )?(?:function|const) (\w+)/g)];
  expect(exported.filter(([, documented]) => documented === undefined).map(([, , name]) => name)).toEqual([]);
});
