/** Only implemented policies are offered, and sandboxes with another one keep it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Instance, Problem, Snapshot } from '../../contract/schema.ts';
import { hadBefore } from '../../testing/earlier.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const post = <T = Problem>(path: string, body: unknown) => server.call<T>('POST', `/api${path}`, body);
const patch = <T = Problem>(id: string, body: unknown) => server.call<T>('PATCH', `/api/instances/${id}`, body);

/** What was said of one field. */
const summary = ({ status, json }: { status: number; json: Problem }) => [
  status,
  json.code,
  json.errors?.map(({ path, message }) => `${path}: ${message}`),
];

const POLICIES = {
  possix: 'policy: “possix” is not known here; there are posix, minimal, compute, network and native',
  constructor: 'policy: “constructor” is not known here; there are posix, minimal, compute, network and native',
};

test.each(Object.entries(POLICIES))('the policy "%s" is refused wherever one is given', async (policy, words) => {
  const refused = [422, 'validation', [words]];
  const id = `given-${policy}`;
  expect(summary(await post('/instances', { id, tenant: 'acme', policy }))).toEqual(refused);
  expect((await server.call('GET', `/api/instances/${id}`)).status).toBe(404);
  await post('/instances', { id, tenant: 'acme' });
  expect(summary(await patch(id, { policy }))).toEqual(refused);
  expect(summary(await post(`/instances/${id}/resume`, { policy }))).toEqual(refused);
  await post(`/instances/${id}/exec`, { command: 'echo kept > x' });
  const taken = await post<Snapshot>(`/instances/${id}/snapshots`, {});
  expect(summary(await post(`/snapshots/${taken.json.id}/restore`, { policy }))).toEqual(refused);
  expect((await server.call<Instance>('GET', `/api/instances/${id}`)).json.policy).toBe('posix');
});

test('an empty, a long and a wrong kind of policy are refused in the words of their kind', async () => {
  for (const policy of ['', 'p'.repeat(64), 5, null])
    expect(summary(await post('/instances', { tenant: 'acme', policy }))).toEqual([
      422,
      'validation',
      ['policy: must be one of posix, minimal, compute, network, native'],
    ]);
});

test('a sandbox with a policy that is no longer offered keeps it, and its other settings can be changed', async () => {
  await post('/instances', { id: 'old', tenant: 'acme' });
  await hadBefore(server.host, 'old', { policy: 'former', workbook: 'book' });
  const run = await post<{ code: string }>('/instances/old/exec', { command: 'echo kept | tee x' });
  expect([run.status, run.json.code]).toEqual([403, 'capability']);
  const changed = await patch<Instance>('old', { name: 'still here' });
  expect(changed.json).toMatchObject({ name: 'still here', policy: 'former', workbook: 'book' });
  expect((await post<{ code: string }>('/instances/old/eval', { language: 'python', code: '1' })).json.code).toBe(
    'capability',
  );
  // A copy that names no policy has that of its source: restoring neither widens nor takes away.
  const taken = await post<Snapshot>('/instances/old/snapshots', {});
  const restored = await post<Instance[]>(`/snapshots/${taken.json.id}/restore`, {});
  expect([restored.status, restored.json[0]?.policy, restored.json[0]?.workbook]).toEqual([201, 'former', null]);
  const other = await post<Instance[]>(`/snapshots/${taken.json.id}/restore`, { policy: 'minimal' });
  expect(other.json[0]?.policy).toBe('minimal');
  expect((await patch<Instance>('old', { policy: 'posix', workbook: null })).json).toMatchObject({
    policy: 'posix',
    workbook: null,
  });
});

test('the document names the policies that there are', async () => {
  const { json } = await server.call<{ paths: Record<string, Record<string, unknown>> }>('GET', '/openapi.json');
  const text = JSON.stringify(json);
  expect(text).toContain('"enum":["posix","minimal","compute","network","native"]');
  expect(text).toContain('timeout_secs');
});
