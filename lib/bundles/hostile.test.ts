import { existsSync, readFileSync, truncateSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { openAtRest } from '../vfs/open.ts';
import { bytes, seedFile, tmpFile, vfsPath } from '../vfs/testing/tmp-files.ts';
import { DISK, MANIFEST, type Member, PAGE } from './manifest.ts';
import { fileOf, MIB, makeBundle, takeApart, vfsFile } from './testing/bundle.ts';
import { type RawEnd, type RawEntry, rawZip } from './testing/raw-zip.ts';

const work = () => vfsFile((vfs) => vfs.put(vfsPath('/work.txt'), bytes('the work '.repeat(500))));

/** The members of a good bundle, to be spoilt. */
async function members(): Promise<[RawEntry, RawEntry, RawEntry]> {
  const made = await makeBundle(work());
  const entry = (name: Member): RawEntry => ({ name, content: made.bytes(name) });
  return [entry(MANIFEST), entry(PAGE), entry(DISK)];
}

/** What is said about a zip of these members; nothing may have been written anew. */
async function refusal(entries: RawEntry[], limits = {}, end: RawEnd = {}): Promise<string> {
  const { says, target, problems } = await takeApart(fileOf(rawZip(entries, end)), limits);
  expect(problems.length).toBeGreaterThan(0);
  expect(existsSync(target)).toBe(false);
  return says;
}

/** An extra field of a header, of a kind. */
function extraField(kind: number, data: Uint8Array): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(kind);
  head.writeUInt16LE(data.byteLength, 2);
  return Buffer.concat([head, data]);
}

