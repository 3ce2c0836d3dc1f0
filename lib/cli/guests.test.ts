import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

const VALUE = 'tok-5c1d-never-printed';
const ADDRESS = 'https://api.example.com/v1/';
let server: TestServer;
let cli: CommandLine;
beforeAll(async () => {
  server = await startServer();
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
});
afterAll(async () => {
  cli.remove();
  await server.stop();
});

test('variables are set, listed with whose they are, and removed', async () => {
  const run = async (...args: string[]) => {
    const { exit, stdout } = await cli.run(['env', ...args]);
    return [exit, stdout.replace(/ +/g, ' ')];
  };
  expect(await run('list', '--sandbox', 'a')).toEqual([0, 'no variables\n']);
  expect(await run('set', 'REGION=eu', 'EQUAL=a=b', '--tenant', 'acme')).toEqual([
    0,
    'NAME FROM VALUE\nEQUAL tenant a=b\nREGION tenant eu\n',
  ]);
  expect((await run('set', 'REGION=us', '--sandbox', 'a'))[1]).toContain('REGION sandbox us');
  expect((await cli.run(['exec', 'a', 'echo $REGION $EQUAL'])).stdout).toBe('us a=b\n');
  expect((await run('unset', 'REGION', '--sandbox', 'a'))[1]).toContain('REGION tenant eu');
  expect((await run('list'))[0]).toBe(2);
  expect((await run('list', '--sandbox', 'a', '--tenant', 'acme'))[0]).toBe(2);
  expect((await run('set', 'REGION', '--tenant', 'acme'))[0]).toBe(2);
  expect((await run('set', 'PATH=/x', '--tenant', 'acme'))[0]).toBe(6);
  expect((await run('list', '--blueprint', 'none'))[0]).toBe(4);
});

test('a secret comes from stdin, is listed by where it goes, and its value is printed nowhere', async () => {
  const said: string[] = [];
  const run = async (args: string[], input?: string) => {
    const { exit, stdout, stderr } = await cli.run(['secrets', ...args], input === undefined ? {} : { input });
    said.push(stdout, stderr);
    return [exit, stdout.replace(/ +/g, ' ')] as const;
  };
  const set = ['set', 'TOKEN', '--tenant', 'acme', '--address', ADDRESS];
  const [exit, text] = await run(set, `${VALUE}\n`);
  expect([exit, text]).toEqual([0, expect.stringContaining(`goes to ${ADDRESS}\nas authorization: Bearer {}\n`)]);
  await run(['set', 'KEY', '--sandbox', 'a', '--address', ADDRESS, '--header', 'X-Key', '--format', '{}'], VALUE);
  const [, listed] = await run(['list', '--sandbox', 'a']);
  expect(listed).toContain(`KEY sandbox ${ADDRESS} x-key: {}`);
  expect(listed).toContain(`TOKEN tenant ${ADDRESS} authorization: Bearer {}`);
  await run(['list', '--tenant', 'acme', '--json']);
  expect((await run(set, ''))[0]).toBe(6);
  expect((await run(set, `${VALUE}\n${VALUE}\n`))[0]).toBe(6);
  expect((await run([...set, '--json'], `${VALUE}é`))[0]).toBe(6);
  expect((await run([...set, '--header', 'Content-Length'], VALUE))[0]).toBe(6);
  expect((await run(['set', 'TOKEN', '--address', ADDRESS], VALUE))[0]).toBe(2);
  expect((await run(['set', 'TOKEN', '--tenant', 'acme'], VALUE))[0]).toBe(2);
  expect(await run(['remove', 'TOKEN', '--tenant', 'acme'])).toEqual([0, 'Removed TOKEN.\n']);
  expect((await run(['remove', 'TOKEN', '--tenant', 'acme']))[0]).toBe(4);
  expect(said.join('')).not.toContain('never-printed');
});
