import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeEach(async () => {
  server = await startServer();
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
});
afterEach(async () => {
  cli.remove();
  await server.stop();
});

test('a schedule is made, listed, paused, run now, told of and removed', async () => {
  const zone = ['--timezone', 'Europe/Berlin'];
  const made = await cli.run(['schedule', 'add', 'a', 'echo hi > hi', '--cron', '0 3 * * *', ...zone, '--json']);
  expect(made).toMatchObject({ exit: 0, json: { cron: '0 3 * * *', command: 'echo hi > hi', missed: 'skip' } });
  const id = String(made.json.id);
  expect((await cli.run(['schedule', 'list', 'a'])).stdout).toMatch(
    new RegExp(`^${id} +0 3 \\* \\* \\* +Europe/Berlin +on +\\d{4}-.* echo hi > hi$`, 'm'),
  );
  expect((await cli.run(['schedule', 'pause', 'a', id])).stdout).toMatch(/^state +paused$/m);
  expect((await cli.run(['schedule', 'resume', 'a', id])).stdout).toMatch(/^state +on$/m);
  const run = await cli.run(['schedule', 'run', 'a', id]);
  expect(run).toMatchObject({ exit: 0, stdout: expect.stringMatching(/^result +done\nexit +0$/m) });
  expect((await server.call('GET', '/api/instances/a/volumes/workspace/hi')).text).toBe('hi\n');
  expect((await cli.run(['schedule', 'history', 'a', id])).stdout).toMatch(/^run-\w+ +asked for +.* done/m);
  expect((await cli.run(['schedule', 'remove', 'a', id])).exit).toBe(0);
  expect((await cli.run(['schedule', 'list', 'a'])).stderr).toContain('No schedules.');
});

test('a time without an offset is that of the zone, also where the clocks change', async () => {
  const at = async (time: string, ...zone: string[]) => {
    const made = await cli.run(['schedule', 'add', 'a', 'true', '--at', time, ...zone, '--paused', '--json']);
    return made.exit === 0 ? new Date(Number(made.json.at) * 1000).toISOString() : made.exit;
  };
  const berlin = ['--timezone', 'Europe/Berlin'];
  expect(await at('2031-07-01T03:00:00', ...berlin)).toBe('2031-07-01T01:00:00.000Z');
  expect(await at('2031-07-01 03:00', ...berlin)).toBe('2031-07-01T01:00:00.000Z');
  expect(await at('2031-07-01T03:00:00Z', ...berlin)).toBe('2031-07-01T03:00:00.000Z');
  expect(await at('2031-07-01T03:00:00')).toBe('2031-07-01T03:00:00.000Z');
  expect(await at('2031-03-30T02:30', ...berlin)).toBe('2031-03-30T01:30:00.000Z');
  expect(await at('2031-10-26T02:30', ...berlin)).toBe('2031-10-26T00:30:00.000Z');
  expect(await at('2031-02-30T03:00')).toBe(2);
  expect(await at('2031-07-01T03:00', '--timezone', 'Mars/Olympus')).toBe(2);
});

test('a run that fails has its own exit code and says why, and wrong times are refused', async () => {
  const made = await cli.run([
    'schedule',
    'add',
    'a',
    'exit 3',
    '--at',
    '2030-01-01T00:00:00Z',
    '--repeat',
    '+1d',
    '--json',
  ]);
  expect(made).toMatchObject({ exit: 0, json: { at: 1_893_456_000, repeat: '+1d', next_at: 1_893_456_000 } });
  const run = await cli.run(['schedule', 'run', 'a', String(made.json.id)]);
  expect(run).toMatchObject({ exit: 5, stdout: expect.stringContaining('exit code 3') });
  expect((await cli.run(['schedule', 'add', 'a', 'true', '--at', 'tomorrow'])).exit).toBe(2);
  const wrong = await cli.run(['schedule', 'add', 'a', 'true', '--cron', '61 * * * *']);
  expect(wrong.stderr).toContain('minute');
  expect(
    (await cli.run(['schedule', 'add', 'a', '--cron', '* * * * *', '--component', 'x', '--input', '1'])).exit,
  ).toBe(2);
});
