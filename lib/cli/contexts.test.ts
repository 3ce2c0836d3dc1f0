import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient } from '../client/client.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let one: TestServer;
let two: TestServer;
let cli: CommandLine;
beforeEach(async () => {
  [one, two] = await Promise.all([startServer(), startServer()]);
  cli = commandLine();
  await one.call('POST', '/api/instances', { id: 'on-one', tenant: 'acme' });
  await two.call('POST', '/api/instances', { id: 'on-two', tenant: 'acme' });
});
afterEach(async () => {
  cli.remove();
  await Promise.all([one.stop(), two.stop()]);
});

const ok = async (...args: string[]) => {
  const ended = await cli.run(args);
  expect(ended.exit, ended.stderr).toBe(0);
  return ended;
};
const login = (url: string, key: string, ...more: string[]) =>
  cli.run(['login', url, '--key-file', '-', ...more], { input: key });
/** The ids that a list shows. */
const seen = async (...args: string[]) =>
  ((await ok('list', '--json', ...args)).json as unknown as { id: string }[]).map(({ id }) => id);

test('several servers and keys are kept beside each other, and one is chosen for all commands or for one', async () => {
  const dock = createClient({ url: two.url, key: TEST_KEY });
  const { key } = await dock.createKey({ name: 'theirs', role: 'tenant', tenant: 'globex' });
  expect((await login(one.url, TEST_KEY)).exit).toBe(0);
  expect(await login(two.url, TEST_KEY, '--name', 'second')).toMatchObject({ exit: 0, stdout: / as second\.\n$/ });
  expect((await login(two.url, key, '--name', 'tenant')).exit).toBe(0);
  const name = one.url.replace('http://', '');
  const file = join(cli.home, 'winterdock', 'logins.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);

  expect((await ok('contexts', 'list', '--json')).json).toEqual([
    { name, url: one.url, current: false },
    { name: 'second', url: two.url, current: false },
    { name: 'tenant', url: two.url, current: true },
  ]);
  const listed = await ok('contexts', 'list');
  expect(listed.stdout).toMatch(/^\* +tenant +http/m);
  expect(listed.stdout).not.toContain(key);
  expect(await seen()).toEqual([]);
  expect(await seen('--context', name)).toEqual(['on-one']);
  await ok('contexts', 'use', 'second');
  expect(await seen()).toEqual(['on-two']);
  // A context that is named is used with its own key, whatever the environment says.
  const env = { WINTERDOCK_URL: one.url, WINTERDOCK_KEY: TEST_KEY };
  expect((await cli.run(['list', '--json'], { env })).stdout).toContain('on-one');
  expect((await cli.run(['list', '--json', '--context', 'tenant'], { env })).json).toEqual([]);
  expect((await cli.run(['list', '--context', 'tenant', '--url', one.url])).exit).toBe(2);

  await ok('contexts', 'rename', 'second', 'work');
  expect(await seen()).toEqual(['on-two']);
  expect((await cli.run(['contexts', 'rename', 'work', 'tenant'])).exit).toBe(5);
  expect((await cli.run(['contexts', 'rename', 'work', 'a b'])).exit).toBe(2);
  for (const lost of [
    ['contexts', 'use', 'second'],
    ['list', '--context', 'second'],
    ['list', '--context', 'toString'],
    ['logout', 'http://127.0.0.1:4'],
  ])
    expect((await cli.run(lost)).exit).toBe(4);
  await ok('logout', 'tenant');
  expect(readFileSync(file, 'utf8')).not.toContain(key);
  await ok('logout', one.url);
  expect((await ok('contexts', 'list', '--json')).json).toEqual([{ name: 'work', url: two.url, current: true }]);
});
