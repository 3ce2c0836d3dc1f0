import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let root: string;
let server: TestServer;
let cli: CommandLine;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-cli-backups-'));
  server = await startServer({ clock: new FakeClock(Date.now()) });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
});
afterAll(async () => {
  cli.remove();
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

test('backups are set up, made, listed, tried and restored from, and what is refused says why', async () => {
  const place = join(root, 'place');
  expect((await cli.run(['backups', 'settings'])).stdout).toMatch(/^schedule +off\nin +no place yet$/m);
  expect((await cli.run(['backups', 'make'])).exit).toBe(5);
  const set = ['backups', 'set', '--target', place, '--cron', '0 3 * * *', '--daily', '30', '--on'];
  expect((await cli.run(set)).stdout).toMatch(/^keeps +24 hourly, 30 daily, 8 weekly, 12 monthly$/m);
  expect((await cli.run(['backups', 'set', '--target', 'here'])).exit).toBe(6);

  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await server.call('PUT', '/api/instances/a/volumes/workspace/what', 'as it was');
  await server.call('POST', '/api/instances/a/suspend', {});
  const made = await cli.run(['backups', 'make', '--reason', 'before the upgrade', '--json']);
  const id = String(made.json.id);
  await server.host.backups.runner.tick();
  expect((await cli.run(['backups', 'list'])).stdout).toMatch(new RegExp(`^${id} +made +\\S+ +\\S+ +1 `, 'm'));
  expect((await cli.run(['backups', 'show', id])).stdout).toMatch(/^reason +before the upgrade$/m);
  expect((await cli.run(['backups', 'verify', id])).stdout).toMatch(/one drawn sandbox came back as it was/);

  const all = await cli.run(['backups', 'restore', id]);
  expect(all.stdout).toContain(`npm run restore -- --all --from ${place}`);
  const restore = ['backups', 'restore', id, '--sandbox', 'a', '--as', 'b'];
  expect((await cli.run([...restore, '--dry-run'])).stdout).toMatch(/^it is +not there$/m);
  expect((await cli.run(restore)).exit).toBe(6);
  expect((await cli.run([...restore, '--reason', 'ticket 7'])).stdout).toMatch(/^it is +created$/m);
  expect((await server.call('GET', '/api/instances/b/volumes/workspace/what')).text).toBe('as it was');
});
