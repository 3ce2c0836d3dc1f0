import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeEach(async () => {
  server = await startServer({ settings: { WB_MAX_ACTIVE: '4' } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await server.call('PUT', '/api/instances/a/volumes/workspace/note', 'kept');
});
afterEach(async () => {
  cli.remove();
  await server.stop();
});

/** Runs a command line that must succeed. */
const ok = async (...args: string[]) => {
  const ended = await cli.run(args);
  expect(ended.exit, ended.stderr).toBe(0);
  return ended;
};
const idsOf = (stdout: string) =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ')[0] ?? '');

test('a snapshot is taken, listed, shown, restored and deleted', async () => {
  const snapshot = (await ok('snapshot', 'a', '--tag', 'before', '--json')).json;
  expect(snapshot).toMatchObject({ source: 'a', tag: 'before' });
  const id = String(snapshot.id);
  expect((await ok('snapshots', 'list', '--source', 'a', '--json')).json).toMatchObject([{ id }]);
  expect((await ok('snapshots', 'list')).stdout).toMatch(new RegExp(`^${id} +acme +a .*before$`, 'm'));
  expect((await ok('snapshots', 'show', id)).stdout).toMatch(/^hash +sha256:[0-9a-f]{64}$/m);
  const restored = await ok('restore', id, '--name', 'copy', '--count', '2');
  expect(restored.stdout).toMatch(/^\S+ {2}copy-1\n\S+ {2}copy-2\n$/);
  for (const made of idsOf(restored.stdout)) expect((await ok('files', 'get', made, 'note')).stdout).toBe('kept');
  const tree = (await ok('lineage', id, '--of', 'snapshot')).stdout.split('\n');
  expect(tree[0]).toMatch(/^instance a /);
  expect(tree[1]).toMatch(new RegExp(`^ {2}snapshot ${id} before `));
  expect(tree.slice(2, 4).every((line) => /^ {4}instance \S+ copy-\d/.test(line))).toBe(true);
  expect((await ok('lineage', 'a', '--json')).json.nodes).toHaveLength(4);
  expect((await cli.run(['lineage', 'a', '--of', 'world'])).exit).toBe(2);
  expect((await cli.run(['snapshots', 'delete', id])).exit).toBe(2);
  await ok('snapshots', 'delete', id, '--yes');
  expect((await cli.run(['restore', id])).exit).toBe(4);
});

test('many are restored, started and waited for, with their progress', async () => {
  const { id } = (await ok('snapshot', 'a', '--json')).json;
  const made = await ok('restore', String(id), '--count', '3', '--start', '--wait', '--progress');
  expect(made.stderr).toContain('active: 3 of 3');
  const active = (await ok('list', '--state', 'active', '--json')).json as unknown as { id: string }[];
  expect(active.map((instance) => instance.id)).toEqual(expect.arrayContaining(idsOf(made.stdout)));
  expect((await cli.run(['restore', String(id), '--wait'])).exit).toBe(2);
});

test('sandboxes that could not be started are reported', async () => {
  const { id } = (await ok('snapshot', 'a', '--json')).json;
  const ended = await cli.run(['restore', String(id), '--count', '12', '--start', '--wait']);
  expect(idsOf(ended.stdout)).toHaveLength(12);
  const active = await server.call('GET', '/api/instances?state=active');
  expect(Number(active.headers['x-total-count'])).toBeLessThan(12);
  expect(ended).toMatchObject({ exit: 9, stderr: expect.stringContaining('Not all are active') });
});

test('a blueprint is made of a sandbox or of a file, listed, cloned and deleted', async () => {
  expect((await ok('blueprints', 'create', 'base', '--from', 'a', '--json')).json).toMatchObject({ name: 'base' });
  await ok('suspend', 'a');
  const file = join(server.folder, 'live', 'a', 'vfs.sqlite');
  expect(readFileSync(file).length).toBeGreaterThan(0);
  const made = await ok('blueprints', 'create', 'bare', '--file', file, '--progress');
  expect(made.stderr).toMatch(/bare: .* 100 %/);
  expect((await cli.run(['blueprints', 'create', 'none'])).exit).toBe(2);
  expect((await ok('blueprints', 'list', '--json')).json).toMatchObject([{ name: 'bare' }, { name: 'base' }]);
  for (const name of ['base', 'bare']) {
    const [clone = ''] = idsOf((await ok('clone', name, '--tenant', 'acme')).stdout);
    expect((await ok('files', 'get', clone, 'note')).stdout).toBe('kept');
  }
  expect((await ok('blueprints', 'show', 'base')).stdout).toMatch(/^instances +1$/m);
  await ok('blueprints', 'delete', 'base', '--yes');
  expect((await cli.run(['clone', 'base', '--tenant', 'acme'])).exit).toBe(4);
});
