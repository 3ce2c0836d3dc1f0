import { existsSync, readFileSync, truncateSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openAtRest } from '../vfs/open.ts';
import { bytes, tmpFile, vfsPath, writeRows } from '../vfs/testing/tmp-files.ts';
import { fileOf, MIB, makeBundle, unpackFile, vfsFile } from './testing/bundle.ts';

const VFS =
  'CREATE TABLE vfs (volume TEXT NOT NULL, path TEXT NOT NULL, content BLOB, mtime INTEGER, PRIMARY KEY(volume, path))';

/**
 * A database of these statements, as the disk of a bundle and as a bare file. Returns the faults of each.
 */
async function bothWays(sql: string | ((file: string) => void)): Promise<{ bundled: string; bare: string }> {
  const file = tmpFile();
  if (typeof sql === 'function') sql(file);
  else {
    const db = new DatabaseSync(file, { enableDoubleQuotedStringLiterals: true });
    db.exec(sql);
    db.close();
  }
  const bundled = await unpackFile((await makeBundle(file, { strip: false })).file);
  const bare = await unpackFile(file);
  expect([bundled.kind, bare.kind]).toEqual(['bundle', 'vfs']);
  return { bundled: bundled.says, bare: bare.says };
}

test.each([
  ['a trigger', `${VFS}; CREATE TRIGGER t AFTER INSERT ON vfs BEGIN DELETE FROM vfs; END`, /declares a trigger/],
  ['a view', `${VFS}; CREATE VIEW v AS SELECT 1`, /declares a view/],
  ['a view in the place of the table', 'CREATE VIEW vfs AS SELECT 1 AS volume', /declares a view/],
  [
    'a generated column',
    VFS.replace('mtime INTEGER', 'mtime INTEGER AS (length(content))'),
    /not the one of a VFS file/,
  ],
  ['a check', VFS.replace('mtime INTEGER', 'mtime INTEGER CHECK (mtime > 0)'), /not the one of a VFS file/],
  ['a default', VFS.replace('mtime INTEGER', 'mtime INTEGER DEFAULT 1'), /not the one of a VFS file/],
  ['no primary key', VFS.replace(', PRIMARY KEY(volume, path)', ''), /not the one of a VFS file/],
  ['an index on our table', `${VFS}; CREATE INDEX i ON vfs (lower(path))`, /not the one of a VFS file/],
  [
    'a virtual table in the place of ours',
    'CREATE VIRTUAL TABLE vfs USING fts5(volume, path, content, mtime)',
    /not|kind/,
  ],
  ['a second table in another shape', `${VFS}; CREATE TABLE vfs_node (x)`, /not the one of a VFS file/],
  ['another kind of database', 'CREATE TABLE tasks (id)', /another kind|not one of a VFS file/],
  ['UTF-16', `PRAGMA encoding = 'UTF-16'; ${VFS}`, /UTF-16/],
])('16. %s is refused, in a bundle and alone', async (_what, sql, says) => {
  const { bundled, bare } = await bothWays(sql);
  expect(bundled).toMatch(says);
  expect(bare).toMatch(says);
});

test.each([
  ['an extra table', `${VFS}; CREATE TABLE extra (x)`],
  ['a virtual table', `${VFS}; CREATE VIRTUAL TABLE extra USING fts5(x)`],
])('16. %s is refused in a bundle; of a file of its own it is left behind', async (_what, sql) => {
  const { bundled, bare } = await bothWays(`${sql}; INSERT INTO extra VALUES ('bites')`);
  expect(bundled).toContain('is not one of a VFS file');
  expect(bare).toBe('');
  const file = tmpFile();
  new DatabaseSync(file).exec(`${sql}; INSERT INTO extra VALUES ('bites')`);
  const { target } = await unpackFile(file);
  expect(readFileSync(target).toString('latin1')).not.toMatch(/extra|bites/);
});

const row = (volume: string, path: string, content = "x'00'", mtime = '1') =>
  `${VFS}; INSERT INTO vfs VALUES (${volume}, ${path}, ${content}, ${mtime})`;
