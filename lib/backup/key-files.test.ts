import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keyFilesOf, lossesWithout } from './key-files.ts';

/** Whatever server made the folder: that of root has one more. */
const NAMES = ['admin.key', 'auth.secret', 'secrets.key', 'signing.key', 'users.key'];

test('of each key file that a folder has it is said what is lost without it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-keys-'));
  for (const name of [...NAMES, 'lock.sqlite']) writeFileSync(join(folder, name), 'x');
  expect(keyFilesOf({ dataFolder: folder, keysFolder: folder })).toEqual(NAMES);
  rmSync(folder, { recursive: true });
  expect(lossesWithout(NAMES).join('\n')).not.toMatch(/stays closed/);
  expect(lossesWithout(['users.key'])[0]).toMatch(/^users\.key: sandboxes of a server .* lose nothing by it\.$/);
});
