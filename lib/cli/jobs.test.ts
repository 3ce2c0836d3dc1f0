import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeEach(async () => {
  server = await startServer({ settings: { WB_POOL: '0' } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  for (const [id, tenant] of [
    ['a', 'acme'],
    ['b', 'acme'],
    ['c', 'globex'],
  ]) {
    await server.call('POST', '/api/instances', { id, tenant });
  }
});
afterEach(async () => {
  cli.remove();
  await server.stop();
});

const stateOf = async (id: string) => (await server.call('GET', `/api/instances/${id}`)).json.state;

test('a job is shown before it begins, is done by the server, and tells what became of each', async () => {
  const dry = await cli.run(['jobs', 'start', 'archive', '--tenant', 'acme', '--dry-run']);
  expect(dry).toMatchObject({ exit: 0, stdout: '' });
  expect(dry.stderr).toContain('archive: 2 of 2 that match.\n  2 × created → active → archived\n');
  const unasked = await cli.run(['jobs', 'start', 'archive', '--tenant', 'acme']);
  expect(unasked).toMatchObject({ exit: 2, stderr: expect.stringContaining('--yes') });
  expect(await stateOf('a')).toBe('created');
  for (const nobody of [[], ['a', '--everything']]) {
    expect((await cli.run(['jobs', 'start', 'delete', '--yes', ...nobody])).exit).toBe(2);
  }

  const done = await cli.run(['jobs', 'start', 'archive', '--tenant', 'acme', '--yes', '--json']);
  expect(done).toMatchObject({ exit: 0, json: { verb: 'archive', state: 'done', chosen: 2, done: 2, failed: 0 } });
  expect([await stateOf('a'), await stateOf('b'), await stateOf('c')]).toEqual(['archived', 'archived', 'created']);
  const id = String(done.json.id);
  expect((await cli.run(['jobs', 'list'])).stdout).toMatch(new RegExp(`^${id} +archive +done +2 of 2`, 'm'));
  expect((await cli.run(['jobs', 'show', id])).stdout).toMatch(/^for +tenant acme$/m);
  expect((await cli.run(['jobs', 'results', id])).stdout).toMatch(/^a +done\nb +done$/m);
  expect((await cli.run(['jobs', 'start', 'archive', 'a', '--yes'])).exit).toBe(5);
  expect((await cli.run(['jobs', 'cancel', id, '--json'])).json).toMatchObject({ state: 'done' });
});

test('a typed filter and options choose together, a wrong one chooses nothing, and held ones are set apart', async () => {
  await server.call('PATCH', '/api/instances/a', { keep_hot: true, labels: { env: 'prod' } });
  const filter = 'tenant:acme state:created idle:<1h';
  const listed = await cli.run(['list', '--filter', filter, '--json']);
  expect((listed.json as unknown as { id: string }[]).map(({ id }) => id).sort()).toEqual(['a', 'b']);
  expect((await cli.run(['list', '--filter', 'label:env=prod', '--idle-under', '1h', '--json'])).json).toHaveLength(1);
  expect((await cli.run(['list', '--idle-over', '1d', '--json'])).json).toEqual([]);
  for (const [wrong, says] of [
    ['state:', 'needs a value'],
    ['state:asleep', 'is no state'],
    ['idle:>soon', 'is no length of time'],
  ] as const) {
    const refused = await cli.run(['list', '--filter', wrong]);
    expect(refused).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining(says) });
    expect((await cli.run(['jobs', 'start', 'delete', '--filter', wrong, '--yes'])).exit).toBe(2);
  }
  expect((await cli.run(['list', '--filter', 'state:created', '--state', 'active'])).exit).toBe(2);

  const archive = ['jobs', 'start', 'archive', '--filter', filter];
  const dry = await cli.run([...archive, '--dry-run']);
  expect(dry.stderr).toContain('archive: 1 of 2 that match.');
  expect(dry.stderr).toContain('Set apart, 1: It is kept hot. --include-held takes them in.');
  await cli.run([...archive, '--yes']);
  expect([await stateOf('a'), await stateOf('b')]).toEqual(['created', 'archived']);
  await cli.run([...archive, '--include-held', '--yes']);
  expect(await stateOf('a')).toBe('archived');
});

test('labels are set and taken away for many, by ids', async () => {
  await cli.run(['jobs', 'start', 'label', 'a', 'c', '--set', 'team=red', '--yes']);
  expect((await cli.run(['list', '--label', 'team=red', '--json'])).json).toHaveLength(2);
  await cli.run(['jobs', 'start', 'label', '--label', 'team=red', '--unset', 'team', '--yes']);
  expect((await cli.run(['list', '--label', 'team=red', '--json'])).json).toEqual([]);
});

test('tenants and settings are shown and changed', async () => {
  expect((await cli.run(['tenants', 'list'])).stdout).toMatch(/^acme +2 +0 +0 +0 B\nglobex +1 /m);
  const set = await cli.run(['tenants', 'set', 'acme', '--max-sandboxes', '2', '--idle-to-suspend', '5m']);
  expect(set.stdout).toMatch(/^sandboxes +2 of 2$/m);
  expect(set.stdout).toMatch(/^suspended after +5 min\nfrozen after +24 h, as for all$/m);
  expect((await cli.run(['create', 'd', '--tenant', 'acme'])).exit).toBe(7);
  expect((await cli.run(['tenants', 'set', 'acme', '--max-sandboxes', 'none'])).stdout).toMatch(/2, no limit/);
  expect((await cli.run(['create', 'd', '--tenant', 'acme'])).exit).toBe(0);
  expect((await cli.run(['tenants', 'set', 'acme'])).exit).toBe(2);
  expect((await cli.run(['tenants', 'show', 'nobody'])).exit).toBe(4);
  expect((await cli.run(['settings', 'set', '--hot-to-warm', '0', '--idle-to-suspend', '10m', '--json'])).json).toEqual(
    {
      hot_to_warm_s: 0,
      idle_to_suspend_s: 600,
      idle_to_freeze_s: 86_400,
    },
  );
  expect((await cli.run(['settings', 'show'])).stdout).toMatch(/^suspended after +10 min idle$/m);
});