test.each([
  ['a number as content', row("'workspace'", "'/a'", '42'), /wrong type/],
  ['text as a time', row("'workspace'", "'/a'", "x'00'", "'soon'"), /wrong type/],
  ['a blob as a path', row("'workspace'", "x'2f61'"), /wrong type/],
  ['a blob as a volume', row("CAST('workspace' AS BLOB)", "'/a'"), /not declared/],
  ['a fourth volume', row("'secrets'", "'/a'"), /not declared/],
  ['a path that climbs', row("'workspace'", "'/a/../../etc/passwd'"), /a path that is not one/],
  ['a relative path', row("'workspace'", "'a'"), /a path that is not one/],
  ['an empty segment', row("'workspace'", "'/a//b'"), /a path that is not one/],
  ['a dot', row("'workspace'", "'/./a'"), /a path that is not one/],
  ['a trailing slash', row("'workspace'", "'/a/'"), /a path that is not one/],
  ['the root as a file', row("'workspace'", "'/'"), /a path that is not one/],
  ['a NUL in a path', row("'workspace'", "CAST(x'2f610062' AS TEXT)"), /a path that is not one/],
  ['a path that is not UTF-8', row("'workspace'", "CAST(x'2ff09f98' AS TEXT)"), /a path that is not one/],
  ['a path of 1 025 bytes', row("'workspace'", `'/${'x'.repeat(1024)}'`), /a path that is not one/],
  [
    'a file below a file',
    `${row("'workspace'", "'/a'")}; INSERT INTO vfs VALUES ('workspace', '/a/b', '', 1)`,
    /below "\/a"/,
  ],
  [
    'a file below a file, with another between',
    `${row("'workspace'", "'/a'")}; INSERT INTO vfs VALUES ('workspace', '/a!', '', 1), ('workspace', '/a/b/c', '', 1)`,
    /below "\/a"/,
  ],
  ['a content over the limit', row("'workspace'", "'/a'", `zeroblob(${9 * MIB})`), /a file has at most/],
])('17. %s is refused', async (_what, sql, says) => {
  const { bundled, bare } = await bothWays(sql);
  expect(bundled).toMatch(says);
  expect(bare).toMatch(says);
});

test('17. a content over the limit is told apart, so that it is answered as too large', async () => {
  const file = tmpFile();
  writeRows(file, [['workspace', '/a', Buffer.alloc(9 * MIB), 1]]);
  expect((await unpackFile(file)).problems).toEqual([{ message: expect.stringContaining('at most'), tooLarge: true }]);
});

const node = (values: string) => (file: string) => {
  const db = new DatabaseSync(file);
  db.exec(`INSERT INTO vfs_node VALUES (${values})`);
  db.close();
};
test.each([
  ['a mode beyond permissions', "'workspace', '/n', 'dir', 65535, 1, NULL, NULL, 1, NULL", /wrong type/],
  ['a mode that is text', "'workspace', '/n', 'dir', 'x', 1, NULL, NULL, 1, NULL", /wrong type/],
  ['a version below zero', "'workspace', '/n', 'dir', NULL, 1, NULL, NULL, -1, NULL", /wrong type/],
  [
    'a version beyond exact numbers',
    "'workspace', '/n', 'dir', NULL, 1, NULL, NULL, 9223372036854775807, NULL",
    /wrong type|numbers that cannot be/,
  ],
  ['a link without a target', "'workspace', '/n', 'link', NULL, 1, NULL, NULL, 1, NULL", /wrong type/],
  ['a directory with a target', "'workspace', '/n', 'dir', NULL, 1, NULL, NULL, 1, '/etc'", /wrong type/],
  ['a target with a NUL', "'workspace', '/n', 'link', NULL, 1, NULL, NULL, 1, CAST(x'610062' AS TEXT)", /no target/],
  ['a target of 1 025 bytes', `'workspace', '/n', 'link', NULL, 1, NULL, NULL, 1, '${'x'.repeat(1025)}'`, /wrong type/],
  [
    'a link that climbs by its own path',
    "'workspace', '/../n', 'link', NULL, 1, NULL, NULL, 1, 'x'",
    /a path that is not one/,
  ],
  ['a link at a file', "'workspace', '/work.txt', 'link', NULL, 1, NULL, NULL, 1, 'x'", /two things|UNIQUE/],
  ['a directory below a file', "'workspace', '/work.txt/d', 'dir', NULL, 1, NULL, NULL, 1, NULL", /below "\/work.txt"/],
])('17. %s in the second table is refused', async (_what, values, says) => {
  const file = vfsFile((vfs) => vfs.put(vfsPath('/work.txt'), bytes('work')));
  const db = new DatabaseSync(file);
  db.exec("DELETE FROM vfs_node WHERE path = '/work.txt'");
  db.close();
  node(values)(file);
  expect((await unpackFile(file)).says).toMatch(says);
});

