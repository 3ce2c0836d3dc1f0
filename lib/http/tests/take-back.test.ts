/** One file or folder of a moment takes the place of what is there now; exports of a moment; what agents do with it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import { createClient } from '../../client/client.ts';
import { Sandbox } from '../../client/sandbox.ts';
import type { Event, Inspection, Instance, Moment, TakenBack } from '../../contract/schema.ts';
import { connectAgent } from '../../testing/mcp.ts';
import { startServer, TEST_KEY, type TestServer } from '../../testing/server.ts';

let root: string;
let server: TestServer & { clock: FakeClock };
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-take-back-'));
  server = await startServer({
    folder: join(root, 'data'),
    settings: { WB_REPLICA_URL: `file://${join(root, 'bucket')}` },
  });
  await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
});
afterEach(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const call = <T>(method: string, path: string, body?: object | string, options = {}) =>
  server.call<T>(method, `/api/instances/${path}`, body, options);
const exec = async (command: string) =>
  (await call<{ stdout: string }>('POST', 'one/exec', { command })).json.stdout.trimEnd();
const back = <T = TakenBack>(volume: string, body: object, options = {}) =>
  call<T>('POST', `one/volumes/${volume}/take-back`, body, options);
const shipped = (): Promise<number> =>
  vi.waitFor(
    async () => {
      const { recovery_point: point } = (await call<Instance>('GET', 'one')).json;
      expect(point).toMatchObject({ behind_s: 0 });
      return point.at as number;
    },
    { timeout: 240_000, interval: 100 },
  );
/** Names, kinds, modes, times, targets and contents. */
const LOOK = `find /workspace -printf '%P %y %m %T@ %l\\n' | sort; cat $(find /workspace -type f | sort) 2>/dev/null`;

test('a file and a folder come back as they were, with modes, times and links, and nothing else is touched', async () => {
  await exec('mkdir -p src/deep src/empty; echo one > src/a; echo run > src/deep/run; chmod 755 src/deep/run');
  await exec('ln -s deep/run src/link; echo note > note; echo secret > /memory/facts; echo x > /tmp/x');
  await exec('touch -d @1700000000 src/a src/deep src');
  const before = await exec(LOOK);
  const then = await shipped();
  const named = await call<Moment>('PUT', 'one/moments/before', {});
  server.clock.advance(5);
  await exec('rm -r src; mkdir src; echo new > src/new; echo changed > note; echo told > /memory/facts');
  await exec('echo other > other');
  const taken = await back('workspace', { path: '/src', time: then, reason: 'ticket 7' });
  expect([taken.status, taken.json]).toEqual([200, { used: named.json.time_ms / 1000, files: 3, bytes: 8 }]);
  expect(await exec('ls src')).toBe('a\ndeep\nempty\nlink');
  expect(await exec('cat note other')).toBe('changed\nother');
  expect((await back('workspace', { path: '/note', moment: 'before' })).json).toMatchObject({ files: 1, bytes: 5 });
  await exec('rm other');
  const rooted = (text: string) => text.split('\n').filter((line) => !/^ d /.test(line));
  expect(rooted(await exec(LOOK))).toEqual(rooted(before));
  expect(await exec('cat /memory/facts')).toBe('told');
  expect((await back('memory', { path: '/facts', moment: 'before' })).status).toBe(200);
  expect(await exec('cat /memory/facts')).toBe('secret');
  const lines = (await call<Event[]>('GET', 'one/events?type=files.taken_back')).json;
  expect(lines.map(({ reason }) => reason?.replace(/as of \S+:/, 'as of then:')).at(-1)).toBe(
    'ticket 7 (workspace:/src as of then: 3 files, 8 bytes)',
  );
  // All of a volume is a folder too, and a sleeping sandbox wakes.
  await call('POST', 'one/suspend', {});
  await call('PUT', 'one/volumes/workspace/late', 'x');
  expect((await back('workspace', { path: '/', moment: 'before' })).status).toBe(200);
  expect(rooted(await exec(LOOK))).toEqual(rooted(before));
});

