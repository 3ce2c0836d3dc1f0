import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type Event,
  type ExecAnswer,
  type Instance,
  type RunOutput,
  type SandboxRun,
  sandboxRunSchema,
} from '../../contract/schema.ts';
import { watchLoop } from '../../testing/loop-watch.ts';
import { programOf } from '../../testing/program.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const VICTIM = fileURLToPath(new URL('../../runs/testing/victim.ts', import.meta.url));
const LIMITS = {
  WB_RUN_OUTPUT: '65536',
  WB_RUNS_PER_SANDBOX: '4',
  WB_RUNS_PER_TENANT: '5',
  WB_RUNS_KEPT: '30',
  WB_DRAIN_MS: '200',
};
/** Processor time that the server may take in one turn of its event loop, in milliseconds, whatever is printed. */
const LONGEST_TURN_MS = 100;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings: LIMITS });
  for (const id of ['one', 'two']) await server.call('POST', '/api/instances', { id, tenant: 'acme' });
  await server.call('POST', '/api/instances', { id: 'theirs', tenant: 'globex' });
});
afterAll(() => server.stop());

const begin = async (command: string, more: object = {}, id = 'one'): Promise<SandboxRun> => {
  const answer = await server.call<SandboxRun>('POST', `/api/instances/${id}/runs`, { command, ...more });
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([202, expect.any(String)]);
  return sandboxRunSchema.strict().parse(answer.json);
};
const look = async ({ id, instance }: SandboxRun) =>
  (await server.call<SandboxRun>('GET', `/api/instances/${instance}/runs/${id}`)).json;
const stop = async ({ id, instance }: SandboxRun) =>
  (await server.call<SandboxRun>('POST', `/api/instances/${instance}/runs/${id}/stop`, {})).json;
const ended = (run: SandboxRun, wanted: Partial<SandboxRun> = { state: 'done' }) =>
  vi.waitFor(async () => {
    const now = await look(run);
    expect(now).toMatchObject(wanted);
    return now;
  }, 240_000);
const outputOf = async ({ id, instance }: SandboxRun, query = '') =>
  (await server.call<RunOutput>('GET', `/api/instances/${instance}/runs/${id}/output${query}`)).json;

interface Sent {
  id: number;
  event: string;
  data: { text?: string; encoding?: 'base64'; dropped?: number; offset?: number; state?: string };
}

/** Follows a run to its end. */
async function follow({ id, instance }: SandboxRun, lastEventId?: number): Promise<Sent[]> {
  const headers = {
    accept: 'text/event-stream',
    ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
  };
  const { text } = await server.call('GET', `/api/instances/${instance}/runs/${id}/output`, undefined, { headers });
  return text
    .split('\n\n')
    .filter((block) => block.includes('data: '))
    .map((block) => ({
      id: Number(/^id: (.*)$/m.exec(block)?.[1]),
      event: /^event: (.*)$/m.exec(block)?.[1] ?? '',
      data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? 'null'),
    }));
}
const bytesIn = (events: Sent[]) =>
  Buffer.concat(
    events
      .filter(({ event }) => event === 'stdout' || event === 'stderr')
      .map(({ data }) => Buffer.from(data.text ?? '', data.encoding ?? 'utf8')),
  );

test('a run outlives its request, is listed, and keeps its output and its end', async () => {
  const answer = await server.call<SandboxRun>('POST', '/api/instances/one/runs', {
    command: 'cd /memory; echo "$WHO"; cat; echo no >&2; exit 3',
    env: { WHO: 'me' },
    stdin: 'given\n',
  });
  expect([answer.status, answer.headers.location]).toEqual([202, `/api/instances/one/runs/${answer.json.id}`]);
  const run = await ended(answer.json);
  expect(run).toMatchObject({ exit_code: 3, timed_out: false, woke: 'cold', cwd: '/workspace', reason: null });
  expect(run.took_ms).toBeGreaterThan(0);
  const output = await outputOf(run);
  expect(output.pieces.map(({ stream, text }) => [stream, text])).toEqual([
    ['stdout', 'me\ngiven\n'],
    ['stderr', 'no\n'],
  ]);
  expect(output).toMatchObject({ dropped: 0, next: run.output_bytes });
  const second = await begin('true');
  await ended(second);
  const listed = await server.call<SandboxRun[]>('GET', '/api/instances/one/runs?limit=1');
  expect(listed.json.map(({ id }) => id)).toEqual([second.id]);
  const next = /<([^>]*)>/.exec(listed.headers.link ?? '')?.[1] ?? '';
  expect((await server.call<SandboxRun[]>('GET', next)).json[0]?.id).toBe(run.id);
});