describe('zips', () => {
  test('a zip made by hand of good members is good: what follows is refused for what was changed', async () => {
    const { says, target } = await takeApart(fileOf(rawZip(await members())));
    expect([says, existsSync(target)]).toEqual(['', true]);
  });

  test('9. a bundle that is cut off anywhere is refused', async () => {
    const { file } = await makeBundle(work());
    const whole = readFileSync(file);
    for (const length of [whole.length - 1, whole.length - 30, Math.floor(whole.length / 2), 40, 4]) {
      const { says, target } = await takeApart(fileOf(whole.subarray(0, length)));
      expect([length, says, existsSync(target)]).toEqual([
        length,
        expect.stringMatching(/no whole zip|no sound zip/),
        false,
      ]);
    }
  });

  test('9. what is no zip and no database is of no known kind', async () => {
    for (const content of ['', 'hello', 'SQLite format 2\0', '{"id":"x"}']) {
      expect(await takeApart(fileOf(bytes(content)))).toMatchObject({
        kind: 'unknown',
        says: 'It is neither a bundle nor a VFS file.',
      });
    }
    expect((await takeApart(fileOf(Buffer.from('PK\x05\x06'.padEnd(22, '\0'), 'latin1')))).says).toContain('0 members');
  });

  test.each([
    ['/etc/passwd', /absolute path/],
    ['../vfs.sqlite', /invalid relative path/],
    ['a/../../vfs.sqlite', /invalid relative path/],
    ['..\\vfs.sqlite', /backslash|invalid/],
    ['C:/vfs.sqlite', /absolute path/],
    ['VFS.SQLITE', /holds no "VFS.SQLITE"/],
    ['vfs.sqlite/', /holds no "vfs.sqlite\/"/],
    ['vfs.sqlite\0.txt', /holds no/],
    ['extra.txt', /holds no "extra.txt"/],
  ])('10. a member named %s is refused', async (name, says) => {
    const [manifest, page, disk] = await members();
    expect(await refusal([manifest, page, { ...disk, name }])).toMatch(says);
  });

  test('10. a member more, a member less and a member twice are refused', async () => {
    const [manifest, page, disk] = await members();
    expect(await refusal([manifest, page, disk, { name: 'x', content: bytes('x') }])).toContain('4 members');
    expect(await refusal([manifest, disk])).toContain('2 members');
    expect(await refusal([manifest, disk, disk])).toContain('vfs.sqlite twice');
  });

  test.each([
    ['a link', { mode: 0o120777 }, /no plain file/],
    ['a directory', { mode: 0o040755 }, /no plain file/],
    ['a device', { mode: 0o020666 }, /no plain file/],
    ['encrypted', { flags: 0x1 }, /encrypted/],
    ['strongly encrypted', { flags: 0x41 }, /encryption/],
    ['packed by bzip2', { method: 12 }, /method 12/],
  ])('11. a member that is %s is refused', async (_what, change, says) => {
    const [manifest, page, disk] = await members();
    expect(await refusal([manifest, page, { ...disk, ...change }])).toMatch(says);
  });

  test('12. overlapping members, hidden bytes and two descriptions are refused', async () => {
    const [manifest, page, disk] = await members();
    expect(await refusal([manifest, page, { ...disk, says: { offset: 0 } }])).toMatch(/differ|overlap/);
    expect(await refusal([manifest, { ...disk, says: { offset: 0, localName: MANIFEST } }, page])).toMatch(
      /differ|overlap/,
    );
    expect(await refusal([{ ...manifest, before: bytes('#!/bin/sh\n') }, page, disk])).toContain('neither a bundle');
    expect(await refusal([manifest, { ...page, before: bytes('#!/bin/sh\n') }, disk])).toMatch(
      /10 bytes that belong to no member/,
    );
    expect(await refusal([manifest, page, { ...disk, before: Buffer.alloc(5000) }])).toMatch(/5000 bytes/);
    expect(await refusal([manifest, page, { ...disk, says: { localName: 'vfs.sqlitE' } }])).toMatch(/two ways/);
  });

  const HIDDEN = bytes('#!/bin/sh\nrm -rf ~\n');
  test.each<[string, RawEnd, RegExp]>([
    ['between the last member and the directory', { beforeDirectory: HIDDEN }, /19 bytes that belong to no member/],
    ['between the directory and the end', { beforeEnd: HIDDEN }, /19 bytes between its directory and its end/],
    ['behind the end', { behind: HIDDEN }, /[Cc]omment|behind/],
    ['in a comment at the end', { comment: HIDDEN }, /comment at its end/],
  ])('12. bytes %s are refused', async (_where, end, says) => {
    expect(await refusal(await members(), {}, end)).toMatch(says);
  });

  test.each<[string, RawEnd['says']]>([
    ['another size of the directory', { size: 10 }],
    ['another number of members on this disk', { onThisDisk: 2 }],
    ['another disk', { disk: 1 }],
  ])('12. a record at the end that says %s is refused', async (_what, says) => {
    expect(await refusal(await members(), {}, { says })).toContain('does not say what its directory holds');
  });

  test.each<[string, Partial<RawEntry>, RegExp]>([
    ['another checksum in front of it', { says: { localCrc: 1 } }, /two ways/],
    ['another size in front of it', { says: { localSize: 1 } }, /two ways/],
    ['a comment', { comment: HIDDEN }, /a comment of 19 bytes/],
    ['an extra field of no known kind', { extra: extraField(0xcafe, HIDDEN) }, /23 bytes that no bundle needs/],
    ['one in the directory', { centralExtra: extraField(0xcafe, HIDDEN) }, /23 bytes that no bundle needs/],
    ['a time that is too long for one', { extra: extraField(0x5455, HIDDEN) }, /23 bytes that no bundle needs/],
    ['an extra field that is cut off', { extra: HIDDEN.subarray(0, 3) }, /3 bytes that no bundle needs/],
    ['a descriptor that says something else', { flags: 8, after: Buffer.alloc(16, 7) }, /16 bytes that belong to no/],
  ])('12. a member with %s is refused', async (_what, change, says) => {
    const [manifest, page, disk] = await members();
    expect(await refusal([manifest, { ...page, ...change }, disk])).toMatch(says);
    expect(await refusal([manifest, page, { ...disk, ...change }])).toMatch(says);
  });

  test('12. the same bytes twice, as a second archive behind the first, are refused', async () => {
    const good = rawZip(await members());
    const { says, target } = await takeApart(fileOf(Buffer.concat([good, good])), {});
    expect(says).toMatch(/bytes between its directory and its end/);
    expect(existsSync(target)).toBe(false);
  });

  test('12. times and ids that zip tools write beside a member are no harm', async () => {
    const time = extraField(0x5455, Uint8Array.of(3, 0, 0, 0, 0));
    const timed = (await members()).map((member) => ({ ...member, extra: time, centralExtra: time }));
    expect((await takeApart(fileOf(rawZip(timed)), {})).says).toBe('');
  });

  test('12. the records of a zip with sizes of 64 bits are no harm, and what lies between them is refused', async () => {
    const zip = new ZipFile();
    for (const { name, content } of await members())
      zip.addBuffer(Buffer.from(content), name, { forceZip64Format: true });
    zip.end({ forceZip64Format: true, comment: '' });
    const whole = await buffer(zip.outputStream);
    expect((await takeApart(fileOf(whole), {})).says).toBe('');
    const padded = Buffer.concat([whole.subarray(0, -42), HIDDEN, whole.subarray(-42)]);
    expect((await takeApart(fileOf(padded), {})).says).toContain('19 bytes between its directory and its end');
    const altered = Buffer.from(whole);
    altered.writeUInt8(9, whole.length - 42 - 56 + 24);
    expect((await takeApart(fileOf(altered), {})).says).toContain('does not say what its directory holds');
  });

  test('12. one body that two members share is refused', async () => {
    const [manifest, page, disk] = await members();
    const at = 30 + MANIFEST.length + rawZip([manifest]).readUInt32LE(18);
    const quoted = { ...page, says: { offset: at, compressedSize: rawZip([disk]).readUInt32LE(18) + 100 } };
    expect(await refusal([manifest, disk, quoted])).toMatch(/overlap|differ/);
  });

  test('13. a bomb is stopped at the limit, whether its header tells the truth or lies', async () => {
    const [manifest, page] = await members();
    const bomb = { name: DISK, content: Buffer.alloc(80 * MIB) };
    const limits = { maxBytes: 16 * MIB };
    expect(rawZip([bomb]).length).toBeLessThan(MIB);
    expect(await refusal([manifest, page, bomb], limits)).toContain(
      `vfs.sqlite is over the limit of ${16 * MIB} bytes`,
    );
    expect(await refusal([manifest, page, { ...bomb, says: { size: 100 } }], limits)).toMatch(
      /does not inflate: too many bytes|over the limit/,
    );
    const large = { name: MANIFEST, content: Buffer.alloc(MIB, '{') };
    expect(await refusal([large, page, bomb], limits)).toContain('manifest.json is over the limit of 65536 bytes');
    expect(await refusal([manifest, { ...page, content: Buffer.alloc(70 * MIB) }, bomb], limits)).toContain(
      'workbook.html is over the limit',
    );
  });

  test('14. a member that is not the one of the manifest is named', async () => {
    const [manifest, page, disk] = await members();
    const changed = Buffer.from(page.content);
    changed[100] = (changed[100] ?? 0) ^ 1;
    expect(await refusal([manifest, { ...page, content: changed }, disk])).toBe(
      'workbook.html was altered: it is not the one that the manifest names.',
    );
    const other = await makeBundle(vfsFile((vfs) => vfs.put(vfsPath('/other'), bytes('other'))));
    expect(await refusal([manifest, page, { name: DISK, content: other.bytes(DISK) }])).toBe(
      'vfs.sqlite was altered: it is not the one that the manifest names.',
    );
  });
});

