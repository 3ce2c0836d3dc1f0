import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { badNetwork } from '../client/testing/bad-network.ts';
import { hadBefore } from '../testing/earlier.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { EXIT_CODES, exitCodeOfError } from './exit-codes.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeEach(async () => {
  server = await startServer({ settings: { WB_MAX_ACTIVE: '1', WB_MAX_FILE: '1024', WB_POOL: '0' } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
});
afterEach(async () => {
  cli.remove();
  await server.stop();
});

/** The exit code and the code of the error that --json tells on stderr. */
const failed = async (...args: string[]) => {
  const ended = await cli.run([...args, '--json'], { input: 'x'.repeat(2000) });
  expect(ended.stdout).toBe('');
  const { error } = JSON.parse(ended.stderr);
  expect(error.exit).toBe(ended.exit);
  return [ended.exit, error.code];
};

test('every class of failure has its exit code', async () => {
  expect((await cli.run(['no-such-command'])).exit).toBe(2);
  expect((await cli.run(['show'])).exit).toBe(2);
  expect(await failed('set', 'a', '--idle-to-suspend', 'soon')).toEqual([2, 'usage']);
  expect(await failed('list', '--state', 'paused')).toEqual([6, 'validation']);
  expect(await failed('show', 'nobody')).toEqual([4, 'not_found']);
  expect(await failed('create', 'a', '--tenant', 'acme')).toEqual([5, 'conflict']);
  expect(await failed('create', 'B!', '--tenant', 'acme')).toEqual([6, 'validation']);
  expect(await failed('files', 'put', 'a', '-', 'big')).toEqual([6, 'too_large']);

  const wrong = await cli.run(['list'], { env: { WINTERDOCK_KEY: 'wrong' } });
  expect(wrong).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining(
      `[unauthorized]\n  Set WINTERDOCK_KEY, or log in: winterdock login ${server.url} --key-file`,
    ),
  });
  const keyless = await cli.run(['list'], { env: { WINTERDOCK_KEY: '' } });
  expect(keyless).toMatchObject({ exit: 3, stderr: expect.stringContaining(`There is no key for ${server.url}.`) });
  expect(keyless.stderr).toContain(`Set WINTERDOCK_KEY, or log in: winterdock login ${server.url} --key-file`);
  const scheme = await cli.run(['list', '--url', 'ftp://dock.example']);
  expect(scheme).toMatchObject({ exit: 2, stderr: expect.stringContaining('neither an http nor an https address') });
  const nobody = await cli.run(['list'], { env: { WINTERDOCK_URL: 'http://127.0.0.1:4' } });
  expect(nobody).toMatchObject({ exit: 10, stderr: expect.stringContaining('ECONNREFUSED') });
});

test('refusals of sandboxes have theirs: a policy, an archived one, a full machine, a fault, a deleted one', async () => {
  await cli.run(['create', 'b', '--tenant', 'acme']);
  await hadBefore(server.host, 'b', { policy: 'compute' });
  expect((await cli.run(['exec', 'b', 'true'])).exit).toBe(3);
  await cli.run(['suspend', 'b', '--yes']);
  await cli.run(['create', 'c', '--tenant', 'acme', '--keep-hot']);
  await cli.run(['exec', 'c', 'true']);
  await cli.run(['set', 'c', '--keep-hot']);
  const full = await cli.run(['exec', '--json', 'a', 'true']);
  expect([full.exit, JSON.parse(full.stderr).error.code]).toEqual([8, 'capacity']);
  await cli.run(['suspend', 'c']);
  rmSync(join(server.folder, 'live', 'c'), { recursive: true });
  const lost = await cli.run(['exec', '--json', 'c', 'true']);
  expect([lost.exit, JSON.parse(lost.stderr).error.code]).toEqual([9, 'missing_file']);
  await cli.run(['resume', 'a']);
  await cli.run(['archive', 'a']);
  expect((await cli.run(['exec', 'a', 'true'])).exit).toBe(5);
  await cli.run(['delete', 'a', '--yes']);
  expect((await cli.run(['exec', 'a', 'true'])).exit).toBe(4);
});

test('too many requests, for longer than one waits, exit as a limit', async () => {
  const network = await badNetwork(server.url);
  network.next.push('limited', 'limited', 'limited');
  const ended = await cli.run(['list'], { env: { WINTERDOCK_URL: network.url } });
  await network.close();
  expect(ended).toMatchObject({ exit: 7, stderr: expect.stringContaining('[rate_limited]') });
});

test('a failure is reported with its message, code and hint', async () => {
  const { stderr } = await cli.run(['create', 'B!', '--tenant', 'acme', '--policy', 'x'.repeat(80)]);
  expect(stderr).toMatch(/^winterdock: .+ \[validation\]\n {2}id: must be .+\n {2}policy: .+\n/);
  expect(stderr).not.toContain('    at ');
  const unknown = await cli.run(['create', 'x', '--tenant', 'acme', '--policy', 'possix']);
  expect(unknown).toMatchObject({
    exit: 6,
    stderr: expect.stringContaining('there are posix, minimal, compute, network and native'),
  });
  const one = await cli.run(['list', '--state', 'paused']);
  expect(one.stderr.match(/must be one of created, active/g)).toHaveLength(1);
});

test('codes of a newer server exit by their status', () => {
  expect(exitCodeOfError('something_new', 409)).toBe(5);
  expect(exitCodeOfError('something_new', 418)).toBe(1);
  expect(new Set(EXIT_CODES.map(({ exit }) => exit)).size).toBe(EXIT_CODES.length);
});