test('a follower sees the run from its beginning to its end, and resumes at any byte', async () => {
  const run = await begin(
    `printf 'é漢🙂'; sleep 0.3; printf 'on the other' >&2; sleep 0.3; printf '\\xff\\xfe end\\n'`,
  );
  const events = await follow(run);
  const all = Buffer.concat([Buffer.from('é漢🙂on the other'), Buffer.from([0xff, 0xfe]), Buffer.from(' end\n')]);
  expect(bytesIn(events)).toEqual(all);
  expect(events.at(-1)).toMatchObject({ event: 'exit', id: all.byteLength, data: { state: 'done', exit_code: 0 } });
  expect(events.find(({ event }) => event === 'run')).toBeDefined();
  for (let at = 0; at <= all.byteLength; at += 1) {
    const rest = await follow(run, at);
    expect([at, bytesIn(rest)]).toEqual([at, all.subarray(at)]);
    expect(rest.at(-1)?.event).toBe('exit');
  }
  expect((await outputOf(run, '?offset=2&limit=1')).pieces[0]).toMatchObject({ offset: 2 });
});

test('a follower that leaves does not stop the run, and two see the same', async () => {
  const run = await begin('for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done');
  const leaving = new AbortController();
  const left = fetch(`${server.url}/api/instances/one/runs/${run.id}/output`, {
    headers: { authorization: `Bearer ${server.host.config.adminKey}`, accept: 'text/event-stream' },
    signal: leaving.signal,
  });
  await (await left).body?.getReader().read();
  leaving.abort();
  const [first, second] = await Promise.all([follow(run), follow(run)]);
  expect(bytesIn(first).toString()).toBe('1\n2\n3\n4\n5\n6\n');
  expect(bytesIn(second)).toEqual(bytesIn(first));
});

test('of more output than is kept the newest stays, and what was dropped is said', async () => {
  const run = await begin('seq 1 30000 | sed "s/^/line /"');
  const { output_bytes: bytes, output_start: start } = await ended(run);
  const whole = Array.from({ length: 30_000 }, (_, n) => `line ${n + 1}\n`).join('');
  expect(bytes).toBe(whole.length);
  expect(bytes - start).toBeGreaterThan(20_000);
  expect(bytes - start).toBeLessThanOrEqual(65_536);
  const output = await outputOf(run, '?limit=1048576');
  expect(output.dropped).toBe(start);
  expect(output.pieces.map(({ text }) => text).join('')).toBe(whole.slice(start));
  const events = await follow(run, 10);
  expect(events[0]).toMatchObject({ event: 'gap', data: { offset: 10, dropped: start - 10 } });
  expect(bytesIn(events).toString()).toBe(whole.slice(start));
});

test('endless output is bounded in memory, holds nobody up, and ends with a stop', async () => {
  const run = await begin('printf "%0400000d" 7 > big; while true; do cat big; done', { timeout_ms: 60_000 });
  await vi.waitFor(async () => expect((await look(run)).output_bytes).toBeGreaterThan(9 * 1024 * 1024), 240_000);
  const longestTurn = watchLoop();
  for (let n = 0; n < 20; n += 1) expect((await server.call('GET', '/api/instances/two')).status).toBe(200);
  const turnMs = longestTurn();
  process.stdout.write(`beside endless output: ${turnMs.toFixed(0)} ms of processor time in one turn\n`);
  expect(turnMs).toBeLessThan(LONGEST_TURN_MS);
  const { output_bytes: bytes, output_start: start } = await look(run);
  expect(bytes - start).toBeLessThanOrEqual(65_536);
  const stopped = await stop(run);
  expect(stopped).toMatchObject({ state: 'stopped', reason: 'Somebody stopped it.', timed_out: false });
  expect(await stop(run)).toEqual(stopped);
  const lines = await server.call<Event[]>('GET', '/api/instances/one/events?type=run.stopped');
  expect(lines.json[0]).toMatchObject({ reason: `${run.id}: Somebody stopped it.`, actor: 'key:admin' });
  expect((await server.call('POST', '/api/instances/one/exec', { command: 'echo back' })).json.stdout).toBe('back\n');
});

