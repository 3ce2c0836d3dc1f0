import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ShippedMark } from './shipped-mark.ts';

function place(): { file: string; mark: string; other: string } {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-mark-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'vfs.sqlite');
  return { file, mark: `${file}-shipped`, other: join(folder, 'other') };
}

test('what was confirmed last stands in the mark, whatever was there before', () => {
  const { file, mark } = place();
  writeFileSync(mark, `${'f'.repeat(16)}00000001 of an earlier process`);
  const shipped = new ShippedMark(file);
  expect(readFileSync(mark, 'utf8')).toBe('');
  expect(statSync(mark).mode & 0o777).toBe(0o600);
  shipped.confirm({ salts: '0123456789abcdef', frames: 4_000 });
  expect(readFileSync(mark, 'utf8')).toBe('0123456789abcdef00000fa0');
  shipped.confirm({ salts: 'fedcba9876543210', frames: 1 });
  expect(readFileSync(mark, 'utf8')).toBe('fedcba987654321000000001');
  shipped.close();
  shipped.close();
  shipped.confirm({ salts: '0123456789abcdef', frames: 2 });
  expect(readFileSync(mark, 'utf8')).toBe('fedcba987654321000000001');
});

test('a link that is put in its place, before or afterwards, is not followed', () => {
  const { file, mark, other } = place();
  writeFileSync(other, 'of somebody else');
  symlinkSync(other, mark);
  const shipped = new ShippedMark(file);
  shipped.confirm({ salts: '0123456789abcdef', frames: 1 });
  unlinkSync(mark);
  symlinkSync(other, mark);
  shipped.confirm({ salts: '0123456789abcdef', frames: 2 });
  shipped.close();
  expect(readFileSync(other, 'utf8')).toBe('of somebody else');
});

test('it cannot be made where there is no folder, and leaves nothing', () => {
  const { other } = place();
  expect(() => new ShippedMark(join(other, 'vfs.sqlite'))).toThrow('ENOENT');
  expect(existsSync(other)).toBe(false);
});
