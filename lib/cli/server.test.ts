import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { inTerminal } from './testing/terminal.ts';
import { type CommandLine, commandLine, LAUNCHER } from './testing/winterdock.ts';

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

test('version tells both versions without a key, and that a server does not answer', async () => {
  const { version } = packageJson;
  const both = { client: version, server: { url: server.url, version } };
  expect((await cli.run(['version', '--json'], { env: { WINTERDOCK_KEY: '' } })).json).toEqual(both);
  expect((await cli.run(['version'])).stdout).toMatch(/^command line +\d.*\nserver +\d.*\naddress +http/);
  const away = await cli.run(['version', '--json', '--url', 'http://127.0.0.1:4']);
  expect(away.exit).toBe(10);
  expect(away.json).toEqual({ client: version, server: { url: 'http://127.0.0.1:4', version: null } });
});

test('open prints the page, and shows it in the browser of a person at a terminal', async () => {
  const page = `${server.url}/sandboxes/a`;
  expect((await cli.run(['open', 'a'])).stdout).toBe(`${page}\n`);
  expect((await cli.run(['open', '--json'])).json).toEqual({ url: `${server.url}/` });
  expect((await cli.run(['open', 'nobody'])).exit).toBe(4);
  const shown = join(cli.home, 'shown');
  writeFileSync(
    join(cli.home, 'xdg-open'),
    `#!/bin/sh\nprintf %s "$1" > '${shown}.part' && mv '${shown}.part' '${shown}'\n`,
  );
  chmodSync(join(cli.home, 'xdg-open'), 0o755);
  const env = {
    PATH: `${cli.home}${delimiter}${process.env.PATH}`,
    WINTERDOCK_URL: server.url,
    WINTERDOCK_KEY: TEST_KEY,
  };
  const only = inTerminal([process.execPath, LAUNCHER, 'open', '--print', 'a'], { env });
  expect(await only.ended).toContain(page);
  expect(existsSync(shown)).toBe(false);
  const opened = inTerminal([process.execPath, LAUNCHER, 'open', 'a'], { env });
  expect(await opened.ended).toContain(page);
  await vi.waitFor(() => expect(readFileSync(shown, 'utf8')).toBe(page), 240_000);
});

test('wait ends when it is so, at once when it is already, and after its time with 124', async () => {
  expect(await cli.run(['wait', 'a', '--for', 'created'])).toMatchObject({ exit: 0, stdout: 'a is created, cold.\n' });
  const late = await cli.run(['wait', 'a', '--for', 'hot', '--timeout', '1s', '--json']);
  expect([late.exit, JSON.parse(late.stderr)]).toMatchObject([124, { error: { code: 'timeout', exit: 124 } }]);
  const hot = cli.start(['wait', 'a', '--for', 'hot', '--json']);
  await server.call('POST', '/api/instances/a/resume');
  expect(await hot.ended).toMatchObject({ exit: 0, json: { id: 'a', state: 'active', thermal: 'hot' } });
  expect((await cli.run(['wait', 'a', '--for', 'idle'])).exit).toBe(0);
  expect((await cli.run(['wait', 'a', '--for', 'healthy'])).exit).toBe(0);

  const id = (await cli.run(['run', '-d', 'a', 'read x; exit 3'])).stdout.trim();
  expect(await cli.run(['wait', 'a', '--for', `run=${id}`])).toMatchObject({ exit: 0, stdout: /is done/ });
  const gone = cli.start(['wait', 'a', '--for', 'deleted']);
  const other = cli.start(['wait', 'a', '--for', 'faulted']);
  await server.call('POST', '/api/instances/a/plan', { to: 'deleted' });
  expect(await gone.ended).toMatchObject({ exit: 0, stdout: 'a is deleted.\n' });
  expect((await other.ended).exit).toBe(4);
  expect((await cli.run(['wait', 'a', '--for', 'paused'])).exit).toBe(2);
  expect((await cli.run(['wait', 'a'])).exit).toBe(2);
});