test('two runs go on beside calls, one that waits can be stopped before it began, and too many are refused', async () => {
  const busy = 'while true; do :; done';
  const [first, beside] = [await begin(busy, { timeout_ms: 50_000 }), await begin(busy)];
  for (const run of [first, beside]) await ended(run, { state: 'running' });
  const second = await begin('echo second > order');
  expect((await look(second)).state).toBe('queued');
  const quick = await server.call('POST', '/api/instances/one/exec', { command: 'echo on' });
  expect(quick.json).toMatchObject({ stdout: 'on\n', exit_code: 0 });
  const third = await begin('echo third');
  expect(await stop(third)).toMatchObject({ state: 'stopped', started: null, exit_code: null });
  const more = [await begin('true')];
  const full = await server.call('POST', '/api/instances/one/runs', { command: 'true' });
  expect([full.status, full.json]).toMatchObject([
    429,
    { code: 'quota_exceeded', quota: 'runs_per_sandbox', limit: 4, used: 4 },
  ]);
  const other = await begin('sleep 30', {}, 'two');
  const ofTenant = await server.call('POST', '/api/instances/two/runs', { command: 'true' });
  expect(ofTenant.json).toMatchObject({ code: 'quota_exceeded', quota: 'runs_per_tenant', limit: 5, used: 5 });
  await begin('true', {}, 'theirs');
  await Promise.all([first, beside, other].map(stop));
  for (const run of [second, ...more]) await ended(run);
  expect((await server.call('GET', '/api/instances/one/volumes/workspace/order')).text).toBe('second\n');
});

test('filing waits for a run and refuses, or ends it by force, which the run tells', async () => {
  const run = await begin('echo begun > begun; while true; do sleep 0.05; done');
  await ended(run, { state: 'running' });
  expect((await server.call('POST', '/api/instances/one/suspend', {})).json.code).toBe('conflict');
  await server.host.sandboxes.tick();
  expect((await server.call('GET', '/api/instances/one')).json.state).toBe('active');
  expect((await server.call('POST', '/api/instances/one/suspend', { force: true })).status).toBe(200);
  const told = await ended(run, { state: 'stopped' });
  expect(told).toMatchObject({ reason: 'Its sandbox was filed before it had ended.', timed_out: false });
  expect((await server.call('GET', '/api/instances/one/volumes/workspace/begun')).text).toBe('begun\n');
  expect((await server.call('GET', '/api/instances/one')).json.state).toBe('suspended');
});

test('a run under way stops the idle clock that is shown', async () => {
  const shown = async () => (await server.call<Instance>('GET', '/api/instances/two')).json;
  const run = await begin('sleep 50', {}, 'two');
  await ended(run, { state: 'running' });
  expect(await shown()).toMatchObject({ state: 'active', attached: 0, calls: 1, next: null });
  await stop(run);
  expect(await shown()).toMatchObject({ calls: 0, next: { state: 'suspended', because: expect.any(String) } });
});

test('a run is ended for time with 124, and may not be given more than the server allows', async () => {
  const run = await begin('sleep 20', { timeout_ms: 200 });
  expect(await ended(run)).toMatchObject({ exit_code: 124, timed_out: true });
  const long = await server.call('POST', '/api/instances/one/runs', { command: 'true', timeout_ms: 3_600_001 });
  expect([long.status, long.json.code]).toEqual([422, 'validation']);
  await server.call('PATCH', '/api/tenants/acme', { max_run_s: 5 });
  const own = await server.call('POST', '/api/instances/one/runs', { command: 'true', timeout_ms: 5001 });
  expect([own.status, own.text]).toEqual([422, expect.stringContaining('must be at most 5000')]);
  await server.call('PATCH', '/api/tenants/acme', { max_run_s: 7200 });
  await ended(await begin('true', { timeout_ms: 7_200_000 }));
  await server.call('PATCH', '/api/tenants/acme', { max_run_s: null });
  const heavy = { command: 'true', stdin: 'x'.repeat(600_000), env: { A: 'y'.repeat(60_000), B: 'z'.repeat(500_000) } };
  expect((await server.call('POST', '/api/instances/one/runs', heavy)).status).toBe(422);
});

test('what cannot run is refused at once: archived, without a shell, no directory', async () => {
  await server.call('POST', '/api/instances', { id: 'bare', tenant: 'acme', policy: 'compute' });
  const bare = await server.call('POST', '/api/instances/bare/runs', { command: 'true' });
  expect([bare.status, bare.json.code]).toEqual([403, 'capability']);
  await server.call('POST', '/api/instances', { id: 'filed', tenant: 'acme' });
  await server.call('POST', '/api/instances/filed/resume', {});
  await server.call('POST', '/api/instances/filed/archive', {});
  const filed = await server.call('POST', '/api/instances/filed/runs', { command: 'true' });
  expect([filed.status, filed.json.code]).toEqual([409, 'archived']);
  const nowhere = await begin('true', { cwd: '/workspace/never' });
  expect(await ended(nowhere, { state: 'failed' })).toMatchObject({
    exit_code: null,
    reason: expect.stringContaining('There is no directory'),
  });
});

