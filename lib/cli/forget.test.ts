import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeEach(async () => {
  server = await startServer({ settings: { WB_POOL: '0' } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await server.call('PATCH', '/api/instances/a', { keep_hot: true });
  await server.call('POST', '/api/instances', { id: 'b', tenant: 'globex' });
});
afterEach(async () => {
  cli.remove();
  await server.stop();
});

test('a tenant is forgotten from the command line once its name was given twice, and what still holds it is listed', async () => {
  const dry = await cli.run(['tenants', 'forget', 'acme', '--dry-run']);
  expect(dry).toMatchObject({ exit: 0, stdout: '' });
  expect(dry.stderr).toContain('forget acme: 1 sandboxes (1 created), for good.\n');
  expect(dry.stderr).toContain('a is kept hot, and goes all the same.');
  expect(dry.stderr).toContain('No backup on record');
  expect((await cli.run(['tenants', 'forget', 'acme', '--dry-run', '--json'])).json).toMatchObject({
    tenant: 'acme',
    kept_count: 1,
  });
  expect(await cli.run(['tenants', 'forget', 'acme'])).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('--confirm acme'),
  });
  expect((await cli.run(['tenants', 'forget', 'acme', '--confirm', 'globex'])).exit).toBe(2);
  expect((await cli.run(['tenants', 'forget', 'nobody', '--confirm', 'nobody'])).exit).not.toBe(0);
  expect((await server.call('GET', '/api/instances/a')).status).toBe(200);

  const done = await cli.run(['tenants', 'forget', 'acme', '--confirm', 'acme', '--json']);
  expect(done).toMatchObject({ exit: 0, json: { verb: 'forget', state: 'done', failed: 0 } });
  expect((await server.call('GET', '/api/instances/a')).status).toBe(410);
  expect((await server.call('GET', '/api/instances/b')).status).toBe(200);
  expect((await cli.run(['jobs', 'list'])).stdout).toMatch(/ forget +done /);
});
