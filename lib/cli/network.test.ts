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

test('what a tenant and a sandbox may reach is said, shown and taken back', async () => {
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme', policy: 'network' });
  const run = async (...args: string[]) => {
    const { exit, stdout } = await cli.run(['network', ...args]);
    return [exit, stdout];
  };
  expect(await run('list', '--sandbox', 'a')).toEqual([0, 'no list of its own\n']);
  expect(await run('allow', 'https://api.test/v1/', '--tenant', 'acme', '--methods', 'get,post')).toEqual([
    0,
    'GET,POST https://api.test/v1/\n',
  ]);
  expect((await run('allow', 'https://lan.test/', '--tenant', 'acme', '--private'))[1]).toContain('(private)');
  expect((await run('show', 'a'))[1]).toMatch(/may reach +GET,POST https:\/\/api\.test\/v1\/\n[\s\S]*lan\.test/);
  await run('allow', 'https://api.test/v1/things/', '--sandbox', 'a');
  expect((await run('show', 'a'))[1]).toMatch(/may reach +GET https:\/\/api\.test\/v1\/things\/\n/);
  expect(await run('inherit', 'a')).toEqual([0, expect.stringContaining('lan.test')]);
  expect(await run('forbid', 'https://lan.test/', '--tenant', 'acme')).toEqual([0, 'GET,POST https://api.test/v1/\n']);
  expect((await run('forbid', 'https://lan.test/', '--tenant', 'acme'))[0]).not.toBe(0);
  expect((await run('allow', 'https://api.test/v1/'))[0]).not.toBe(0);
  expect((await run('allow', 'https://a.test/?x', '--tenant', 'acme'))[0]).not.toBe(0);
});
