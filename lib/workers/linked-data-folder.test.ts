import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startServer, type TestServer } from '../testing/server.ts';

let place: string;
let server: TestServer | null = null;
afterEach(async () => {
  await server?.stop();
  rmSync(place, { recursive: true, force: true });
});

test('a data folder that is a link, as systemd makes one, is like any other', async () => {
  place = mkdtempSync(join(tmpdir(), 'winterdock-linked-'));
  mkdirSync(join(place, 'private'));
  symlinkSync('private', join(place, 'data'));
  const folder = join(place, 'data');
  server = await startServer({ folder, settings: { WB_CACHE: join(folder, 'cache') } });
  const { call } = server;
  await call('POST', '/instances', { id: 'a', tenant: 'acme' });
  const exec = async (command: string) => (await call('POST', '/instances/a/exec', { command })).json;
  expect(await exec('echo hello > note')).toMatchObject({ exit_code: 0, stderr: '' });
  expect((await call('POST', '/instances/a/suspend')).status).toBe(200);
  expect((await call('POST', '/instances/a/freeze')).status).toBe(200);
  expect((await call('GET', '/instances/a/volumes/workspace/note')).text).toBe('hello\n');
  expect(await exec('cat note')).toMatchObject({ stdout: 'hello\n', woke: 'cold' });
});
