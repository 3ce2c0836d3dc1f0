import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import type { Instance, ResumeAnswer } from '../../contract/schema.ts';
import { instanceSchema, resumeAnswerSchema } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer & { clock: FakeClock };
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const call: TestServer['call'] = (...args) => server.call(...args);
const states = async (id: string) => (await call<Instance>('GET', `/api/instances/${id}`)).json.state;

test('a created instance shows the whole contract and has neither process nor file', async () => {
  const created = await call<Instance>('POST', '/api/instances', {
    id: 'first',
    tenant: 'acme',
    name: 'First light',
    labels: { team: 'core' },
    hot_to_warm_s: 5,
    idle_to_suspend_s: 60,
  });
  expect(created.status).toBe(201);
  expect(created.headers.location).toBe('/api/instances/first');
  expect(instanceSchema.strict().parse(created.json)).toEqual({
    id: 'first',
    tenant: 'acme',
    name: 'First light',
    state: 'created',
    thermal: 'cold',
    warm_since: null,
    fault: null,
    fault_reason: null,
    pending: null,
    pending_since: null,
    interrupted: false,
    vfs_path: null,
    updated: server.clock.now() / 1000,
    created: server.clock.now() / 1000,
    state_since: server.clock.now() / 1000,
    idle_seconds: 0,
    next: null,
    keep_hot: false,
    hold_until: null,
    ephemeral: false,
    policy: 'posix',
    hot_to_warm_s: 5,
    idle_to_suspend_s: 60,
    idle_to_freeze_s: null,
    attached: 0,
    calls: 0,
    bytes: null,
    labels: { team: 'core' },
    workbook: null,
    workbook_version: null,
    lineage: { blueprint: null, snapshot: null, parent: null },
    stored: null,
    upload: 'none',
    replicate: 'off',
    replicate_from_next_wake: false,
    own_replicate: null,
    recovery_point: { at: null, behind_s: null, as: 'none' },
    host: null,
    term: null,
    unreachable: null,
  });
  expect((await call('GET', '/instances/first')).json).toEqual(created.json);
});

test('an id is made when none is given, a taken one is refused and never resets the row', async () => {
  const made = await call<Instance>('POST', '/instances', { tenant: 'acme' });
  expect(made.json.id).toMatch(/^sb-[0-9a-z]{10}$/);
  await call('POST', '/api/instances', { id: 'taken', tenant: 'acme' });
  await call('POST', '/api/instances/taken/resume');
  const again = await call('POST', '/api/instances', { id: 'taken', tenant: 'other' });
  expect([again.status, again.json.code]).toEqual([409, 'conflict']);
  expect(await call<Instance>('GET', '/api/instances/taken')).toMatchObject({
    json: { state: 'active', tenant: 'acme' },
  });
});

test('a name is taken within its tenant only', async () => {
  const named = (tenant: string) => call('POST', '/api/instances', { tenant, name: 'the one' });
  expect((await named('acme')).status).toBe(201);
  expect((await named('acme')).json.code).toBe('conflict');
  expect((await named('other')).status).toBe(201);
});

test('an in-memory instance is always ephemeral', async () => {
  const memory = await call<Instance>('POST', '/api/instances', {
    tenant: 'acme',
    ephemeral: false,
    vfs_path: ':memory:',
  });
  expect(memory.json).toMatchObject({ ephemeral: true, vfs_path: ':memory:' });
});

test('the demo: resumed cold, then already active', async () => {
  await call('POST', '/api/instances', { id: 'demo', tenant: 'acme' });
  const cold = await call<ResumeAnswer>('POST', '/api/instances/demo/resume');
  expect(resumeAnswerSchema.parse(cold.json)).toMatchObject({
    path: 'cold',
    source: 'fresh',
    vfs_path: 'live/demo/vfs.sqlite',
    instance: { id: 'demo', state: 'active', thermal: 'hot' },
  });
  expect(cold.json).not.toHaveProperty('result');
  const warm = await call<ResumeAnswer>('POST', '/api/instances/demo/resume');
  expect(warm.json).toMatchObject({ path: 'warm', result: 'already_active', vfs_path: 'live/demo/vfs.sqlite' });
  expect(warm.json).not.toHaveProperty('source');
});

test('the verbs move along the map one hop at a time, and a state it is in already changes nothing', async () => {
  const post = (verb: string) => call<Instance>('POST', `/api/instances/mover/${verb}`, { reason: 'a move' });
  await call('POST', '/api/instances', { id: 'mover', tenant: 'acme' });
  await post('resume');
  for (const [verb, state] of [
    ['suspend', 'suspended'],
    ['suspend', 'suspended'],
    ['freeze', 'frozen'],
    ['freeze', 'frozen'],
    ['archive', 'archived'],
    ['archive', 'archived'],
    ['revive', 'active'],
    ['archive', 'archived'],
  ]) {
    const answer = await post(verb ?? '');
    expect([verb, answer.status, answer.json.state, answer.json.thermal]).toEqual([
      verb,
      200,
      state,
      state === 'active' ? 'hot' : 'cold',
    ]);
  }
  const reasons = await call<{ reason: string | null; type: string }[]>(
    'GET',
    '/api/instances/mover/events?type=transition',
  );
  expect(reasons.json).toHaveLength(6);
  expect(reasons.json.slice(0, 5).every(({ reason }) => reason === 'a move')).toBe(true);
});

