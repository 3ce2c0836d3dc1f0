import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashFile } from './hash-file.ts';

const MIB = 1024 * 1024;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-hash-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each([0, 1, MIB - 1, MIB, MIB + 1, 2 * MIB, 5 * MIB + 17])('a file of %i bytes has its own hash', async (size) => {
  const content = randomBytes(size);
  const file = join(folder, 'file');
  writeFileSync(file, content);
  expect(await hashFile(file)).toEqual({ sha256: createHash('sha256').update(content).digest('hex'), bytes: size });
});

test('what is not there has the system’s error, and what is no file is refused', async () => {
  await expect(hashFile(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(hashFile(folder)).rejects.toMatchObject({ code: 'corrupt' });
});
