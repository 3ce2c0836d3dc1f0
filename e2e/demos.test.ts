import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FakeClock } from '../lib/base/clock.ts';
import { startServer, type TestServer } from '../lib/testing/server.ts';

let server: TestServer & { clock: FakeClock };

beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.stop());

const create = (id: string, extra: Record<string, unknown> = {}) =>
  server.call('POST', '/api/instances', { id, tenant: 'acme', ...extra });
const verb = (id: string, name: string, body: Record<string, unknown> = {}) =>
  server.call('POST', `/api/instances/${id}/${name}`, body);
const stateOf = async (id: string) => (await server.call('GET', `/api/instances/${id}`)).json.state;
const put = (id: string, volume: string, path: string, text: string) =>
  server.call('PUT', `/api/instances/${id}/volumes/${volume}${path}`, text);
const get = (id: string, volume: string, path: string) =>
  server.call('GET', `/api/instances/${id}/volumes/${volume}${path}`);

test('resume: created, then cold, then already active, and the state follows', async () => {
  expect((await create('sess-841', { policy: 'minimal' })).json).toMatchObject({ state: 'created', tenant: 'acme' });
  const first = await verb('sess-841', 'resume');
  expect(first).toMatchObject({
    status: 200,
    json: { path: 'cold', source: 'fresh', vfs_path: 'live/sess-841/vfs.sqlite' },
  });
  const second = await verb('sess-841', 'resume');
  expect(second).toMatchObject({ status: 200, json: { path: 'warm', result: 'already_active' } });
  expect(await stateOf('sess-841')).toBe('active');
  const again = await create('sess-841');
  expect(again).toMatchObject({ status: 409, json: { code: 'conflict' } });
  expect(await stateOf('sess-841')).toBe('active');
});

test('auto transitions: sixteen idle minutes suspend, fresh ones stay, two suspended days freeze, frozen stays', async () => {
  await create('idle');
  await create('fresh');
  await verb('idle', 'resume');
  server.clock.advance(16 * 60);
  await verb('fresh', 'resume');
  await server.host.sandboxes.tick();
  expect([await stateOf('idle'), await stateOf('fresh')]).toEqual(['suspended', 'active']);
  server.clock.advance(2 * 86_400);
  await server.host.sandboxes.tick();
  expect(await stateOf('idle')).toBe('frozen');
  server.clock.advance(400 * 86_400);
  await server.host.sandboxes.tick();
  expect(await stateOf('idle')).toBe('frozen');
});

test('volumes: the same path in three; after freeze and resume workspace and memory are back and tmp is gone', async () => {
  await create('a');
  await put('a', 'workspace', '/note', 'the workbook files');
  await put('a', 'memory', '/note', 'what the agent learned');
  await put('a', 'tmp', '/note', 'scratch');
  await verb('a', 'suspend');
  await verb('a', 'freeze');
  expect((await get('a', 'tmp', '/note')).text).toBe('scratch');
  expect(await stateOf('a')).toBe('frozen');
  await verb('a', 'resume');
  expect((await get('a', 'workspace', '/note')).text).toBe('the workbook files');
  expect((await get('a', 'memory', '/note')).text).toBe('what the agent learned');
  expect((await get('a', 'tmp', '/note')).status).toBe(404);
});

test('isolation: each sandbox sees its own files and none of another, in every language', async () => {
  for (const id of ['acme-512', 'globex-513']) {
    await create(id);
    await put(id, 'workspace', '/own', `of ${id}`);
  }
  for (const [id, other] of [
    ['acme-512', 'globex-513'],
    ['globex-513', 'acme-512'],
  ] as const) {
    const shell = await verb(id, 'exec', {
      command: `cat own; cat ../${other}/vfs.sqlite /data/live/${other}/vfs.sqlite; ls / /proc; env`,
    });
    expect(shell.json.stdout).toContain(`of ${id}`);
    const js = await verb(id, 'eval', {
      language: 'js',
      code: `[vfs.get('/own'), typeof process, typeof require, await fetch('${server.url}').catch(({ message }) => message), (() => { try { return vfs.get('/../${other}/own') } catch (error) { return null } })()]`,
    });
    expect(js.json.value).toEqual([`of ${id}`, 'undefined', 'undefined', expect.stringContaining('no network'), null]);
    const python = await verb(id, 'eval', {
      language: 'python',
      code: 'import os\nprint(open("/workspace/own").read())\nprint(sorted(os.listdir("/")))\nprint(dict(os.environ))\nprint(os.path.exists("/etc/passwd"), os.path.exists("/data"))',
    });
    expect(python.json.stdout).toContain(`of ${id}`);
    for (const said of [shell.text, js.text, python.text]) {
      expect(said).not.toContain(`of ${other}`);
      expect(said).not.toContain(server.folder);
      expect(said).not.toMatch(/root:x:0|WB_ADMIN_KEY|node_modules/);
    }
  }
});

test('runaway: an endless loop ends with its time while every other sandbox keeps answering', async () => {
  await create('runaway', { policy: 'minimal' });
  await create('neighbour');
  await put('runaway', 'workspace', '/x', 'kept');
  await verb('neighbour', 'resume');
  const runaway = verb('runaway', 'exec', { command: 'while true; do :; done', timeout_ms: 1500 });
  for (let n = 0; n < 10; n += 1) {
    const answer = await verb('neighbour', 'exec', { command: `echo ${n}` });
    expect(answer.json).toMatchObject({ stdout: `${n}\n`, woke: 'hot' });
    expect((await get('runaway', 'workspace', '/x')).text).toBe('kept');
  }
  expect(await runaway).toMatchObject({ status: 200, json: { exit_code: 124, timed_out: true } });
  expect((await verb('runaway', 'exec', { command: 'cat x' })).json.stdout).toBe('kept');
});

test('common mistakes: a refused hop, an unknown id, a filter and a deleted sandbox each get their own answer', async () => {
  await create('a', { labels: { team: 'red' } });
  await create('b', { labels: { team: 'blue' } });
  expect(await verb('a', 'freeze')).toMatchObject({
    status: 409,
    json: { code: 'invalid_transition', from: 'created', to: 'frozen', allowed: ['active'] },
  });
  expect(await verb('nobody', 'resume')).toMatchObject({ status: 404, json: { code: 'not_found' } });
  const red = await server.call('GET', '/api/instances?label=team:red');
  expect(red.json).toMatchObject([{ id: 'a' }]);
  expect(red.headers['x-total-count']).toBe('1');
  await verb('a', 'resume');
  await verb('a', 'archive', { reason: 'done with it' });
  expect(await verb('a', 'exec', { command: 'true' })).toMatchObject({ status: 409, json: { code: 'archived' } });
  expect((await server.call('GET', '/api/instances')).json).toHaveLength(2);
  expect((await server.call('DELETE', '/api/instances/a')).status).toBe(204);
  expect(await verb('a', 'resume')).toMatchObject({ status: 410, json: { code: 'gone' } });
  expect(await create('a')).toMatchObject({ status: 409 });
});
