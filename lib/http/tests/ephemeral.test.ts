/** Ephemeral sandboxes over HTTP: refusals, alternatives, and their timeout under either name. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import type { DryRun, Instance, Job, Plan, Problem } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer & { clock: FakeClock };
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const post = <T = Problem>(path: string, body: unknown = {}) => server.call<T>('POST', `/api${path}`, body);
const see = async (id: string) => (await server.call<Instance>('GET', `/api/instances/${id}`)).json;

/** An ephemeral sandbox with a file. */
async function make(id: string, more: object = {}): Promise<Instance> {
  expect((await post('/instances', { id, tenant: 'acme', ephemeral: true, ...more })).status).toBe(201);
  expect((await server.call('PUT', `/api/instances/${id}/volumes/workspace/x`, 'kept')).status).toBe(201);
  return see(id);
}

test('suspending and freezing is a conflict by verb and by plan, forced or not', async () => {
  await make('a');
  for (const body of [{}, { force: true }]) {
    for (const verb of ['suspend', 'freeze']) {
      const answer = await post(`/instances/a/${verb}`, body);
      expect([verb, answer.status, answer.json.code]).toEqual([verb, 409, 'conflict']);
      expect(answer.json.detail).toContain('ephemeral');
      expect(answer.json.hint).toContain('snapshot');
    }
    for (const to of ['suspended', 'frozen']) {
      const answer = await post('/instances/a/plan', { to, ...body });
      expect([to, answer.status, answer.json.code]).toEqual([to, 409, 'conflict']);
      const shown = await server.call<Plan>('GET', `/api/instances/a/plan?to=${to}`);
      expect(shown.json).toMatchObject({ hops: [], refusal: expect.stringContaining('ephemeral') });
    }
  }
  expect(await see('a')).toMatchObject({ state: 'active', thermal: 'hot' });
});

test('a job reports before it runs and for each that it skips them, and moves the others', async () => {
  await make('b');
  await post('/instances', { id: 'other', tenant: 'acme' });
  await post('/instances/other/resume');
  for (const verb of ['suspend', 'freeze']) {
    const input = { verb, ids: ['b', 'other'] };
    const dry = await post<DryRun>('/jobs', { ...input, dry_run: true });
    expect(dry.json).toMatchObject({ will: 1, skip: [{ reason: expect.stringContaining('ephemeral'), count: 1 }] });
    const { id } = (await post<Job>('/jobs', input)).json;
    const job = async () => (await server.call<Job>('GET', `/api/jobs/${id}`)).json;
    await expect.poll(async () => (await job()).state).toBe('done');
    expect(await job()).toMatchObject({ done: 1, skipped: 1, failed: 0 });
  }
  expect([(await see('b')).state, (await see('other')).state]).toEqual(['active', 'frozen']);
});

test('timeout_secs is the idle time by another name, at creation and later', async () => {
  const made = await make('c', { timeout_secs: 40 });
  const at = server.clock.now() / 1000 + 40;
  expect(made).toMatchObject({
    idle_to_suspend_s: 40,
    next: { state: 'archived', at, because: 'ephemeral, idle for 40 s' },
  });
  const patch = <T = Problem>(body: object) => server.call<T>('PATCH', '/api/instances/c', body);
  expect((await patch<Instance>({ timeout_secs: 50 })).json.idle_to_suspend_s).toBe(50);
  expect((await patch<Instance>({ timeout_secs: null })).json.idle_to_suspend_s).toBeNull();
  expect((await patch<Instance>({ timeout_secs: 60, idle_to_suspend_s: 60 })).json.idle_to_suspend_s).toBe(60);
  for (const idle_to_suspend_s of [61, null]) {
    const both = await patch({ timeout_secs: 60, idle_to_suspend_s });
    expect([both.status, both.json.errors?.[0]?.path]).toEqual([422, 'timeout_secs']);
  }
  const both = await post('/instances', { tenant: 'acme', timeout_secs: 60, idle_to_suspend_s: 61 });
  expect([both.status, both.json.errors?.[0]?.path]).toEqual([422, 'timeout_secs']);
  const named = await post<Instance>('/instances', { id: 'named', tenant: 'acme', timeout_secs: 70 });
  expect(named.json.idle_to_suspend_s).toBe(70);
  await post('/instances/named/resume');
  expect((await see('named')).next).toMatchObject({ state: 'suspended' });
});

test('at its time it goes from active to archived to deleted, and the ledger has no other hop', async () => {
  await make('d', { timeout_secs: 30 });
  server.clock.advance(29);
  await server.host.sandboxes.tick();
  expect((await see('d')).state).toBe('active');
  server.clock.advance(1);
  await server.host.sandboxes.tick();
  expect((await server.call('GET', '/api/instances/d')).status).toBe(410);
  const { json } = await server.call<{ from: string; to: string; trigger: string }[]>(
    'GET',
    '/api/events?instance=d&type=transition',
  );
  expect(json.reverse().map(({ from, to, trigger }) => `${from} ${to} ${trigger}`)).toEqual([
    'created active request',
    'active archived idle',
    'archived deleted idle',
  ]);
});
