import { expect, test } from 'vitest';
import { isWinterdockError, type WinterdockError } from '../base/errors.ts';
import { closeToRest, openAtRest, openLive } from './open.ts';
import { type QueryParams, runQuery } from './query.ts';
import { bytes, codeOf, liveVfs, otherTool, text, tmpFile, vfsPath } from './testing/tmp-files.ts';
import type { Vfs } from './vfs.ts';

function filled(): Vfs {
  const vfs = liveVfs();
  vfs.put(vfsPath('/a'), bytes('{"size": 3}'));
  vfs.put(vfsPath('/b'), new Uint8Array([255, 0]), 'memory');
  return vfs;
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

const rowsOf = (sql: string, params?: QueryParams) => runQuery(filled().db, sql, params).rows;

test('33. a query reaches the vfs table across volumes, and functions that compute', () => {
  const vfs = filled();
  const cases: [sql: string, rows: unknown[][]][] = [
    [
      'SELECT volume, path FROM vfs ORDER BY path',
      [
        ['workspace', '/a'],
        ['memory', '/b'],
      ],
    ],
    ['SELECT count(*) FROM main.vfs', [[2]]],
    ["SELECT json_extract(content, '$.size') FROM vfs WHERE path = '/a'", [[3]]],
    ["SELECT j.key, j.value FROM vfs, json_each(CAST(content AS TEXT)) AS j WHERE vfs.path = '/a'", [['size', 3]]],
    [
      'WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 3) SELECT count(*), sum(x) FROM n',
      [[3, 6]],
    ],
    [
      'SELECT path, row_number() OVER (ORDER BY path) FROM VFS',
      [
        ['/a', 1],
        ['/b', 2],
      ],
    ],
    ["VALUES (upper('x'), round(sqrt(16)), date('2025-01-01', '+1 day'))", [['X', 4, '2025-01-02']]],
    ['SELECT (SELECT count(*) FROM (SELECT 1 UNION SELECT 2))', [[2]]],
  ];
  for (const [sql, rows] of cases) expect(runQuery(vfs.db, sql).rows, sql).toEqual(rows);
});

test.each([
  'SELECT * FROM sqlite_master',
  'SELECT count(*) FROM sqlite_schema',
  'SELECT 1 FROM main.sqlite_master',
  'SELECT count(*) FROM sqlite_temp_master',
  'SELECT * FROM vfs_node',
  'SELECT count(*) FROM vfs_node',
  'SELECT count(*) FROM VFS_Node',
  'SELECT count(*) FROM vfs_node, (WITH vfs_node AS (SELECT 1) SELECT count(*) FROM vfs_node)',
  'SELECT count(*) FROM _other',
  'SELECT name FROM _other',
  'SELECT * FROM dbstat',
  'SELECT count(*) FROM dbstat',
  "SELECT * FROM pragma_table_info('vfs')",
  'SELECT count(*) FROM pragma_database_list',
  'SELECT file FROM pragma_database_list',
  "ATTACH '/etc/passwd' AS p",
  'DETACH main',
  'PRAGMA user_version',
  'PRAGMA journal_mode = DELETE',
  "INSERT INTO vfs VALUES ('workspace', '/c', 'x', 1)",
  'UPDATE vfs SET content = NULL',
  'DELETE FROM vfs',
  'WITH x AS (SELECT 1) DELETE FROM vfs',
  'DELETE FROM vfs RETURNING path',
  'DROP TABLE vfs',
  'CREATE TEMP TABLE t (x)',
  'CREATE VIEW v AS SELECT 1',
  'CREATE VIRTUAL TABLE temp.f USING fts5(x)',
  'ALTER TABLE vfs ADD COLUMN x',
  'VACUUM',
  "VACUUM INTO '/tmp/stolen.sqlite'",
  'REINDEX',
  'ANALYZE',
  'BEGIN',
  'COMMIT',
  'SAVEPOINT s',
  "SELECT load_extension('/tmp/x.so')",
  "SELECT readfile('/etc/passwd')",
  "SELECT writefile('/tmp/x', 'y')",
  'SELECT fts3_tokenizer(1)',
  'SELECT sqlite_compileoption_get(1)',
  'SELECT last_insert_rowid()',
])('33. a query reaches nothing else: %s', (sql) => {
  const vfs = filled();
  vfs.db.exec('CREATE TABLE _other (name TEXT)');
  expect(codeOf(() => runQuery(vfs.db, sql))).toBe('validation');
  expect(text(vfs.get(vfsPath('/a')))).toBe('{"size": 3}');
  vfs.put(vfsPath('/after'), bytes('the handle is as before'));
  expect(vfs.sizes()[0]?.files).toBe(2);
});

test('33. a query over a seed file, at rest, reaches the same', () => {
  const file = tmpFile();
  const db = otherTool(file);
  db.exec(
    'CREATE TABLE vfs (volume TEXT NOT NULL, path TEXT NOT NULL, content BLOB, mtime INTEGER, PRIMARY KEY(volume, path))',
  );
  db.close();
  const rest = openAtRest(file);
  expect(runQuery(rest.db, 'SELECT count(*) FROM vfs').rows).toEqual([[0]]);
  expect(codeOf(() => runQuery(rest.db, 'SELECT * FROM sqlite_master'))).toBe('validation');
  rest.close();
});

test('34. only one statement is run, whatever follows it', () => {
  for (const sql of [
    'SELECT 1;',
    'SELECT 1 ; ; ',
    'SELECT 1 -- done',
    'SELECT 1; /* ; SELECT 2 */ -- x',
    '/* a */ SELECT 1;\n--',
  ]) {
    expect(rowsOf(sql), sql).toEqual([[1]]);
  }
  expect(rowsOf("SELECT ';', '--', \"path\" /* ; */ FROM vfs WHERE path = '/a'")).toEqual([[';', '--', '/a']]);
  for (const sql of [
    'SELECT 1; SELECT 2',
    'SELECT 1; DELETE FROM vfs',
    'SELECT 1; -- x\nSELECT 2',
    'SELECT 1;;x',
    `SELECT 1;${'/**/'.repeat(20_000)}x`,
    '',
    ' ; ',
    '-- nothing',
    'SELECT 1\0; x',
  ]) {
    expect(
      codeOf(() => rowsOf(sql)),
      sql,
    ).toBe('validation');
  }
});

test('35. at most 1 000 rows, 50 000 values and 4 MiB come back', () => {
  const series = (n: number, value: string) =>
    `WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < ${n}) SELECT ${value} FROM n`;
  const { db } = filled();
  expect(runQuery(db, series(1000, 'x'))).toMatchObject({ columns: ['x'], truncated: false });
  const many = runQuery(db, series(1001, 'x'));
  expect([many.rows.length, many.truncated]).toEqual([1000, true]);
  const nulls = runQuery(db, series(1000, Array.from({ length: 100 }, () => 'NULL').join()));
  expect([nulls.rows.length, nulls.truncated]).toEqual([500, true]);
  const wide = runQuery(db, series(9, "printf('%.*c', 1000000, 'x')"));
  expect([wide.rows.length, wide.truncated]).toEqual([4, true]);
  const vast = runQuery(db, 'SELECT zeroblob(70000000)');
  expect([vast.rows.length, vast.truncated]).toEqual([0, true]);
  expect(codeOf(() => runQuery(db, 'SELECT zeroblob(90000000)'))).toBe('validation');
  expect(codeOf(() => runQuery(db, `SELECT '${'x'.repeat(100_000)}'`))).toBe('validation');
});

test('36. values come back in forms that JSON can hold', () => {
  const vfs = filled();
  expect(runQuery(vfs.db, 'SELECT content FROM vfs ORDER BY path').rows).toEqual([
    ['{"size": 3}'],
    [{ base64: '/wA=' }],
  ]);
  expect(
    rowsOf("SELECT 1, -1.5, 'ü', NULL, x'', 9007199254740991, 9007199254740993, -9223372036854775808, 9e999, -9e999"),
  ).toEqual([
    [1, -1.5, 'ü', null, '', 9007199254740991, '9007199254740993', '-9223372036854775808', 'Infinity', '-Infinity'],
  ]);
});

test('36. parameters are bound with their types', () => {
  expect(rowsOf('SELECT typeof(?), typeof(?), typeof(?), typeof(?)', [1, 1.5, 'x', null])).toEqual([
    ['integer', 'real', 'text', 'null'],
  ]);
  expect(rowsOf('SELECT path FROM vfs ORDER BY path LIMIT ?', [1])).toEqual([['/a']]);
  expect(rowsOf('SELECT :a, $b, @c, :a', { a: 1, $b: 'two', c: null })).toEqual([[1, 'two', null, 1]]);
  expect(rowsOf('SELECT ?', ["'; DELETE FROM vfs; --"])).toEqual([["'; DELETE FROM vfs; --"]]);
  expect(codeOf(() => rowsOf('SELECT ?', [1, 2]))).toBe('validation');
  expect(codeOf(() => rowsOf('SELECT :a', { b: 1 }))).toBe('validation');
});

test('37. faults are reported in SQLite’s words', () => {
  const { db } = filled();
  const refusal = refusalOf(() => runQuery(db, 'SELEC 1'));
  expect(refusal.code).toBe('validation');
  expect(refusal.message).toContain('near "SELEC": syntax error');
  expect(refusal.extra.errors).toEqual([{ path: 'sql', message: 'near "SELEC": syntax error' }]);
  expect(refusalOf(() => runQuery(db, 'SELECT nope FROM vfs')).message).toContain('no such column: nope');
  expect(refusalOf(() => runQuery(db, 'SELECT abs(-9223372036854775808)')).message).toContain('integer overflow');
  const missing = refusalOf(() => runQuery(db, 'SELECT 1 FROM files'));
  expect([missing.code, missing.message]).toEqual(['not_found', 'The query failed: no such table: files.']);
});

test('37. no refusal has a path of the machine', () => {
  const file = tmpFile();
  closeToRest(openLive(file, { maxBytes: 1e7, maxFileBytes: 1e6, mustExist: false }));
  const rest = openAtRest(file);
  for (const sql of [
    'SELEC',
    "ATTACH 'x' AS y",
    'SELECT * FROM main.nope',
    'PRAGMA database_list',
    'SELECT * FROM pragma_database_list',
  ]) {
    const refusal = refusalOf(() => runQuery(rest.db, sql));
    expect(JSON.stringify([refusal.message, refusal.hint, refusal.extra])).not.toContain('vfs.sqlite');
  }
  rest.close();
});

test('33. only a call’s own queries see its buffered changes, and only as files; nothing can be attached beside them', () => {
  const vfs = liveVfs();
  const overlay = vfs.overlay();
  overlay.put(vfsPath('/a'), bytes('gathered'));
  expect(overlay.query('SELECT path FROM vfs', []).rows).toEqual([['/a']]);
  expect(runQuery(vfs.db, 'SELECT path FROM vfs').rows).toEqual([]);
  for (const sql of [
    'SELECT count(*) FROM pending.changed_path',
    'SELECT path FROM changed_path',
    'SELECT count(*) FROM changed_body',
  ]) {
    expect(
      codeOf(() => overlay.query(sql, [])),
      sql,
    ).toBe('validation');
    expect(
      codeOf(() => runQuery(vfs.db, sql)),
      sql,
    ).toBe('validation');
  }
  expect(codeOf(() => vfs.db.exec("ATTACH ':memory:' AS other"))).toBe('ERR_SQLITE_ERROR');
  overlay.discard();
});
