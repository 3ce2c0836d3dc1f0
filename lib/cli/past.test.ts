/** The commands that look at the past: which moments there are, a file of then, and what has changed since. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FakeClock } from '../base/clock.ts';
import type { Instance } from '../contract/schema.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let bucket: string;
let server: TestServer & { clock: FakeClock };
let cli: CommandLine;
beforeEach(async () => {
  bucket = mkdtempSync(join(tmpdir(), 'winterdock-cli-past-'));
  server = await startServer({ settings: { WB_REPLICA_URL: `file://${bucket}` } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
});
afterEach(async () => {
  cli.remove();
  await server.stop();
  rmSync(bucket, { recursive: true });
});

const ok = async (...args: string[]) => {
  const ended = await cli.run(args);
  expect(ended.exit, ended.stderr).toBe(0);
  return ended;
};
/** Writes, and waits until the replica has it; returns the second. */
const write = async (path: string, text: string): Promise<number> => {
  await server.call('PUT', `/api/instances/sess/volumes/workspace/${path}`, text);
  return vi.waitFor(
    async () => {
      const { recovery_point: point } = (await server.call<Instance>('GET', '/api/instances/sess')).json;
      expect(point).toMatchObject({ behind_s: 0 });
      return point.at as number;
    },
    { timeout: 240_000, interval: 100 },
  );
};

test('moments are listed, a file is printed as it was, and what has changed since is told', async () => {
  await server.call('POST', '/api/instances', { id: 'sess', tenant: 'acme' });
  const then = await write('note', 'before\n');
  server.clock.advance(10);
  await write('note', 'after\n');
  const last = await write('new', 'x');
  const time = new Date(then * 1000).toISOString();

  const listed = await ok('moments', 'sess');
  expect(listed.stdout).toMatch(/^TIME +KIND +GRAIN\n(?:\d{4}-\d\d-\d\dT[\d:.]+Z +(?:commit|filing) +each\n)+$/);
  const { json } = await ok('moments', 'sess', '--around', time, '--limit', '1', '--json');
  expect(json).toMatchObject([{ kind: 'commit', grain_s: 1 }]);

  expect((await ok('cat', 'sess', 'note')).stdout).toBe('after\n');
  const past = await ok('cat', 'sess', 'note', '--at', time);
  expect([past.stdout, past.stderr]).toEqual(['before\n', expect.stringMatching(/^As of 2.*Z\.\n$/)]);
  expect((await ok('files', 'get', 'sess', 'note', '--at', String(then))).stdout).toBe('before\n');
  expect((await ok('files', 'ls', 'sess', '/workspace', '--at', time)).stdout).not.toContain('/workspace/new');
  expect((await ok('files', 'search', 'sess', 'new', '--at', time)).stdout).toBe('');

  const diff = await ok('diff', 'sess', '--since', time);
  expect(diff.stdout).toContain('1 added, 0 removed, 1 changed, 0 as they were.');
  expect(diff.stderr).toMatch(/^Since 2.*Z\.\n$/);
  const between = await ok('diff', 'sess', '--since', time, '--at', time, '--json');
  expect(between.json).toMatchObject({ added: 0, changed: 0, same: 1 });

  const early = await cli.run(['cat', 'sess', 'note', '--at', String(then - 60)]);
  expect([early.exit === 0, early.stderr]).toEqual([false, expect.stringContaining('has no moment')]);
  expect(await cli.run(['cat', 'sess', 'note', '--at', 'yesterday'])).toMatchObject({ exit: 4 });
  expect(last).toBeGreaterThan(then);
});

test('a moment is named, gone back to by its name, that undone, and one file taken back', async () => {
  await server.call('POST', '/api/instances', { id: 'sess', tenant: 'acme' });
  await write('note', 'before');
  const kept = await ok('moments', 'sess', '--name', 'before the change');
  expect(kept.stdout).toMatch(/^sess as of 2\S+Z is kept as “before the change”\.\n$/);
  server.clock.advance(10);
  await write('note', 'after');
  expect((await ok('moments', 'sess', '--named')).stdout).toMatch(
    /^TIME +KIND +GRAIN +NAME\n2\S+Z +named +each +before the change\n$/,
  );
  expect((await ok('cat', 'sess', 'note', '--at', 'before the change')).stdout).toBe('before');
  await server.call('POST', '/api/instances/sess/suspend');
  await server.call('GET', '/api/instances/sess');
  const back = await ok('restore', 'sess', '--at', 'before the change', '--yes', '--reason', 'ticket 7');
  expect(back.stdout).toMatch(
    /^sess is as of 2\S+Z now\. It is suspended\.\nWhat it had is its moment before-restore-/,
  );
  expect((await ok('cat', 'sess', 'note')).stdout).toBe('before');
  const undone = await ok('undo', 'sess', '--yes');
  expect(undone.stdout).toContain('What it had is its moment before-undo-');
  expect((await ok('cat', 'sess', 'note')).stdout).toBe('after');
  const taken = await ok('take-back', 'sess', 'note', '--at', 'before the change');
  expect(taken.stdout).toMatch(/^note is as of 2\S+Z now: 1 file, 6 B\.\n$/);
  expect((await ok('cat', 'sess', 'note')).stdout).toBe('before');
  expect((await ok('moments', 'sess', '--remove', 'before the change')).stdout).toBe(
    '“before the change” is no moment of sess any more.\n',
  );
  expect((await cli.run(['undo', 'sess', '--yes'])).exit).not.toBe(0);
  for (const wrong of [
    ['--at', '5'],
    ['--name', 'a', '--remove', 'b'],
  ]) {
    expect(await cli.run(['moments', 'sess', ...wrong])).toMatchObject({ exit: 2 });
  }
});