test('a run is its own sandbox’s, and garbage as an offset, a cursor or an id reaches nothing', async () => {
  const run = await begin('echo secret');
  await ended(run);
  for (const path of [
    `/api/instances/two/runs/${run.id}`,
    `/api/instances/two/runs/${run.id}/output`,
    `/api/instances/one/runs/run-0000000000`,
    `/api/instances/one/runs/${'x'.repeat(100)}`,
    `/api/instances/one/runs/..%2f..`,
  ]) {
    expect([path, (await server.call('GET', path)).status]).toEqual([path, 404]);
  }
  expect((await server.call('POST', `/api/instances/two/runs/${run.id}/stop`, {})).status).toBe(404);
  expect((await server.call('GET', `/api/instances/one/runs/${'x'.repeat(101)}`)).status).toBe(422);
  const at = `/api/instances/one/runs/${run.id}/output`;
  for (const offset of ['-1', 'x', '1e99', '1.5', '%00', 'NaN', '9007199254740993'])
    expect([offset, (await server.call('GET', `${at}?offset=${offset}`)).status]).toEqual([offset, 422]);
  for (const id of ['-1', 'x', '1e99', '1.5', `${'9'.repeat(400)}`]) {
    const headers = { accept: 'text/event-stream', 'last-event-id': id };
    expect([id, (await server.call('GET', at, undefined, { headers })).status]).toEqual([id, 422]);
  }
  expect(await outputOf(run, '?offset=999999')).toMatchObject({ pieces: [], dropped: 0, next: 7 });
  expect((await follow(run, 999_999)).map(({ event }) => event)).toEqual(['exit']);
  for (const cursor of ['x', 'W10', '%00', btoa('["a"]')])
    expect((await server.call('GET', `/api/instances/one/runs?cursor=${cursor}`)).status).toBe(422);
});

test('of thousands of runs a sandbox keeps the newest, and output in memory stays bounded', async () => {
  for (let round = 0; round < 40; round += 1) await ended(await begin(`echo ${round}`, {}, 'theirs'));
  const listed = await server.call<SandboxRun[]>('GET', '/api/instances/theirs/runs?limit=500');
  expect(listed.json).toHaveLength(31);
  const { output_bytes: bytes, id } = listed.json[0] ?? expect.fail('no run');
  expect([id, bytes]).toEqual([expect.stringMatching(/^run-/), 3]);
});

test('a stop of the server ends what runs and says so; a kill loses it, and that is said too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-runs-'));
  try {
    const victim = spawn(process.execPath, [programOf(VICTIM), folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    let told = '';
    victim.stdout.on('data', (piece) => {
      told += piece;
    });
    expect(await once(victim, 'exit')).toEqual([null, 'SIGKILL']);
    const again = await startServer({ folder, settings: LIMITS });
    const at = '/api/instances/sb-1/runs';
    const [lost] = (await again.call<SandboxRun[]>('GET', at)).json;
    expect(lost).toMatchObject({ id: told.trim(), state: 'lost', exit_code: null });
    expect(lost?.reason).toContain('The server ended under it');
    expect(lost?.reason).toContain('commands that had ended is kept; a loop is one command');
    // It had begun: its first output was there.
    expect(lost?.started).toBeGreaterThanOrEqual(lost?.created ?? Number.NaN);
    expect(lost?.ended).toBeGreaterThanOrEqual(lost?.started ?? Number.NaN);
    const lines = await again.call<Event[]>('GET', '/api/events?type=run.lost');
    expect(lines.json.map(({ reason }) => reason)).toEqual([`${lost?.id} was under way`]);
    expect((await again.call('GET', '/api/instances/sb-1/volumes/workspace/begun')).text).toBe('begun\n');
    // A number that a script kept is no other's after a restart.
    const jobOf = async (server: typeof again) =>
      Number(
        (await server.call<ExecAnswer>('POST', '/api/instances/sb-1/exec', { command: 'true & echo $!' })).json.stdout,
      );
    const job = await jobOf(again);
    const run = (await again.call<SandboxRun>('POST', at, { command: 'sleep 60', timeout_ms: 90_000 })).json;
    await expect.poll(async () => (await again.call<SandboxRun>('GET', `${at}/${run.id}`)).json.state).toBe('running');
    await again.stop();
    again.clock.advance(2);
    const third = await startServer({ folder, settings: LIMITS, clock: again.clock });
    const after = (await third.call<SandboxRun>('GET', `${at}/${run.id}`)).json;
    expect(after).toMatchObject({ state: 'stopped', reason: 'The server was stopped before it had ended.' });
    expect((await third.call<SandboxRun[]>('GET', at)).json).toHaveLength(3);
    expect(await jobOf(third)).toBeGreaterThan(job);
    await third.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
