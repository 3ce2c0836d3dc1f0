import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeAll(async () => {
  server = await startServer({ clock: systemClock, settings: { WB_TICK_MS: '200' } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await server.call('POST', '/api/instances/a/exec', { command: 'echo one > note' });
  await server.call('POST', '/api/instances/a/exec', { command: 'cat note' });
  await server.host.sandboxes.tick();
});
afterAll(async () => {
  cli.remove();
  await server.stop();
});

test('usage is a table of a sandbox, a tenant or the server, with the sum below', async () => {
  const own = await cli.run(['usage', 'a', '--step', '1h']);
  expect(own.stdout).toMatch(/^FROM +CPU +CALLS +MEMORY +DISK\n/);
  expect(own.stdout).toMatch(/^together +\d+\.\d s +2$/m);
  const tenant = await cli.run(['usage', '--tenant', 'acme', '--within', '24h']);
  expect(tenant.stdout).toMatch(/^FROM .* WAKES +FAULTS +AWAKE\n/);
  expect(tenant.stdout).toMatch(/^together +\d+\.\d s +2 +1 +0 +\S/m);
  const all = await cli.run(['usage', '--json']);
  expect(all.json).toMatchObject({ step: 86_400, total: { calls: 2, wakes: 1 } });
  expect((await cli.run(['usage', '--tenant', 'nobody'])).exit).toBe(4);
  expect((await cli.run(['usage', 'a', '--tenant', 'acme'])).exit).toBe(2);
});

test('load is a table of what is taken now, says of what it is made, and is saved as CSV', async () => {
  await expect
    .poll(async () => (await cli.run(['load', 'a', '--json'])).json?.points?.length, { timeout: 60_000 })
    .toBeGreaterThan(0);
  const own = await cli.run(['load', 'a']);
  expect(own.stdout).toMatch(/^FROM +CPU +CALLS +MEMORY +IN +OUT +DISK\n\d/);
  expect(own.stderr).toMatch(/samples/);
  const tenant = await cli.run(['load', '--tenant', 'acme', '--within', '30m']);
  expect(tenant.stdout).toMatch(/^MOST +CPU[^\n]*\na +\d/m);
  await server.call('POST', '/api/instances', { id: 'asleep', tenant: 'quiet' });
  const nothing = { exit: 0, stdout: 'Nothing was awake in this time.\n', stderr: '' };
  expect(await cli.run(['load', 'asleep'])).toMatchObject(nothing);
  expect(await cli.run(['load', '--tenant', 'quiet'])).toMatchObject(nothing);
  expect((await cli.run(['load', '--csv', '-'])).stdout).toMatch(/^time,/);
  expect((await cli.run(['load', 'a', '--tenant', 'acme'])).exit).toBe(2);
  expect(await cli.run(['load', 'a', '--step', '7s'])).toMatchObject({
    exit: 6,
    stderr: expect.stringMatching(/tens of seconds/),
  });
});
