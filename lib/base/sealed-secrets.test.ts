import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSecretSealer } from './sealed-secrets.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-sealed-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a secret opens with the folder’s key for its owner, and in no other way', () => {
  const sealer = openSecretSealer(join(folder, 'one'));
  const sealed = sealer.seal('whsec_abc', 'hook-1');
  expect(sealed).not.toContain('abc');
  expect(sealer.seal('whsec_abc', 'hook-1')).not.toBe(sealed);
  expect(openSecretSealer(join(folder, 'one')).open(sealed, 'hook-1')).toBe('whsec_abc');
  expect(sealer.open(sealed, 'hook-2')).toBeNull();
  expect(openSecretSealer(join(folder, 'two')).open(sealed, 'hook-1')).toBeNull();
  const other = openSecretSealer(join(folder, 'one'), 'other');
  expect(other.open(sealed, 'hook-1')).toBeNull();
  expect(openSecretSealer(join(folder, 'one'), 'other').open(other.seal('x', 'hook-1'), 'hook-1')).toBe('x');
  // The last characters may stand for the same bytes as others: those before the middle are whole ones.
  const middle = sealed.length >> 1;
  const changed = `${sealed.slice(0, middle)}${sealed[middle] === 'A' ? 'B' : 'A'}${sealed.slice(middle + 1)}`;
  for (const wrong of [changed, sealed.slice(0, 20), '', 'v1.', `v2.${sealed.slice(3)}`]) {
    expect(sealer.open(wrong, 'hook-1')).toBeNull();
  }
  expect(statSync(join(folder, 'one', 'secrets.key')).mode & 0o777).toBe(0o600);
});