test('what was not there, tmp, other rights and a file above it are refused, and nothing changes', async () => {
  await exec('mkdir a; echo x > a/b; echo t > /tmp/t; echo m > /memory/m');
  const then = await shipped();
  server.clock.advance(5);
  await exec('rm -r a; echo file > a');
  const refused = async (volume: string, body: object, options = {}) =>
    (await back<{ code: string }>(volume, body, options)).json.code;
  expect(await refused('workspace', { path: '/nothing', time: then })).toBe('not_found');
  expect(await refused('workspace', { path: '/a/b', time: then })).toBe('conflict');
  expect(await exec('cat a')).toBe('file');
  expect(await refused('tmp', { path: '/t', time: then })).toBe('validation');
  expect(await refused('workspace', { path: '/a', time: then - 3600 })).toBe('moment_gone');
  expect(await refused('workspace', { path: '/a', moment: 'none' })).toBe('not_found');
  for (const body of [
    { path: '/a' },
    { path: '/a', time: 1, moment: 'x' },
    { time: then },
    { path: '../a', time: 1 },
  ]) {
    expect([body, await refused('workspace', body)]).toEqual([body, 'validation']);
  }
  expect(await refused('cellar', { path: '/a', time: then })).toBe('unknown_volume');
  const keyOf = async (role: string, tenant?: string) =>
    (await server.call<{ key: string }>('POST', '/api/keys', { name: role, role, tenant })).json.key;
  const body = { path: '/m', time: then };
  expect(await refused('memory', body, { key: await keyOf('support') })).toBe('forbidden');
  expect(await refused('memory', body, { key: await keyOf('viewer') })).toBe('forbidden');
  expect(await refused('memory', body, { key: await keyOf('tenant', 'globex') })).toBe('not_found');
  expect(await exec('cat /memory/m')).toBe('m');
});

test('an export is of a moment, which its manifest names and its signature covers', async () => {
  await exec('echo then > what');
  const then = await shipped();
  server.clock.advance(5);
  await exec('echo now > what');
  const { status, bytes } = await call('POST', 'one/ship', { at: then });
  expect(status).toBe(200);
  const seen = await server.call<Inspection>('POST', '/api/bundles/inspect', bytes);
  expect(seen.json).toMatchObject({ verified: true, signed: true, manifest: { instance: 'one' } });
  const moment = seen.json.manifest?.moment_ms as number;
  expect(Math.floor(moment / 1000)).toBe(then);
  const made = await server.call<Instance>('POST', '/api/instances/import?tenant=acme', bytes);
  const text = await server.call('GET', `/api/instances/${made.json.id}/volumes/workspace/what`);
  expect([made.status, text.text]).toEqual([201, 'then\n']);
  const gone = await call<{ code: string }>('POST', 'one/ship', { at: then - 3600 });
  expect(gone.json.code).toBe('moment_gone');
});

test('an agent keeps a moment before a risky step, looks, takes a file back, goes back, and undoes that', async () => {
  const key = async () =>
    (await server.call<{ key: string }>('POST', '/api/keys', { name: 'a', role: 'tenant', tenant: 'acme' })).json.key;
  const agent = await connectAgent(server.url, { key: await key() });
  const does = async (tool: string, input: object) => {
    const answer = await agent.call(tool, { id: 'one', ...input });
    expect([tool, answer.isError ? answer.problem : 'done']).toEqual([tool, 'done']);
    return answer;
  };
  const read = async (path: string) => (await does('read_file', { path })).texts;
  try {
    await does('exec', { command: 'echo good > a; echo good > b' });
    const { facts: kept } = await does('name_moment', { name: 'before the step' });
    await does('exec', { command: 'echo bad > a; echo bad > b' });
    const { facts: listed } = await does('list_moments', {});
    expect(listed.moments).toContainEqual(expect.objectContaining({ kind: 'named', name: 'before the step' }));
    expect((await does('read_file', { path: 'a', at: (kept.at as number) + 0.0001 })).texts).toEqual(['good\n']);
    expect((await does('take_back', { path: 'a', moment: 'before the step' })).facts).toMatchObject({ files: 1 });
    expect([await read('a'), await read('b')]).toEqual([['good\n'], ['bad\n']]);
    const { facts: back } = await does('restore_moment', { moment: 'before the step', reason: 'it went wrong' });
    expect(back).toMatchObject({ id: 'one', state: 'suspended', before: expect.stringMatching(/^before-restore-/) });
    expect(await read('b')).toEqual(['good\n']);
    await does('undo_restore', {});
    expect(await read('b')).toEqual(['bad\n']);
    for (const wrong of [{}, { moment: 'before the step', at: 5 }]) {
      expect((await agent.call('restore_moment', { id: 'one', ...wrong })).problem.code).toBe('validation');
    }
    expect((await agent.call('name_moment', { id: 'one', name: 'before-undo-x' })).problem.code).toBe('validation');
  } finally {
    await agent.close();
  }
});

test('the sandbox object keeps a checkpoint, goes back to it, and undoes that', async () => {
  const client = createClient({ url: server.url, key: TEST_KEY });
  const box = await Sandbox.connect('one', { client });
  await box.files.write('a', 'first');
  expect(await box.checkpoint('v1')).toMatchObject({ kind: 'named', name: 'v1' });
  await box.files.write('a', 'second');
  const back = await box.restore('v1', { reason: 'ticket 7' });
  expect([back.instance.state, await box.files.read('a')]).toEqual(['suspended', 'first']);
  await box.resume();
  expect((await box.undo()).undo?.moment).toMatch(/^before-undo-/);
  expect(await box.files.read('a')).toBe('second');
  await expect(box.restore('none')).rejects.toMatchObject({ code: 'not_found' });
});
