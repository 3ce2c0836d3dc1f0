/** Frames that no kernel sends. `WB_TEST_FRAMES` draws more of them. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../base/clock.ts';
import { DAY } from '../../testing/draw.ts';
import { openNativeFile } from '../file/native-file.ts';
import { Random } from '../testing/random.ts';
import { COMMITTED, FuseHandler } from './handler.ts';
import { OPCODE, REQUEST_HEADER_BYTES } from './wire.ts';

const SEED = Number(process.env.WB_TEST_SEED ?? DAY);
const FRAMES = Number(process.env.WB_TEST_FRAMES ?? 50_000);
const MIB = 1024 * 1024;
const COMMIT_NAME = 'c0ffee';
const OPCODES = Object.values(OPCODE);

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-frames-'));
  file = join(folder, 'vfs.sqlite');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(maxBytes = 64 * MIB) {
  const native = openNativeFile(file, { maxBytes, mustExist: false, clock: new FakeClock() });
  const handler = new FuseHandler({ native, owner: { uid: 1000, gid: 1000 }, commitName: COMMIT_NAME });
  return { native, handler };
}

/** A frame as the kernel makes one. */
function frameOf(opcode: number, node: number, ...parts: (Buffer | string | number)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(`${part}\0`);
      if (typeof part !== 'number') return part;
      const word = Buffer.alloc(4);
      word.writeUInt32LE(part >>> 0);
      return word;
    }),
  );
  const head = Buffer.alloc(REQUEST_HEADER_BYTES);
  head.writeUInt32LE(REQUEST_HEADER_BYTES + body.length, 0);
  head.writeUInt32LE(opcode, 4);
  head.writeBigUInt64LE(7n, 8);
  head.writeBigUInt64LE(BigInt(node), 16);
  return Buffer.concat([head, body]);
}

const errnoOf = (answer: Buffer | null) => Math.abs(answer?.readInt32LE(4) ?? 1);

test('17. a frame that is too short is not answered, and one that lies about its length is refused', () => {
  const { native, handler } = open();
  expect(handler.handle(Buffer.alloc(39))).toBeNull();
  const frame = frameOf(OPCODE.GETATTR, 2, 0, 0, 0, 0);
  frame.writeUInt32LE(frame.length + 1, 0);
  expect(errnoOf(handler.handle(frame))).toBe(22);
  native.close();
});

test.each([
  ['LOOKUP without the end of the name', frameOf(OPCODE.LOOKUP, 2, Buffer.from('name')), 22],
  ['LOOKUP of a name with a slash', frameOf(OPCODE.LOOKUP, 2, '../../etc/passwd'), 22],
  ['LOOKUP of ..', frameOf(OPCODE.LOOKUP, 2, '..'), 22],
  ['LOOKUP of 256 bytes', frameOf(OPCODE.LOOKUP, 2, 'x'.repeat(256)), 36],
  ['LOOKUP in nothing', frameOf(OPCODE.LOOKUP, 999, 'a'), 2],
  ['MKDIR of a name with a slash', frameOf(OPCODE.MKDIR, 2, 0o755, 0, 'a/b'), 22],
  ['MKDIR without a name', frameOf(OPCODE.MKDIR, 2, 0o755, 0, ''), 22],
  ['MKDIR in the root', frameOf(OPCODE.MKDIR, 1, 0o755, 0, 'etc'), 1],
  ['MKNOD of a block device', frameOf(OPCODE.MKNOD, 2, 0o060666, 0x0800, 0, 0, 'sda'), 1],
  ['MKNOD of a character device', frameOf(OPCODE.MKNOD, 2, 0o020666, 0x0103, 0, 0, 'null'), 1],
  ['SYMLINK with one name', frameOf(OPCODE.SYMLINK, 2, 'a'), 22],
  ['RENAME with one name', frameOf(OPCODE.RENAME, 2, 2, 0, 'a'), 22],
  ['WRITE of more than there is', frameOf(OPCODE.WRITE, 2, 0, 0, 0, 0, 0x7fffffff, 0, 0, 0, 0, 0), 22],
  ['WRITE at an offset of 2^63', frameOf(OPCODE.WRITE, 2, 0, 0, 0, 0x80000000, 0, 0, 0, 0, 0, 0), 22],
  ['READ of a directory', frameOf(OPCODE.READ, 2, 0, 0, 0, 0, 4096, 0, 0, 0, 0, 0), 21],
  ['SETXATTR of a capability', frameOf(OPCODE.SETXATTR, 2, 1, 0, 'security.capability', Buffer.from('x')), 95],
  ['an operation that there is not', frameOf(77, 2), 38],
  ['INIT of another protocol', frameOf(OPCODE.INIT, 0, 6, 0, 0, 0), 22],
])('17. %s is refused', (_, frame, errno) => {
  const { native, handler } = open();
  expect(errnoOf(handler.handle(frame))).toBe(errno);
  expect(native.hasChanges).toBe(false);
  native.close();
});