test('a hop that the map lacks is refused with the allowed ones', async () => {
  await call('POST', '/api/instances', { id: 'stuck', tenant: 'acme' });
  await call('POST', '/api/instances/stuck/resume');
  const frozen = await call('POST', '/api/instances/stuck/freeze');
  expect([frozen.status, frozen.json]).toMatchObject([
    409,
    { code: 'invalid_transition', from: 'active', to: 'frozen', allowed: ['suspended', 'archived'] },
  ]);
  const gone = await call('DELETE', '/api/instances/stuck');
  expect([gone.status, gone.json.code]).toEqual([409, 'invalid_transition']);
  expect(await states('stuck')).toBe('active');
});

test('after its deletion everything under an instance is gone, and its id is never used again', async () => {
  await call('POST', '/api/instances', { id: 'ended', tenant: 'acme', name: 'ended' });
  await call('POST', '/api/instances/ended/resume');
  await call('POST', '/api/instances/ended/archive');
  const deleted = await call('DELETE', '/api/instances/ended');
  expect([deleted.status, deleted.text]).toEqual([204, '']);
  for (const [method, path, body] of [
    ['GET', ''],
    ['PATCH', '', {}],
    ['DELETE', ''],
    ['POST', '/resume'],
    ['POST', '/prefetch'],
    ['POST', '/suspend'],
    ['POST', '/freeze'],
    ['POST', '/archive'],
    ['POST', '/revive'],
    ['POST', '/exec', { command: 'true' }],
    ['POST', '/eval', { language: 'js', code: '1' }],
    ['GET', '/events'],
    ['GET', '/volumes'],
    ['GET', '/volumes/workspace'],
    ['GET', '/volumes/workspace/a'],
    ['PUT', '/volumes/workspace/a', 'x'],
    ['DELETE', '/volumes/workspace/a'],
    ['POST', '/volumes/workspace/move', { from: '/a', to: '/b' }],
    ['GET', '/search?q=a'],
    ['POST', '/query', { sql: 'SELECT 1' }],
  ] as const) {
    const answer = await call(method, `/api/instances/ended${path}`, body);
    expect([method, path, answer.status, answer.json.code]).toEqual([method, path, 410, 'gone']);
  }
  expect((await call('POST', '/api/instances', { id: 'ended', tenant: 'acme' })).json.code).toBe('conflict');
  expect((await call('POST', '/api/instances', { tenant: 'acme', name: 'ended' })).status).toBe(201);
  expect((await call<Instance[]>('GET', '/api/instances?state=deleted')).json.map(({ id }) => id)).toContain('ended');
});

test('an unknown instance is not found, by any route', async () => {
  for (const [method, path, body] of [
    ['GET', ''],
    ['PATCH', '', {}],
    ['DELETE', ''],
    ['POST', '/resume'],
    ['POST', '/prefetch'],
    ['POST', '/suspend'],
    ['POST', '/exec', { command: 'true' }],
    ['GET', '/events'],
    ['GET', '/volumes'],
    ['PUT', '/volumes/tmp/a', 'x'],
    ['POST', '/query', { sql: 'SELECT 1' }],
  ] as const) {
    const answer = await call(method, `/api/instances/nobody${path}`, body);
    expect([method, path, answer.status, answer.json.code]).toEqual([method, path, 404, 'not_found']);
  }
});

test('a patch changes what it names and nothing else', async () => {
  await call('POST', '/api/instances', { id: 'patched', tenant: 'acme', name: 'before', labels: { a: '1' } });
  const patch = {
    name: null,
    keep_hot: true,
    hold_until: 1_800_000_000,
    hot_to_warm_s: 0,
    idle_to_freeze_s: 100,
    policy: 'minimal',
    workbook: null,
  };
  const changed = await call<Instance>('PATCH', '/api/instances/patched', patch);
  expect(changed.json).toMatchObject({ ...patch, labels: { a: '1' }, state: 'created' });
  const back = await call<Instance>('PATCH', '/api/instances/patched', {
    keep_hot: false,
    labels: {},
    hot_to_warm_s: null,
    idle_to_freeze_s: null,
  });
  expect(back.json).toMatchObject({
    keep_hot: false,
    labels: {},
    hot_to_warm_s: null,
    idle_to_freeze_s: null,
    hold_until: 1_800_000_000,
  });
  expect((await call('PATCH', '/api/instances/patched', { state: 'active' })).status).toBe(422);
});

test('the next automatic move has its time and its reason, and moves with activity', async () => {
  await call('POST', '/api/instances', { id: 'clocked', tenant: 'acme', idle_to_suspend_s: 50 });
  await call('POST', '/api/instances/clocked/resume');
  const now = server.clock.now() / 1000;
  const see = async () => (await call<Instance>('GET', '/api/instances/clocked')).json;
  expect((await see()).next).toEqual({ state: 'suspended', at: now + 50, because: 'idle for 50 s' });
  server.clock.advance(20);
  expect(await see()).toMatchObject({ idle_seconds: 20, next: { at: now + 50 } });
  await call('POST', '/api/instances/clocked/exec', { command: 'true' });
  expect(await see()).toMatchObject({ idle_seconds: 0, updated: now + 20, next: { at: now + 70 } });
  await call('PATCH', '/api/instances/clocked', { keep_hot: true });
  expect((await see()).next).toBeNull();
});

test('prefetch brings the file home without waking', async () => {
  await call('POST', '/api/instances', { id: 'fetched', tenant: 'acme' });
  await call('PUT', '/api/instances/fetched/volumes/workspace/a', 'kept');
  await call('POST', '/api/instances/fetched/suspend');
  await call('POST', '/api/instances/fetched/freeze');
  const fetched = await call('POST', '/api/instances/fetched/prefetch');
  expect([fetched.status, fetched.json]).toMatchObject([200, { source: 'cold', vfs_path: expect.any(String) }]);
  expect(await states('fetched')).toBe('frozen');
  expect((await call('GET', '/api/instances/fetched/volumes/workspace/a')).text).toBe('kept');
});
