/** The memory budget over HTTP: which sandboxes are suspended, what is refused, and where the budget is shown. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Event, Instance, Job, JobResult, Storage } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const MIB = 1024 * 1024;

let server: TestServer;
beforeAll(async () => {
  // Two processes fit.
  server = await startServer({ settings: { WB_MEMORY: String(40 * MIB), WB_POOL: '0' } });
  for (const id of ['a', 'b', 'c']) {
    expect((await server.call('POST', '/api/instances', { id, tenant: 'acme' })).status).toBe(201);
  }
});
afterAll(() => server.stop());

const exec = (id: string, command: string) =>
  server.call<{ stdout: string; code: string; detail: string }>('POST', `/api/instances/${id}/exec`, { command });
const keepHot = (id: string, value: boolean) => server.call('PATCH', `/api/instances/${id}`, { keep_hot: value });
const states = async () =>
  (await server.call<Instance[]>('GET', '/api/instances')).json.map(({ id, state }) => `${id} ${state}`).sort();

test('a wake suspends the sandbox that was used longest ago, and the ledger names the budget', async () => {
  for (const id of ['a', 'b', 'c']) expect((await exec(id, `echo of ${id} > note`)).status).toBe(200);
  expect(await states()).toEqual(['a suspended', 'b active', 'c active']);
  const [line] = (await server.call<Event[]>('GET', '/api/events?trigger=pressure')).json;
  expect(line).toMatchObject({ instance: 'a', from: 'active', to: 'suspended', actor: 'system' });
  expect(line?.reason).toContain('40 MiB of memory (WB_MEMORY)');
});

test('when none may be suspended a wake is refused with 503, when to come back, and what to do', async () => {
  for (const id of ['b', 'c']) expect((await keepHot(id, true)).status).toBe(200);
  const refused = await exec('a', 'cat note');
  expect([refused.status, refused.json.code, refused.headers['retry-after']]).toEqual([503, 'capacity', '5']);
  expect(refused.json.detail).toMatch(/use \d+ MiB of the 40 MiB/);
  expect(await states()).toEqual(['a suspended', 'b active', 'c active']);
  await keepHot('b', false);
  expect((await exec('a', 'cat note')).json.stdout).toBe('of a\n');
  expect(await states()).toEqual(['a active', 'b suspended', 'c active']);
});

test('a job suspends none to wake another, and reports it', async () => {
  const started = await server.call<Job>('POST', '/api/jobs', { verb: 'resume', ids: ['b'] });
  expect(started.status).toBe(202);
  const { id } = started.json;
  await vi.waitFor(async () => expect((await server.call<Job>('GET', `/api/jobs/${id}`)).json.state).toBe('done'), {
    timeout: 240_000,
  });
  const [result] = (await server.call<JobResult[]>('GET', `/api/jobs/${id}/results`)).json;
  expect(result).toMatchObject({ instance: 'b', outcome: 'failed', reason: expect.stringContaining('WB_MEMORY') });
  expect(await states()).toEqual(['a active', 'b suspended', 'c active']);
});

test('operators see what the processes count, and of how much', async () => {
  const { memory } = (await server.call<Storage>('GET', '/api/settings/storage')).json;
  expect(memory).toMatchObject({ limit_bytes: 40 * MIB, spare_bytes: 0 });
  expect(memory.serving_bytes).toBeGreaterThanOrEqual(32 * MIB);
  const { text } = await server.call('GET', '/metrics');
  expect(text).toMatch(/^winterdock_memory_bytes\{processes="serving"\} \d{8}$/m);
  expect(text).toContain(`winterdock_memory_limit_bytes ${40 * MIB}\n`);
  expect(text).toMatch(/winterdock_transition_total\{from="active",to="suspended",trigger="pressure"\} 2/);
});
