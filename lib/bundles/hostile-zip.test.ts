import { existsSync, readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { bytes, vfsPath } from '../vfs/testing/tmp-files.ts';
import { DISK, MANIFEST, type Member, PAGE } from './manifest.ts';
import { fileOf, MIB, makeBundle, unpackFile, vfsFile } from './testing/bundle.ts';
import { type RawEnd, type RawEntry, rawZip } from './testing/raw-zip.ts';

const work = () => vfsFile((vfs) => vfs.put(vfsPath('/work.txt'), bytes('the work '.repeat(500))));

/** The members of a valid bundle, for a test to damage. */
async function members(): Promise<[RawEntry, RawEntry, RawEntry]> {
  const made = await makeBundle(work());
  const entry = (name: Member): RawEntry => ({ name, content: made.bytes(name) });
  return [entry(MANIFEST), entry(PAGE), entry(DISK)];
}

/** The faults of a zip of these members. No VFS file may have been rebuilt. */
async function refusal(entries: RawEntry[], limits = {}, end: RawEnd = {}): Promise<string> {
  const { says, target, problems } = await unpackFile(fileOf(rawZip(entries, end)), limits);
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

test('a zip made by hand of good members is good: what follows is refused for what was changed', async () => {
  const { says, target } = await unpackFile(fileOf(rawZip(await members())));
  expect([says, existsSync(target)]).toEqual(['', true]);
});

test('9. a bundle that is cut off anywhere is refused', async () => {
  const { file } = await makeBundle(work());
  const whole = readFileSync(file);
  for (const length of [whole.length - 1, whole.length - 30, Math.floor(whole.length / 2), 40, 4]) {
    const { says, target } = await unpackFile(fileOf(whole.subarray(0, length)));
    expect([length, says, existsSync(target)]).toEqual([
      length,
      expect.stringMatching(/no whole zip|no sound zip/),
      false,
    ]);
  }
});

test('9. what is no zip and no database is of no known kind', async () => {
  for (const content of ['', 'hello', 'SQLite format 2\0', '{"id":"x"}']) {
    expect(await unpackFile(fileOf(bytes(content)))).toMatchObject({
      kind: 'unknown',
      says: 'It is neither a bundle nor a VFS file.',
    });
  }
  expect((await unpackFile(fileOf(Buffer.from('PK\x05\x06'.padEnd(22, '\0'), 'latin1')))).says).toContain('0 members');
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
  expect(await refusal([manifest, page, disk, { name: 'x', content: bytes('x') }])).toContain('holds no "x"');
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

test('12. bytes behind the end of what is deflated in a member are refused', async () => {
  const [manifest, page, disk] = await members();
  for (const behind of [HIDDEN, Buffer.alloc(3 * MIB, 7)]) {
    const compressedSize = deflateRawSync(disk.content).length + behind.length;
    const entries = [manifest, page, { ...disk, after: behind, says: { compressedSize } }];
    expect(await refusal(entries)).toContain(`${behind.length} bytes that belong to no member, behind vfs.sqlite`);
  }
});

test('12. the same bytes twice, as a second archive behind the first, are refused', async () => {
  const good = rawZip(await members());
  const { says, target } = await unpackFile(fileOf(Buffer.concat([good, good])), {});
  expect(says).toMatch(/bytes between its directory and its end/);
  expect(existsSync(target)).toBe(false);
});

test('12. times and ids that zip tools write beside a member are no harm', async () => {
  const time = extraField(0x5455, Uint8Array.of(3, 0, 0, 0, 0));
  const timed = (await members()).map((member) => ({ ...member, extra: time, centralExtra: time }));
  expect((await unpackFile(fileOf(rawZip(timed)), {})).says).toBe('');
});

test('12. the records of a zip with sizes of 64 bits are no harm, and what lies between them is refused', async () => {
  const zip = new ZipFile();
  for (const { name, content } of await members())
    zip.addBuffer(Buffer.from(content), name, { forceZip64Format: true });
  zip.end({ forceZip64Format: true, comment: '' });
  const whole = await buffer(zip.outputStream);
  expect((await unpackFile(fileOf(whole), {})).says).toBe('');
  const padded = Buffer.concat([whole.subarray(0, -42), HIDDEN, whole.subarray(-42)]);
  expect((await unpackFile(fileOf(padded), {})).says).toContain('19 bytes between its directory and its end');
  const altered = Buffer.from(whole);
  altered.writeUInt8(9, whole.length - 42 - 56 + 24);
  expect((await unpackFile(fileOf(altered), {})).says).toContain('does not say what its directory holds');
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
  expect(await refusal([manifest, page, bomb], limits)).toContain(`vfs.sqlite is over the limit of ${16 * MIB} bytes`);
  expect(await refusal([manifest, page, { ...bomb, says: { size: 100 } }], limits)).toMatch(
    /does not inflate: too many bytes|over the limit/,
  );
  expect(await refusal([manifest, page, { ...bomb, content: bytes('few'), says: { size: 100 } }], limits)).toContain(
    'does not inflate: not enough bytes',
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