test('17. a directory cannot be moved into itself, whatever the kernel would have said', () => {
  const { native, handler } = open();
  handler.handle(frameOf(OPCODE.MKDIR, 2, 0o755, 0, 'a'));
  const a = native.names.lookup(2, Buffer.from('a'))?.ino ?? 0;
  handler.handle(frameOf(OPCODE.MKDIR, a, 0o755, 0, 'b'));
  const b = native.names.lookup(a, Buffer.from('b'))?.ino ?? 0;
  expect(errnoOf(handler.handle(frameOf(OPCODE.RENAME, 2, b, 0, 'a', 'c')))).toBe(22);
  native.close();
});

test('21. the name that commits is answered in the root alone, with the changes on disk', () => {
  const { native, handler } = open();
  handler.handle(frameOf(OPCODE.MKDIR, 2, 0o755, 0, 'a'));
  expect(native.hasChanges).toBe(true);
  expect(errnoOf(handler.handle(frameOf(OPCODE.LOOKUP, 2, COMMIT_NAME)))).toBe(0);
  expect(native.hasChanges).toBe(true);
  expect(errnoOf(handler.handle(frameOf(OPCODE.LOOKUP, 1, COMMIT_NAME)))).toBe(COMMITTED);
  expect(native.hasChanges).toBe(false);
  native.close();
});

/** A frame that may mean something: of a real operation on what may be there, with a part that is not right. */
function drawn(random: Random): Buffer {
  const opcode = random.below(20) === 0 ? random.below(2 ** 32) : random.oneOf(OPCODES);
  const node = random.below(8) === 0 ? random.below(2 ** 32) : random.below(60);
  const numbers = [0, 1, 2, 8, 16, 24, 255, 0o100644, 0o040755, 4096, 65_536, 0x7fffffff, 0x80000000, 0xffffffff];
  const names = ['a', 'b', 'c', 'd', '', '.', '..', 'a/b', 'x'.repeat(255), 'x'.repeat(300), 'user.a', 'workspace'];
  const parts: (Buffer | string | number)[] = Array.from({ length: random.below(12) }, () => random.oneOf(numbers));
  for (let count = random.below(4); count > 0; count -= 1) parts.push(random.oneOf(names));
  if (random.below(3) === 0) parts.push(random.bytes(random.below(5000)));
  const frame = frameOf(opcode, node, ...parts);
  if (random.below(6) === 0) frame.writeUInt32LE(random.oneOf(numbers), random.below(frame.length / 4 - 1) * 4);
  return random.below(10) === 0 ? frame.subarray(0, random.below(frame.length)) : frame;
}

test(`17. ${FRAMES} drawn frames end no server, and the file is whole afterwards (WB_TEST_SEED=${SEED})`, () => {
  const random = new Random(SEED);
  const { native, handler } = open(4 * MIB);
  // Each argument is read, and some requests succeed.
  const errnos = new Map<number, number>();
  for (let count = 0; count < FRAMES; count += 1) {
    const frame = drawn(random);
    const answer = handler.handle(frame);
    if (answer === null) continue;
    expect(answer.readUInt32LE(0)).toBe(answer.length);
    expect(answer.subarray(8, 16).equals(frame.subarray(8, 16))).toBe(true);
    const errno = errnoOf(answer);
    errnos.set(errno, (errnos.get(errno) ?? 0) + 1);
    // Nothing that a guest sends makes the file fail.
    if (errno === 5) throw native.failure ?? new Error('EIO');
  }
  expect(errnos.get(0)).toBeGreaterThan(FRAMES / 100);
  expect(errnos.size).toBeGreaterThan(8);
  expect(readdirSync(folder).sort()).toEqual(['vfs.sqlite', 'vfs.sqlite-shm', 'vfs.sqlite-wal']);
  native.close();
  expect(readdirSync(folder)).toEqual(['vfs.sqlite']);
  const db = new DatabaseSync(file, { readOnly: true });
  const count = (sql: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${sql}`).get()?.n);
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  expect(count('native_link l LEFT JOIN native_inode i ON i.ino = l.ino WHERE i.ino IS NULL')).toBe(0);
  expect(
    count(
      `native_inode i WHERE i.kind <> ${0o040000} AND i.nlink <> (SELECT count(*) FROM native_link l WHERE l.ino = i.ino)`,
    ),
  ).toBe(0);
  const names = 'native_link l JOIN native_inode i ON i.ino = l.ino WHERE i.kind = 32768';
  expect(count('vfs')).toBe(count(names));
  expect(count('native_chunk')).toBe(0);
  db.close();
});
