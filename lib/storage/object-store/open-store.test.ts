import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { openObjectStore } from './open-store.ts';
import { connectionTo } from './testing/s3-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'winterdock-open-store-'));
afterAll(() => rmSync(folder, { recursive: true }));

const OPEN = pathToFileURL(join(import.meta.dirname, 'open-store.ts')).href;

/** Whether a process that opens this store has loaded Amazon's SDK. */
function loadsSdk(url: string): boolean {
  const program = `
    import { Module } from 'node:module';
    const { openObjectStore } = await import(${JSON.stringify(OPEN)});
    const store = await openObjectStore(${JSON.stringify(url)}, ${JSON.stringify(connectionTo('http://127.0.0.1:1'))});
    await store.head('a').catch(() => undefined);
    process.stdout.write(String(Object.keys(Module._cache).some((path) => path.includes('/@aws-sdk/'))));
    process.exit(0);`;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }) === 'true';
}

test('a store in a folder loads nothing of Amazon’s, and one that speaks S3 does', () => {
  expect(loadsSdk(pathToFileURL(join(folder, 'store')).href)).toBe(false);
  expect(loadsSdk('s3://bucket')).toBe(true);
});

test('what is no URL of a store is refused without being repeated', async () => {
  const opening = openObjectStore('s3://key:hunter22@bucket', connectionTo('http://127.0.0.1:1'));
  await expect(opening).rejects.toThrow('credentials do not belong into it');
  await expect(opening).rejects.not.toThrow('hunter22');
});
