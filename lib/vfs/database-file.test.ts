import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { isWinterdockError, type WinterdockError } from '../base/errors.ts';
import { databaseRows, databaseTables, MAX_DATABASE_BYTES } from './database-file.ts';
import { MIB } from './testing/tmp-files.ts';

/** The bytes of a database that `sql` makes. */
function databaseBytes(sql: string, fill: (db: DatabaseSync) => void = () => {}): Uint8Array {
  const db = new DatabaseSync(':memory:', { defensive: false });
  db.exec(sql);
  fill(db);
  const content = db.serialize();
  db.close();
  return content;
}

/** A database whose schema says what SQLite itself would not write. */
function forged(sql: string, forgery: string): Uint8Array {
  return databaseBytes(sql, (db) => db.exec(`PRAGMA writable_schema = ON; ${forgery}`));
}

function refusalOf(run: () => unknown): WinterdockError {
  try {
    run();
  } catch (error) {
    if (isWinterdockError(error)) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

const list = (content: Uint8Array, limit = 100, after?: string) =>
  databaseTables(content, { limit, ...(after === undefined ? {} : { after }) });
const rows = (content: Uint8Array, table: string, limit = 100, after?: string) =>
  databaseRows(content, { table, limit, ...(after === undefined ? {} : { after }) });

test('63. a database is shown as its tables and views, with columns, types and counts', () => {
  const content = databaseBytes(
    `CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, photo BLOB, size AS (length(name)));
     CREATE TABLE pairs (a, b INT, PRIMARY KEY (a, b)) WITHOUT ROWID;
     CREATE VIEW named AS SELECT id, name FROM people WHERE name <> "nobody";
     CREATE INDEX by_name ON people (name);
     CREATE TABLE counted (x INTEGER PRIMARY KEY AUTOINCREMENT);
     INSERT INTO people (name, photo) VALUES ('Ada', x'00ff'), ('Grace', NULL);`,
    (db) =>
      db.exec(
        'WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 10001) INSERT INTO counted SELECT x FROM n',
      ),
  );
  const found = list(content);
  expect(found).toMatchObject({ total: 4, wal: false, next: null });
  expect(
    found.tables.map(({ name, kind, rowCount, moreRows, problem }) => [name, kind, rowCount, moreRows, problem]),
  ).toEqual([
    ['counted', 'table', 10_000, true, null],
    ['named', 'view', null, false, null],
    ['pairs', 'table', 0, false, null],
    ['people', 'table', 2, false, null],
  ]);
  expect(found.tables[3]?.columns).toEqual([
    { name: 'id', type: 'INTEGER' },
    { name: 'name', type: 'TEXT' },
    { name: 'photo', type: 'BLOB' },
    { name: 'size', type: '' },
  ]);
  expect(rows(content, 'people').rows).toEqual([
    [1, 'Ada', { hex: '00ff', bytes: 2 }, 3],
    [2, 'Grace', null, 5],
  ]);
  expect(rows(content, 'named')).toMatchObject({
    kind: 'view',
    columnCount: 2,
    rows: [
      [1, 'Ada'],
      [2, 'Grace'],
    ],
  });
});

test('63. pages follow row ids where there are some, and places where there are none', () => {
  const numbers = 'WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 7)';
  const content = databaseBytes(
    `CREATE TABLE ids (rowid TEXT, _rowid_ TEXT); CREATE TABLE none (x PRIMARY KEY) WITHOUT ROWID;
     CREATE TABLE all_names (rowid TEXT, _rowid_ TEXT, oid TEXT); CREATE VIEW some AS SELECT x * 2 AS "twice ""x""" FROM none;
     ${numbers} INSERT INTO ids (oid, rowid) SELECT x * 1000 - 4000, 'r' || x FROM n; ${numbers} INSERT INTO none SELECT x FROM n;
     ${numbers} INSERT INTO all_names SELECT x, x, x FROM n; INSERT INTO ids (oid, rowid) VALUES (9223372036854775807, 'last');`,
  );
  const pages = (table: string) => {
    const all: unknown[] = [];
    const cursors: (string | null)[] = [];
    for (let after: string | undefined, more = true; more; ) {
      const page = rows(content, table, 3, after);
      expect(page.offset).toBe(all.length);
      all.push(...page.rows.map(([first]) => first));
      cursors.push(page.next);
      more = page.next !== null;
      after = page.next ?? undefined;
    }
    return { all, cursors };
  };
  expect(pages('ids')).toEqual({
    all: ['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'last'],
    cursors: ['3:-1000', '6:2000', null],
  });
  expect(pages('none')).toEqual({ all: [1, 2, 3, 4, 5, 6, 7], cursors: ['3', '6', null] });
  expect(pages('all_names').all).toHaveLength(7);
  expect(pages('some').all).toEqual([2, 4, 6, 8, 10, 12, 14]);
  expect(rows(content, 'some').columns).toEqual([{ name: 'twice "x"', type: '' }]);
  for (const cursor of ['x', '-1', '1:x', '1:99999999999999999999', '']) {
    expect([cursor, refusalOf(() => rows(content, 'ids', 3, cursor)).code]).toEqual([cursor, 'validation']);
  }
});

test('63. names with quotes, spaces and SQL are names, and no table is made up', () => {
  const names = [`it's "quoted"`, ']; DROP TABLE a; --', '`ticks`', ' ', 'é\n\t', '', 'select', 'sqlitex'];
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
  const content = databaseBytes(
    names
      .map(
        (name) =>
          `CREATE TABLE ${quoted(name)} (${quoted(`${name} of`)} ${quoted(name)}); INSERT INTO ${quoted(name)} VALUES ('in');`,
      )
      .join('\n'),
  );
  expect(new Set(list(content).tables.map(({ name }) => name))).toEqual(new Set(names));
  for (const name of names) {
    const found = rows(content, name);
    expect([name, found.rows, found.columns[0]?.name]).toEqual([name, [['in']], `${name} of`]);
  }
  for (const name of [
    'nothing',
    'sqlite_schema',
    'SELECT',
    'select"',
    'select\0',
    'pragma_table_xinfo',
    'json_each',
    'main.select',
  ])
    expect([name, refusalOf(() => rows(content, name)).code]).toEqual([name, 'not_found']);
});

test('64. cells and answers are cut to a bound and say so, and no number loses digits', () => {
  const content = databaseBytes(
    `CREATE TABLE cells (v); INSERT INTO cells VALUES (printf('%.*c', 100000, 'é')), (zeroblob(3000000)), (9007199254740993), (-1),
       (9e999), (1.5), ('a' || char(0) || 'b'), (''), (x''), (CAST(x'ff41' AS TEXT));
     CREATE TABLE wide (${Array.from({ length: 300 }, (_, index) => `c${index}`).join(', ')}); INSERT INTO wide (c0) VALUES (1);
     CREATE TABLE many (${Array.from({ length: 90 }, (_, index) => `c${index}`).join(', ')});`,
    (db) => {
      const text = 'x'.repeat(400);
      const insert = db.prepare(`INSERT INTO many VALUES (${Array(90).fill('?').join(', ')})`);
      for (let row = 0; row < 200; row += 1) insert.run(...Array(90).fill(text));
    },
  );
  const cells = rows(content, 'cells').rows.map(([cell]) => cell);
  expect(cells[0]).toMatchObject({ text: expect.stringMatching(/^.{500}$/), bytes: 200_000 });
  expect(cells.slice(1)).toEqual([
    { hex: '00'.repeat(32), bytes: 3_000_000 },
    '9007199254740993',
    -1,
    'Infinity',
    1.5,
    { text: expect.stringMatching(/^a/), bytes: 3 },
    '',
    { hex: '', bytes: 0 },
    { text: '\ufffdA', bytes: 2 },
  ]);
  const wide = rows(content, 'wide');
  expect([wide.columnCount, wide.columns.length, wide.rows[0]?.length]).toEqual([300, 100, 100]);
  const first = rows(content, 'many', 500);
  expect(first.rows.length).toBeGreaterThan(100);
  expect(first.rows.length).toBeLessThan(150);
  expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(5 * MIB);
  const rest = rows(content, 'many', 500, first.next ?? '');
  expect([first.rows.length + rest.rows.length, rest.next]).toEqual([200, null]);
});

test('64. ten thousand tables are listed page by page, and a large file is read', () => {
  // All on one page: to create them one by one takes seconds.
  const content = forged(
    'CREATE TABLE t00000 (a INT);',
    `WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 9999), named AS (SELECT printf('t%05d', x) AS name FROM n)
     INSERT INTO sqlite_schema SELECT 'table', name, name, 2, 'CREATE TABLE ' || name || ' (a INT)' FROM named`,
  );
  const first = list(content, 500);
  expect([first.total, first.tables.length, first.next]).toEqual([10_000, 500, '500']);
  const last = list(content, 500, '9900');
  expect([last.tables.length, last.tables.at(-1)?.name, last.next]).toEqual([100, 't09999', null]);
  const large = databaseBytes(
    'CREATE TABLE big (x); INSERT INTO big VALUES (zeroblob(60000000)); INSERT INTO big VALUES (1);',
  );
  expect(large.byteLength).toBeGreaterThan(57 * MIB);
  expect(rows(large, 'big').rows).toEqual([[{ hex: '00'.repeat(32), bytes: 60_000_000 }], [1]]);
  const over = refusalOf(() => list(new Uint8Array(MAX_DATABASE_BYTES + 1)));
  expect([over.code, over.message]).toEqual([
    'too_large',
    'The file has 65 MiB: databases of up to 64 MiB are opened as tables.',
  ]);
});

test('65. a damaged or foreign file is refused in words, one damaged table hides no other, and WAL mode is said', () => {
  const sound = databaseBytes(
    `PRAGMA page_size = 4096; CREATE TABLE a (x); CREATE TABLE b (x); INSERT INTO a VALUES (1); INSERT INTO b VALUES (2);`,
  );
  const inWal = sound.slice();
  inWal.fill(2, 18, 20);
  expect(list(inWal)).toMatchObject({ wal: true, total: 2 });
  expect(rows(inWal, 'b')).toMatchObject({ wal: true, rows: [[2]] });
  expect(inWal[18]).toBe(2);
  const torn = sound.slice();
  torn.fill(0xee, 4096, 8192);
  const found = list(torn);
  expect(found.tables.map(({ name, rowCount }) => [name, rowCount])).toEqual([
    ['a', null],
    ['b', 1],
  ]);
  expect(found.tables[0]?.problem).toContain('malformed');
  expect(refusalOf(() => rows(torn, 'a')).code).toBe('validation');
  expect(rows(torn, 'b').rows).toEqual([[2]]);
  const header = sound.slice(0, 100);
  const noise = Uint8Array.from(sound, (byte, index) => (index < 100 ? byte : (index * 31) % 256));
  for (const [what, content] of [
    ['empty', new Uint8Array()],
    ['text', new TextEncoder().encode('SQLite format 2\0 and more')],
    ['a header alone', header],
    ['half', sound.slice(0, 5000)],
    ['noise', noise],
  ] as const) {
    const error = refusalOf(() => [list(content), rows(content, 'b')]);
    expect([what, error.code]).toEqual([what, 'validation']);
    expect(error.message).not.toMatch(/\/tmp|\/work/);
  }
  const utf16 = databaseBytes(
    `PRAGMA encoding = 'UTF-16be'; CREATE TABLE "né" (x); INSERT INTO "né" VALUES ('é€'), ('${'é'.repeat(600)}');`,
  );
  expect(rows(utf16, 'né').rows).toEqual([['é€'], [{ text: 'é'.repeat(500), bytes: 1200 }]]);
});

test('66. what a file declares reaches nothing but its own tables and functions that compute', () => {
  const content = databaseBytes(
    `CREATE TABLE a (x, made AS (hex(x))); INSERT INTO a VALUES ('own');
     CREATE VIEW fine AS SELECT upper(x) AS u, key FROM a, json_each('[7]');
     CREATE VIEW loads AS SELECT load_extension('/tmp/x.so') AS l;
     CREATE VIEW pages AS SELECT * FROM pragma_database_list;
     CREATE VIEW modules AS SELECT * FROM pragma_module_list;
     CREATE VIEW circle AS SELECT * FROM circle2; CREATE VIEW circle2 AS SELECT * FROM circle;
     CREATE VIEW gone AS SELECT * FROM never;
     CREATE VIEW big AS SELECT zeroblob(200000000) AS z;
     CREATE VIEW endless AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;`,
  );
  expect(list(content).tables.every(({ problem }) => problem === null)).toBe(true);
  expect(rows(content, 'fine').rows).toEqual([['OWN', 0]]);
  expect(rows(content, 'a').rows).toEqual([['own', '6F776E']]);
  // Rows without end are read as far as a page goes.
  expect(rows(content, 'endless', 3).rows).toEqual([[1], [2], [3]]);
  for (const name of ['loads', 'pages', 'modules', 'circle', 'gone', 'big'])
    expect([name, refusalOf(() => rows(content, name)).code]).toEqual([name, 'validation']);
});

test('66. a virtual table is listed and never opened, nor a view beside it, whatever the schema says', () => {
  const words = 'CREATE VIRTUAL TABLE words USING fts5(body)';
  const content = databaseBytes(
    `CREATE TABLE plain (x); INSERT INTO plain VALUES (1); ${words}; INSERT INTO words VALUES ('hello');
     CREATE VIEW found AS SELECT * FROM words;`,
  );
  const found = Object.fromEntries(
    list(content).tables.map(({ name, kind, problem }) => [name, [kind, problem !== null]]),
  );
  expect(found).toMatchObject({
    plain: ['table', false],
    words: ['virtual', true],
    found: ['view', true],
    words_data: ['table', false],
  });
  expect(rows(content, 'plain').rows).toEqual([[1]]);
  for (const name of ['words', 'found'])
    expect(refusalOf(() => rows(content, name)).message).toContain('virtual table');
  for (const [type, name] of [
    ['index', 'plain'],
    ['view', 'plain'],
    ['table', 'other'],
  ] as const) {
    const lying = forged(
      'CREATE TABLE plain (x);',
      `UPDATE sqlite_schema SET type = '${type}', name = '${name}', tbl_name = '${name}', rootpage = 0, sql = 'CREATE VIRTUAL TABLE plain USING fts5(x)'`,
    );
    expect([type, name, refusalOf(() => [list(lying), rows(lying, name)]).code]).toEqual([type, name, 'validation']);
  }
});
