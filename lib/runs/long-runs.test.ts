/** Runs that take ten minutes and more by the server's clock, and some that would never end, in real processes. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import type { Instance, RunOutput, SandboxRun } from '../contract/schema.ts';
import { startServer, type TestServer } from '../testing/server.ts';

const MINUTE = 60;

const clock = new FakeClock();
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock, settings: { WB_DRAIN_MS: '200' } });
  for (const id of ['build', 'endless']) await server.call('POST', '/api/instances', { id, tenant: 'acme' });
});
afterAll(() => server.stop());

const begin = async (id: string, command: string, more: object = {}): Promise<SandboxRun> => {
  const answer = await server.call<SandboxRun>('POST', `/api/instances/${id}/runs`, { command, ...more });
  expect(answer.status, answer.text).toBe(202);
  return answer.json;
};
const look = async ({ id, instance }: SandboxRun) =>
  (await server.call<SandboxRun>('GET', `/api/instances/${instance}/runs/${id}`)).json;
const until = (run: SandboxRun, wanted: Partial<SandboxRun>) =>
  vi.waitFor(async () => expect(await look(run)).toMatchObject(wanted), 240_000);
const textOf = async ({ id, instance }: SandboxRun) =>
  (await server.call<RunOutput>('GET', `/api/instances/${instance}/runs/${id}/output?limit=1048576`)).json.pieces
    .map(({ text }) => text)
    .join('');
const saysBy = (run: SandboxRun, said: string) =>
  vi.waitFor(async () => expect(await textOf(run)).toContain(said), 240_000);
const stateOf = async (id: string) => (await server.call<Instance>('GET', `/api/instances/${id}`)).json.state;
const exec = (id: string, command: string) => server.call('POST', `/api/instances/${id}/exec`, { command });

test('a build of twenty minutes holds its sandbox awake, ends with its code and files, and keeps its output', async () => {
  const steps = 'for n in 1 2; do echo "step $n"; until [ -e "/workspace/go-$n" ]; do sleep 0.05; done; done';
  const run = await begin('build', `${steps}\necho object > built\necho linked; exit 3`, { timeout_ms: 3_000_000 });
  for (const n of [1, 2]) {
    await saysBy(run, `step ${n}\n`);
    // Each step is longer than the command time of the policy; both are longer than what an idle sandbox is given.
    clock.advance(10 * MINUTE);
    await server.host.sandboxes.tick();
    expect(await stateOf('build')).toBe('active');
    expect(await look(run)).toMatchObject({ state: 'running', ended: null });
    expect((await exec('build', 'echo beside')).json).toMatchObject({ stdout: 'beside\n' });
    const put = await server.call('PUT', `/api/instances/build/volumes/workspace/go-${n}`, 'go');
    expect(put.status, put.text).toBeLessThan(300);
  }
  await until(run, { state: 'done', exit_code: 3, timed_out: false });
  const { started, ended } = await look(run);
  expect((ended ?? 0) - (started ?? 0)).toBeGreaterThanOrEqual(20 * MINUTE);
  clock.advance(10 * MINUTE);
  await server.host.sandboxes.tick();
  clock.advance(10 * MINUTE);
  await server.host.sandboxes.tick();
  expect(await stateOf('build')).toBe('suspended');
  expect(await textOf(run)).toBe('step 1\nstep 2\nlinked\n');
  expect((await server.call('GET', '/api/instances/build/volumes/workspace/built')).text).toBe('object\n');
  expect(await stateOf('build')).toBe('suspended');
});

const ENDLESS = {
  shell: 'echo begun; while :; do :; done',
  Python: 'python3 -c "while True: pass"',
  JavaScript: 'js -e "while (true);"',
};
const ENDS = ['its limit', 'a stop', 'filing'] as const;

test.each(Object.keys(ENDLESS).flatMap((kind) => ENDS.map((at) => ({ kind: kind as keyof typeof ENDLESS, at }))))(
  'a run of $kind that never ends is ended at $at',
  async ({ kind, at }) => {
    await exec('endless', 'true');
    const run = await begin('endless', ENDLESS[kind], { timeout_ms: at === 'its limit' ? 3000 : 3_600_000 });
    await until(run, { state: 'running' });
    if (kind === 'shell') await saysBy(run, 'begun\n');
    if (at !== 'its limit') {
      clock.advance(24 * 60 * MINUTE);
      await server.host.sandboxes.tick();
      expect([await stateOf('endless'), (await look(run)).state]).toEqual(['active', 'running']);
    }
    if (at === 'a stop') await server.call('POST', `/api/instances/endless/runs/${run.id}/stop`, {});
    if (at === 'filing') {
      expect((await server.call('POST', '/api/instances/endless/suspend', {})).status).toBe(409);
      expect((await look(run)).state).toBe('running');
      expect((await server.call('POST', '/api/instances/endless/suspend', { force: true })).status).toBe(200);
    }
    await until(
      run,
      at === 'its limit'
        ? { state: 'done', timed_out: true, exit_code: 124 }
        : { state: 'stopped', reason: expect.any(String) },
    );
    if (kind === 'shell') expect(await textOf(run)).toContain('begun\n');
    expect((await exec('endless', 'echo after')).json).toMatchObject({ stdout: 'after\n', exit_code: 0 });
  },
);
