import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startS3Server, TEST_KEYS } from '../lib/storage/object-store/testing/s3-server.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-conformance-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(args: string[], settings: Record<string, string> = {}): Promise<{ code: number; text: string }> {
  const script = join(import.meta.dirname, 'store-conformance.ts');
  return new Promise((resolve) => {
    const env = { NODE_ENV: 'test' as const, ...settings };
    execFile(process.execPath, ['--no-warnings', script, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), text: stdout + stderr });
    });
  });
}

test('a folder and a server that speaks S3 conform, and nothing is left', async () => {
  const inFolder = await run([pathToFileURL(join(folder, 'store')).href]);
  expect(inFolder.text).not.toContain('NO ');
  expect(inFolder.code).toBe(0);
  expect(readdirSync(join(folder, 'store'))).toEqual(['.staging']);
  const server = await startS3Server({ buckets: { bucket: {}, locked: { versioning: 'Enabled', lockDays: 7 } } });
  const keys = { AWS_ACCESS_KEY_ID: TEST_KEYS.accessKey, AWS_SECRET_ACCESS_KEY: TEST_KEYS.secretKey };
  const settings = { ...keys, WB_STORE_ENDPOINT: server.endpoint };
  const remote = await run([], { ...settings, WB_COLD_URL: 's3://bucket/prefix' });
  expect(remote.text).toContain('ifMatchRefused yes');
  expect(remote).toMatchObject({ code: 0 });
  const locked = await run(['s3://locked'], settings);
  expect(locked.text).toMatch(/NO {3}what is removed is gone.*bytes remain until/);
  expect(locked.text).toContain('locked for 7 days');
  expect(locked.code).toBe(1);
  await server.stop();
});

test('without a store it says how to name one', async () => {
  const { code, text } = await run([]);
  expect(text).toContain('npm run store:conformance -- s3://BUCKET/PREFIX');
  expect(code).toBe(1);
});
