import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeEach(async () => {
  server = await startServer({ settings: { WB_POOL: '0' } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
});
afterEach(async () => {
  cli.remove();
  await server.stop();
});

const ENDLESS = 'echo begun; while true; do sleep 0.05; done; echo never > ended';
/** Calls run one at a time: an answer means that the endless one is over. */
const after = () => server.call('POST', '/api/instances/a/exec', { command: 'ls' });

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s stops the command in the sandbox and exits with %i', async (signal, exit) => {
  const running = cli.start(['exec', 'a', ENDLESS]);
  await expect.poll(running.stdout).toBe('begun\n');
  running.child.kill(signal);
  expect((await running.ended).exit).toBe(exit);
  expect((await after()).json.stdout).toBe('');
});

test('a client that is killed leaves no command running', async () => {
  const running = cli.start(['exec', 'a', ENDLESS]);
  await expect.poll(running.stdout).toBe('begun\n');
  running.child.kill('SIGKILL');
  await running.ended;
  expect((await after()).json.stdout).toBe('');
});

test('a closed pipe is no failure', async () => {
  for (let count = 0; count < 30; count++) {
    await server.call('POST', '/api/instances', { id: `x${count}`, tenant: 'acme', name: 'n'.repeat(190) + count });
  }
  const running = cli.start(['list', '--all']);
  running.child.stdout?.destroy();
  expect(await running.ended).toMatchObject({ exit: 0, stderr: '' });
});

test('closed pipes end no plan between hops', async () => {
  await server.call('POST', '/api/instances/a/exec', { command: 'echo x > /tmp/x' });
  const running = cli.start(['delete', 'a', '--yes']);
  running.child.stdout?.destroy();
  running.child.stderr?.destroy();
  expect((await running.ended).exit).toBe(0);
  expect((await server.call('GET', '/api/instances/a')).status).toBe(410);
});

test('the shell keeps its folder, tells what woke, survives refusals, and ends with the last exit code', async () => {
  const lines = ['mkdir -p src && cd src', 'pwd', 'echo oops >&2', '', 'cat missing', 'echo last; exit 4'];
  const ended = await cli.run(['shell', 'a'], { input: `${lines.join('\n')}\n` });
  expect(ended.stdout).toBe('/workspace/src\nlast\n');
  expect(ended.stderr).toMatch(/^a woke from cold in [\d.]+ m?s\.\noops\n.*missing.*\n$/s);
  expect(ended.exit).toBe(4);
  expect(await cli.run(['shell', 'a', '--cwd', '/memory'], { input: 'pwd\nexit 9\necho never\n' })).toMatchObject({
    exit: 9,
    stdout: '/memory\n',
  });
  expect((await cli.run(['shell', 'nobody'], { input: 'pwd\n' })).exit).toBe(4);
});

test('the shell continues after a refused line, and ends when the sandbox is gone', async () => {
  const running = cli.start(['shell', 'a']);
  running.child.stdin?.write('echo one\n');
  await expect.poll(running.stdout).toBe('one\n');
  await server.call('POST', '/api/instances/a/archive', {});
  running.child.stdin?.write('echo two\n');
  await expect.poll(running.stderr).toContain('[archived]');
  await server.call('POST', '/api/instances/a/revive', {});
  running.child.stdin?.write('echo three\n');
  await expect.poll(running.stdout).toBe('one\nthree\n');
  await server.call('POST', '/api/instances/a/archive', {});
  await server.call('DELETE', '/api/instances/a');
  running.child.stdin?.write('echo four\n');
  expect(await running.ended).toMatchObject({ exit: 4, stdout: 'one\nthree\n' });
});

test('Ctrl-C in the shell stops the running line and leaves', async () => {
  const running = cli.start(['shell', 'a']);
  running.child.stdin?.write(`${ENDLESS}\n`);
  await expect.poll(running.stdout).toBe('begun\n');
  running.child.kill('SIGINT');
  expect((await running.ended).exit).toBe(130);
  expect((await after()).json.stdout).toBe('');
});
