import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isWinterdockError } from '../base/errors.ts';
import { readFormUpload } from './form-upload.ts';

const MIB = 1024 * 1024;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-form-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A form as the platform's own encoder writes it. */
async function formOf(parts: readonly (readonly [string, string | Blob, string?])[]) {
  const form = new FormData();
  for (const [name, value, fileName] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, fileName);
  }
  const request = new Request('http://dock.example/', { method: 'POST', body: form });
  return { type: request.headers.get('content-type'), bytes: Buffer.from(await request.arrayBuffer()) };
}

async function* cutInto(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    return isWinterdockError(error) ? error.code : String(error);
  }
}

test.each([1, 2, 7, 64, 100_000])(
  'the file comes whole, in pieces of %i bytes, and the fields before it',
  async (size) => {
    // Bytes that look like a boundary, again and again, and nearly end like one.
    const content = Buffer.from(`\r\n--\r\n------formdata\r\n-\r\n\0\xff${'x'.repeat(500)}\r\n--`, 'latin1');
    const { type, bytes } = await formOf([
      ['tenant', 'acme'],
      ['name', 'Größe "1"\r\nof two'],
      ['file', new Blob([content], { type: 'application/zip' }), 'März.zip'],
      ['behind', 'not seen'],
    ]);
    const { fields, fileName, upload } = await readFormUpload(cutInto(bytes, size), type, MIB);
    expect(fields).toEqual({ tenant: 'acme', name: 'Größe "1"\r\nof two' });
    expect([fileName, upload.type]).toEqual(['März.zip', 'application/zip']);
    const saved = join(folder, 'saved');
    expect(await upload.saveTo(saved)).toBe(content.length);
    expect(readFileSync(saved).equals(content)).toBe(true);
  },
);

test('a file over the limit is refused and leaves nothing', async () => {
  const { type, bytes } = await formOf([['file', new Blob([Buffer.alloc(3 * MIB)]), 'a']]);
  const { upload } = await readFormUpload(cutInto(bytes, 65_536), type, 2 * MIB);
  expect(await codeOf(upload.saveTo(join(folder, 'saved')))).toBe('too_large');
  expect(readdirSync(folder)).toEqual([]);
});

test('a form that ends in its middle is refused and leaves nothing', async () => {
  const { type, bytes } = await formOf([['file', new Blob([Buffer.alloc(MIB)]), 'a']]);
  const { upload } = await readFormUpload(cutInto(bytes.subarray(0, MIB / 2), 65_536), type, 2 * MIB);
  expect(await codeOf(upload.saveTo(join(folder, 'saved')))).toBe('validation');
  expect(readdirSync(folder)).toEqual([]);
});

test('200 MB go through without being held', async () => {
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n';
  const piece = Buffer.alloc(65_536, 0x0d);
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(head);
    for (let at = 0; at < 3200; at += 1) yield piece;
    yield Buffer.from('\r\n--b--\r\n');
  }
  const before = process.memoryUsage().rss;
  const { upload } = await readFormUpload(endless(), 'multipart/form-data; boundary=b', 1024 * MIB);
  const saved = join(folder, 'saved');
  await upload.saveTo(saved);
  expect(statSync(saved).size).toBe(200 * MIB);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
});

test('a request that is not a form with a file is refused', async () => {
  const { type, bytes } = await formOf([['tenant', 'acme']]);
  expect(await codeOf(readFormUpload(cutInto(bytes, 100), type, MIB))).toBe('validation');
  expect(await codeOf(readFormUpload(cutInto(bytes, 100), 'application/json', MIB))).toBe('validation');
  expect(await codeOf(readFormUpload(cutInto(bytes, 100), 'multipart/form-data', MIB))).toBe('validation');
  expect(
    await codeOf(readFormUpload(cutInto(Buffer.from('--b\r\nhello'), 100), 'multipart/form-data; boundary=b', MIB)),
  ).toBe('validation');
  const many = await formOf(Array.from({ length: 30 }, (_, index) => [`field-${index}`, 'x'] as const));
  expect(await codeOf(readFormUpload(cutInto(many.bytes, 100), many.type, MIB))).toBe('validation');
  const long = await formOf([['name', 'x'.repeat(100_000)]]);
  expect(await codeOf(readFormUpload(cutInto(long.bytes, 1000), long.type, MIB))).toBe('validation');
});

test('a form that is cut at any byte before its last line gives no file, read at once or late', async () => {
  const { type, bytes } = await formOf([
    ['tenant', 'acme'],
    ['file', new Blob([Buffer.from('\r\n--hello\r\n\0')], { type: 'application/zip' }), 'a.zip'],
  ]);
  const saved = join(folder, 'saved');
  const after = bytes.length - '--\r\n'.length;
  for (let end = 0; end < after; end += 1) {
    for (const late of [false, true]) {
      const form = readFormUpload(cutInto(bytes.subarray(0, end), 7), type, MIB);
      const outcome = codeOf(
        form.then(async ({ upload }) => {
          if (late) await new Promise((resolve) => setImmediate(resolve));
          await upload.saveTo(saved);
        }),
      );
      expect([end, await outcome]).toEqual([end, 'validation']);
      expect(readdirSync(folder)).toEqual([]);
    }
  }
});

test('a lost connection fails the reader of the file, and has no effect when the file is not wanted', async () => {
  const { type, bytes } = await formOf([['file', new Blob([Buffer.alloc(MIB, 'x')]), 'a']]);
  async function* lost(): AsyncGenerator<Uint8Array> {
    yield* cutInto(bytes.subarray(0, MIB / 2), 65_536);
    throw new Error('aborted');
  }
  const { upload } = await readFormUpload(lost(), type, 2 * MIB);
  expect(await codeOf(upload.saveTo(join(folder, 'saved')))).toBe('validation');
  expect(readdirSync(folder)).toEqual([]);
  await readFormUpload(lost(), type, 2 * MIB);
  await new Promise((resolve) => setImmediate(resolve));
});

test('bytes that a hostile hand has changed never crash or hang it', async () => {
  const { type, bytes } = await formOf([
    ['tenant', 'acme'],
    ['file', new Blob([Buffer.from('content')], { type: 'application/zip' }), 'a.zip'],
  ]);
  const saved = join(folder, 'saved');
  for (let at = 0; at < bytes.length; at += 1) {
    for (const byte of [0, 0x0a, 0x0d, 0x22, 0x2d, 0xff]) {
      const changed = Buffer.from(bytes);
      changed[at] = byte;
      const outcome = await codeOf(
        readFormUpload(cutInto(changed, 16), type, MIB).then(({ upload }) => upload.saveTo(saved)),
      );
      expect(['none', 'validation'], `byte ${byte} at ${at}`).toContain(outcome);
      rmSync(saved, { force: true });
    }
  }
});
