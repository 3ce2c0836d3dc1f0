import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeAll(async () => {
  server = await startServer();
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
});
afterAll(async () => {
  cli.remove();
  await server.stop();
});

test('what needs a person is listed, acknowledged until a time, shown when asked for, and taken back', async () => {
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  const listed = await cli.run(['attention']);
  expect(listed.stdout).toMatch(/^ID +LEVEL +TENANT +WHAT +SINCE +ACKNOWLEDGED +WHY$/m);
  expect(listed.stdout).toMatch(/^backup:none +warning +– +Backups +– +– +None was ever made, and none is planned\.$/m);
  const until = new Date(Math.floor(server.host.clock.now() / 1000) * 1000 + 3_600_000).toISOString();
  const done = await cli.run(['attention', 'ack', 'backup:none', '--until', until, '--reason', 'made tonight']);
  const said = `${until.slice(0, 19).replace('T', ' ')}Z`;
  expect(done.stdout).toBe(`backup:none is acknowledged by key:admin until ${said}.\n`);
  const rest = await cli.run(['attention', 'list']);
  expect([rest.stdout.includes('backup:none'), rest.stderr]).toEqual([
    false,
    expect.stringContaining('1 acknowledged'),
  ]);
  const all = await cli.run(['attention', '--all', '--json']);
  const row = (all.json as unknown as { id: string }[]).find(({ id }) => id === 'backup:none');
  expect(row).toMatchObject({ acknowledged: { reason: 'made tonight', until: Date.parse(until) / 1000 } });
  expect((await cli.run(['attention', 'reopen', 'backup:none'])).stdout).toMatch(/^backup:none is not /);
  expect((await cli.run(['attention'])).stdout).toContain('backup:none');
  expect((await cli.run(['attention', 'ack', 'nothing'])).exit).not.toBe(0);
  expect((await cli.run(['attention', 'list', '--tenant', 'acme'])).stdout).toBe('');
});
