import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeAll(async () => {
  server = await startServer({ settings: { WB_HOST_NAME: 'one' } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
});
afterAll(async () => {
  cli.remove();
  await server.stop();
});

test('a host is shown with what it has, labelled, and listed by; one that is alone is not emptied', async () => {
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await server.call('POST', '/api/instances', { id: 'b', tenant: 'acme' });
  await server.call('POST', '/api/instances/a/exec', { command: 'true' });
  const listed = await cli.run(['hosts', 'list']);
  expect(listed.stdout).toMatch(/^NAME +TERM +VERSION +SANDBOXES +AWAKE +AT MOST +LEASE +URL +LABELS$/m);
  expect(listed.stdout).toMatch(/^one \* +1 +\S+ +1 +1 +/m);
  const labelled = await cli.run(['hosts', 'label', 'one', '--label', 'zone=a', '--label', 'disk=fast']);
  expect(labelled.stdout).toBe('one: zone=a, disk=fast\n');
  expect((await cli.run(['hosts', 'show', 'one'])).stdout).toMatch(/^sandboxes +1, 1 awake$/m);
  const its = (await cli.run(['list', '--host', 'one', '--json'])).json as unknown as { id: string }[];
  expect(its.map(({ id }) => id)).toEqual(['a']);
  expect((await cli.run(['list', '--host', 'two'])).stderr).toContain('No sandboxes.');
  const refused = await cli.run(['hosts', 'drain', 'one', '--wait']);
  expect([refused.exit === 0, refused.stderr]).toEqual([
    false,
    expect.stringContaining('This server has its registry for itself'),
  ]);
  expect((await cli.run(['hosts', 'drain', 'one', '--stop', '--wait'])).exit).toBe(2);
  expect((await cli.run(['hosts', 'drain', 'one', '--stop'])).stdout).toBe('one takes what is new again.\n');
});