const VFS =
  'CREATE TABLE vfs (volume TEXT NOT NULL, path TEXT NOT NULL, content BLOB, mtime INTEGER, PRIMARY KEY(volume, path))';

/**
 * A database of these statements, as the disk of a bundle and as a file of its own. Returns what is said about each.
 */
async function bothWays(sql: string | ((file: string) => void)): Promise<{ bundled: string; bare: string }> {
  const file = tmpFile();
  if (typeof sql === 'function') sql(file);
  else {
    const db = new DatabaseSync(file, { enableDoubleQuotedStringLiterals: true });
    db.exec(sql);
    db.close();
  }
  const bundled = await takeApart((await makeBundle(file, { strip: false })).file);
  const bare = await takeApart(file);
  expect([bundled.kind, bare.kind]).toEqual(['bundle', 'vfs']);
  return { bundled: bundled.says, bare: bare.says };
}

describe('databases', () => {
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
    const { target } = await takeApart(file);
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
    seedFile(file, [['workspace', '/a', Buffer.alloc(9 * MIB), 1]]);
    expect((await takeApart(file)).problems).toEqual([{ message: expect.stringContaining('at most'), tooLarge: true }]);
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
    [
      'a target of 1 025 bytes',
      `'workspace', '/n', 'link', NULL, 1, NULL, NULL, 1, '${'x'.repeat(1025)}'`,
      /wrong type/,
    ],
    [
      'a link that climbs by its own path',
      "'workspace', '/../n', 'link', NULL, 1, NULL, NULL, 1, 'x'",
      /a path that is not one/,
    ],
    ['a link at a file', "'workspace', '/work.txt', 'link', NULL, 1, NULL, NULL, 1, 'x'", /two things|UNIQUE/],
    [
      'a directory below a file',
      "'workspace', '/work.txt/d', 'dir', NULL, 1, NULL, NULL, 1, NULL",
      /below "\/work.txt"/,
    ],
  ])('17. %s in the second table is refused', async (_what, values, says) => {
    const file = vfsFile((vfs) => vfs.put(vfsPath('/work.txt'), bytes('work')));
    const db = new DatabaseSync(file);
    db.exec("DELETE FROM vfs_node WHERE path = '/work.txt'");
    db.close();
    node(values)(file);
    expect((await takeApart(file)).says).toMatch(says);
  });

  test('17. a file below a link is refused', async () => {
    const file = vfsFile((vfs) => vfs.link(vfsPath('/l'), '/etc'));
    const db = new DatabaseSync(file);
    db.exec("INSERT INTO vfs VALUES ('workspace', '/l/passwd', 'x', 1)");
    db.close();
    expect((await takeApart(file)).says).toContain('below "/l"');
  });

  test('18. damaged pages, a cut-off file and an index that tells otherwise are refused', async () => {
    const many = () =>
      vfsFile((vfs) => {
        for (let n = 0; n < 100; n += 1) vfs.put(vfsPath(`/${n}`), bytes(`content ${n} `.repeat(300)));
      });
    const spoilt = readFileSync(many());
    spoilt.fill(0xff, 20_480, 24_576);
    expect((await takeApart(fileOf(spoilt))).says).toMatch(/damaged|refuses|malformed/);
    const cut = many();
    truncateSync(cut, 40_960);
    expect((await takeApart(cut)).says).toMatch(/damaged|refuses|malformed/);
    const lying = many();
    const db = new DatabaseSync(lying, { defensive: false });
    db.exec(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'vfs_node_tree') WHERE name = 'sqlite_autoindex_vfs_1'",
    );
    db.close();
    expect((await takeApart(lying)).says).toMatch(/damaged|refuses|malformed/);
  });

  test('19. a database in WAL mode is refused in a bundle and adopted alone', async () => {
    const { bundled, bare } = await bothWays((file) => {
      seedFile(file, [['workspace', '/a', 'a', 1]]);
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
    const { says, target } = await takeApart((await makeBundle(source, { strip: false })).file);
    expect([says, existsSync(target)]).toEqual([expect.stringContaining('"memory", which is not declared'), false]);
  });

  test('21. tmp stays outside, memory comes in when declared, and of a bare file too', async () => {
    const source = vfsFile((vfs) => {
      for (const volume of ['workspace', 'memory', 'tmp'] as const) vfs.put(vfsPath('/note'), bytes(volume), volume);
    });
    for (const file of [source, (await makeBundle(source, { includePrivate: true })).file]) {
      const { anew, says } = await takeApart(file);
      expect([says, anew?.volumes.map(({ files }) => files)]).toEqual(['', [1, 1, 0]]);
    }
    const { anew } = await takeApart((await makeBundle(source)).file);
    expect(anew?.volumes.map(({ files }) => files)).toEqual([1, 0, 0]);
  });

  test('22. a file of the seed comes in with its rows and with nothing else of its bytes', async () => {
    const file = tmpFile();
    seedFile(file, [
      ['workspace', '/a.txt', 'text', 1_700_000_000],
      ['workspace', '/b', Uint8Array.of(1, 2, 3), null],
      ['memory', '/m', null, 5],
      ['tmp', '/t', 'scratch', 1],
    ]);
    const db = new DatabaseSync(file);
    db.exec("INSERT INTO vfs VALUES ('workspace', '/gone', 'was-deleted', 1); DELETE FROM vfs WHERE path = '/gone'");
    db.close();
    const { target, says } = await takeApart(file);
    expect(says).toBe('');
    expect(readFileSync(target).toString('latin1')).not.toMatch(/was-deleted|scratch/);
    const vfs = openAtRest(target);
    expect(Buffer.from(vfs.get(vfsPath('/a.txt')) ?? []).toString()).toBe('text');
    expect(vfs.get(vfsPath('/b'))).toEqual(Uint8Array.of(1, 2, 3));
    expect(vfs.stat(vfsPath('/a.txt'))?.mtime).toBe(1_700_000_000);
    expect(vfs.get(vfsPath('/m'), 'memory')).toEqual(new Uint8Array(0));
    vfs.close();
  });
});
