import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SandboxRun } from '../contract/schema.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

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

test('logs of a sandbox that printed nothing are empty, and of one that there is not an error', async () => {
  await server.call('POST', '/api/instances', { id: 'none', tenant: 'acme' });
  expect(await cli.run(['logs', 'none'])).toMatchObject({ exit: 0, stdout: '' });
  expect((await cli.run(['logs', 'never-was'])).exit).toBe(4);
});

test('run follows a command and ends with its code; runs and logs tell of it afterwards', async () => {
  const ended = await cli.run(['run', '--env', 'WHO=me', 'a', 'echo "$WHO"; echo no >&2; exit 7']);
  expect(ended).toMatchObject({ exit: 7, stdout: 'me\n', stderr: 'no\n' });
  const listed: unknown = (await cli.run(['runs', 'a', '--json'])).json;
  const [run] = listed as SandboxRun[];
  expect(run).toMatchObject({ state: 'done', exit_code: 7 });
  const id = run?.id ?? '';
  expect((await cli.run(['runs', 'a'])).stdout).toContain(id);
  expect(await cli.run(['logs', 'a', id])).toMatchObject({ exit: 0, stdout: 'me\n', stderr: 'no\n' });
  expect((await cli.run(['logs', 'a'])).stdout).toMatch(/Z run info {2}me\n.*Z run warn {2}no\n/);
  expect((await cli.run(['logs', '--tenant', 'acme', '--level', 'warn'])).stdout).toMatch(/Z a run warn {2}no\n/);
  expect((await cli.run(['logs'])).exit).toBe(2);
  expect(await cli.run(['logs', '-f', 'a', id])).toMatchObject({ exit: 7, stdout: 'me\n' });
});

test('a detached run goes on, is followed later, and is stopped', async () => {
  const begun = await cli.run(['run', '-d', '--timeout', '50s', 'a', 'echo begun; sleep 40']);
  const id = begun.stdout.trim();
  expect(id).toMatch(/^run-/);
  const stopped = await cli.run(['stop-run', 'a', id, '--json']);
  expect(stopped.json).toMatchObject({ id, state: 'stopped' });
  const followed = await cli.run(['logs', '--follow', 'a', id]);
  expect([followed.exit, followed.stderr]).toEqual([5, expect.stringContaining('Somebody stopped it.')]);
  expect((await cli.run(['logs', 'a', 'run-0000000000'])).exit).not.toBe(0);
});

test('logs --follow prints the newest lines and then those that come, until it is stopped', async () => {
  await server.call('POST', '/api/instances', { id: 'said', tenant: 'acme' });
  await server.call('POST', '/api/instances/said/exec', { command: 'echo before; echo no >&2' });
  await server.call('POST', '/api/instances/said/runs', { command: 'for n in one two; do sleep 0.3; echo $n; done' });
  const running = cli.start(['logs', '-f', '--json', 'said']);
  await expect.poll(running.stdout, { timeout: 60_000 }).toContain('"two"');
  running.child.kill('SIGINT');
  const ended = await running.ended;
  expect(ended.exit).toBe(130);
  const texts = ended.lines.map(({ text }) => text);
  expect(texts.toSorted()).toEqual(['before', 'no', 'one', 'two']);
  expect(texts.slice(-2)).toEqual(['one', 'two']);
});