test('17. a file below a link is refused', async () => {
  const file = vfsFile((vfs) => vfs.link(vfsPath('/l'), '/etc'));
  const db = new DatabaseSync(file);
  db.exec("INSERT INTO vfs VALUES ('workspace', '/l/passwd', 'x', 1)");
  db.close();
  expect((await unpackFile(file)).says).toContain('below "/l"');
});

test('18. damaged pages, a cut-off file and an index that tells otherwise are refused', async () => {
  const many = () =>
    vfsFile((vfs) => {
      for (let n = 0; n < 100; n += 1) vfs.put(vfsPath(`/${n}`), bytes(`content ${n} `.repeat(300)));
    });
  const spoilt = readFileSync(many());
  spoilt.fill(0xff, 20_480, 24_576);
  expect((await unpackFile(fileOf(spoilt))).says).toMatch(/damaged|refuses|malformed/);
  const cut = many();
  truncateSync(cut, 40_960);
  expect((await unpackFile(cut)).says).toMatch(/damaged|refuses|malformed/);
  const lying = many();
  const db = new DatabaseSync(lying, { defensive: false });
  db.exec(
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'vfs_node_tree') WHERE name = 'sqlite_autoindex_vfs_1'",
  );
  db.close();
  expect((await unpackFile(lying)).says).toMatch(/damaged|refuses|malformed/);
});

test('19. a database in WAL mode is refused in a bundle and adopted alone', async () => {
  const { bundled, bare } = await bothWays((file) => {
    writeRows(file, [['workspace', '/a', 'a', 1]]);
    const db = new DatabaseSync(file);
    db.exec('PRAGMA journal_mode = WAL');
    db.close();
    expect(readFileSync(file)[18]).toBe(2);
  });
  expect(bundled).toContain('WAL mode');
  expect(bare).toBe('');
});

test('20. rows of a volume that is not declared are refused', async () => {
  const source = vfsFile((vfs) => {
    vfs.put(vfsPath('/a'), bytes('a'));
    vfs.put(vfsPath('/smuggled'), bytes('b'), 'memory');
  });
  const { says, target } = await unpackFile((await makeBundle(source, { strip: false })).file);
  expect([says, existsSync(target)]).toEqual([expect.stringContaining('"memory", which is not declared'), false]);
});

test('21. tmp is not imported; memory is when it is declared, and from a bare file', async () => {
  const source = vfsFile((vfs) => {
    for (const volume of ['workspace', 'memory', 'tmp'] as const) vfs.put(vfsPath('/note'), bytes(volume), volume);
  });
  for (const file of [source, (await makeBundle(source, { includePrivate: true })).file]) {
    const { rebuilt, says } = await unpackFile(file);
    expect([says, rebuilt?.volumes.map(({ files }) => files)]).toEqual(['', [1, 1, 0]]);
  }
  const { rebuilt } = await unpackFile((await makeBundle(source)).file);
  expect(rebuilt?.volumes.map(({ files }) => files)).toEqual([1, 0, 0]);
});

test('22. a seed file is imported with its rows and none of its other bytes', async () => {
  const file = tmpFile();
  writeRows(file, [
    ['workspace', '/a.txt', 'text', 1_700_000_000],
    ['workspace', '/b', Uint8Array.of(1, 2, 3), null],
    ['memory', '/m', null, 5],
    ['tmp', '/t', 'scratch', 1],
  ]);
  const db = new DatabaseSync(file);
  db.exec("INSERT INTO vfs VALUES ('workspace', '/gone', 'was-deleted', 1); DELETE FROM vfs WHERE path = '/gone'");
  db.close();
  const { target, says } = await unpackFile(file);
  expect(says).toBe('');
  expect(readFileSync(target).toString('latin1')).not.toMatch(/was-deleted|scratch/);
  const vfs = openAtRest(target);
  expect(Buffer.from(vfs.get(vfsPath('/a.txt')) ?? []).toString()).toBe('text');
  expect(vfs.get(vfsPath('/b'))).toEqual(Uint8Array.of(1, 2, 3));
  expect(vfs.stat(vfsPath('/a.txt'))?.mtime).toBe(1_700_000_000);
  expect(vfs.get(vfsPath('/m'), 'memory')).toEqual(new Uint8Array(0));
  vfs.close();
});
