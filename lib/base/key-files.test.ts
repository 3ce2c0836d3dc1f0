import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readKeyFile } from './key-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-key-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a key file is read as it is, one that is not there is none, and a huge one is not read', () => {
  expect(readKeyFile(folder, 'auth.secret')).toBeNull();
  expect(readKeyFile(join(folder, 'nothing'), 'auth.secret')).toBeNull();
  writeFileSync(join(folder, 'auth.secret'), 'the text\n', { mode: 0o600 });
  expect(readKeyFile(folder, 'auth.secret')).toBe('the text\n');
  writeFileSync(join(folder, 'huge.key'), 'x'.repeat(100_000), { mode: 0o600 });
  expect(() => readKeyFile(folder, 'huge.key')).toThrow('has 100000 bytes and holds no key.');
});

test.skipIf(process.getuid?.() !== 0)('what the server’s user cannot read is named with the system’s reason', () => {
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'auth.secret'), 'the text\n', { mode: 0o600 });
  mkdirSync(join(folder, 'closed'), { mode: 0o700 });
  writeFileSync(join(folder, 'closed', 'auth.secret'), 'the text\n', { mode: 0o600 });
  const script = `
    const { readKeyFile } = await import(${JSON.stringify(join(import.meta.dirname, 'key-files.ts'))});
    process.setegid(65534);
    process.seteuid(65534);
    for (const folder of ${JSON.stringify([folder, join(folder, 'closed')])}) {
      try {
        console.log(readKeyFile(folder, 'auth.secret'));
      } catch (error) {
        console.log(error.message);
      }
    }`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(stdout.trim().split('\n')).toEqual([
    `${folder}/auth.secret cannot be read by this user (EACCES at open).`,
    expect.stringMatching(/^\S+closed\/auth\.secret cannot be looked at by this user \(EACCES at lstat\)\.$/),
  ]);
});
