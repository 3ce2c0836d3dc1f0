import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { evalAnswerSchema, execAnswerSchema, type Instance } from '../../contract/schema.ts';
import { hadBefore } from '../../testing/earlier.ts';
import { startServer, TEST_KEY, type TestServer } from '../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await server.call('POST', '/api/instances', { id: 'runner', tenant: 'acme' });
});
afterAll(() => server.stop());

const run = (body: unknown) => server.call('POST', '/api/instances/runner/exec', body);

/** Starts a request whose answer is read as it comes. */
async function open(path: string, body: unknown, headers: Record<string, string> = {}) {
  const req = request(`${server.url}${path}`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${TEST_KEY}`, ...headers },
  });
  req.on('error', () => undefined);
  req.end(JSON.stringify(body));
  const response = once(req, 'response') as Promise<[IncomingMessage]>;
  response.catch(() => undefined);
  return { req, response };
}

interface Sent {
  event: string;
  data: Record<string, unknown>;
}

function eventsIn(text: string): Sent[] {
  return text
    .split('\n\n')
    .filter((block) => block.includes('data: '))
    .map((block) => ({
      event: /^event: (.*)$/m.exec(block)?.[1] ?? '',
      data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? 'null'),
    }));
}

test('a command answers with what it did, waking what sleeps', async () => {
  // It may be awake from another test, or not yet made to run.
  await server.call('POST', '/api/instances/runner/suspend', {});
  const cold = await run({ command: 'echo out; echo err >&2; exit 3' });
  expect(cold.status).toBe(200);
  expect(execAnswerSchema.strict().parse(cold.json)).toMatchObject({
    exit_code: 3,
    stdout: 'out\n',
    stderr: 'err\n',
    cwd: '/workspace',
    timed_out: false,
    truncated: false,
    woke: 'cold',
  });
  expect((await run({ command: 'true' })).json).toMatchObject({ exit_code: 0, woke: 'hot' });
});

test('cwd, env and stdin reach the command', async () => {
  const answer = await run({
    command: 'pwd; echo "$GREETING"; cat',
    cwd: '/memory',
    env: { GREETING: 'hello' },
    stdin: 'from stdin',
  });
  expect(answer.json).toMatchObject({ stdout: '/memory\nhello\nfrom stdin', cwd: '/memory' });
});

test('what a command wrote is there for the volumes and after a sleep', async () => {
  await run({ command: 'mkdir -p d && echo written > d/file' });
  expect((await server.call('GET', '/api/instances/runner/volumes/workspace/d/file')).text).toBe('written\n');
  await server.call('POST', '/api/instances/runner/suspend');
  expect((await run({ command: 'cat d/file' })).json).toMatchObject({ stdout: 'written\n', woke: 'cold' });
});

test('a command that does not end is ended, told so, and never answered 408', async () => {
  const answer = await run({ command: 'while true; do :; done', timeout_ms: 300 });
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject({ exit_code: 124, timed_out: true });
  expect((await run({ command: 'echo back' })).json.stdout).toBe('back\n');
});

test('JavaScript answers with its last expression', async () => {
  const answer = await server.call('POST', '/api/instances/runner/eval', {
    language: 'js',
    code: 'console.log("said"); ({ sum: 1 + 2 })',
  });
  expect(evalAnswerSchema.strict().parse(answer.json)).toMatchObject({
    ok: true,
    value: { sum: 3 },
    stdout: 'said\n',
    woke: 'hot',
  });
  const failed = await server.call('POST', '/api/instances/runner/eval', {
    language: 'js',
    code: 'throw new Error("on purpose")',
  });
  expect([failed.status, failed.json.ok]).toEqual([200, false]);
  expect(failed.json.error).toContain('on purpose');
});

test('a policy without a shell answers capability', async () => {
  await server.call('POST', '/api/instances', { id: 'bare', tenant: 'acme' });
  await hadBefore(server.host, 'bare', { policy: 'compute' });
  const answer = await server.call('POST', '/api/instances/bare/exec', { command: 'true' });
  expect([answer.status, answer.json]).toMatchObject([403, { code: 'capability', needs: 'shell', policy: 'compute' }]);
  expect(answer.json.hint).toBe('Give it a policy that has it (minimal, posix, network); it holds from the next wake.');
  const headers = { accept: 'text/event-stream' };
  const bare = await server.call('POST', '/api/instances/bare/exec', { command: 'true' }, { headers });
  // The wake may have been told before the refusal; then the refusal is the stream's last event.
  const lastEvent = bare.status === 200 ? eventsIn(bare.text).at(-1) : { event: 'error', data: bare.json };
  expect(lastEvent).toMatchObject({ event: 'error', data: { code: 'capability', status: 403 } });
  await server.call('POST', '/api/instances', { id: 'misspelt', tenant: 'acme' });
  await hadBefore(server.host, 'misspelt', { policy: 'possix' });
  const unknown = await server.call('POST', '/api/instances/misspelt/exec', { command: 'true' });
  expect(unknown.json).toMatchObject({ code: 'capability', policy: 'compute' });
  expect(unknown.json.detail).toContain('"possix" of "misspelt" is not known here, so it runs as "compute"');
});

test('a stream tells of the wake, each output as it comes, and the end', async () => {
  await server.call('POST', '/api/instances/runner/suspend');
  const { req, response } = await open(
    '/api/instances/runner/exec',
    { command: 'echo one\necho two >&2\necho three' },
    { accept: 'text/event-stream' },
  );
  const [res] = await response;
  expect([res.statusCode, res.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  let text = '';
  for await (const chunk of res) text += chunk;
  req.destroy();
  const events = eventsIn(text);
  expect(events[0]).toEqual({ event: 'woke', data: { woke: 'cold', from: 'suspended', took_ms: expect.any(Number) } });
  const said = (name: string) =>
    events
      .filter(({ event }) => event === name)
      .map(({ data }) => data.text)
      .join('');
  expect([said('stdout'), said('stderr')]).toEqual(['one\nthree\n', 'two\n']);
  expect(events.at(-1)).toMatchObject({ event: 'exit', data: { exit_code: 0, timed_out: false, cwd: '/workspace' } });
});

test('a stream that cannot begin has the status of its problem', async () => {
  const headers = { accept: 'text/event-stream' };
  const missing = await server.call('POST', '/api/instances/nobody/exec', { command: 'true' }, { headers });
  expect([missing.status, missing.json.code]).toEqual([404, 'not_found']);
});

test.each([
  ['a stream', { accept: 'text/event-stream' }],
  ['a plain answer', {}],
])('closing the connection of %s stops the script', async (_what, headers) => {
  await run({ command: 'rm -f ticks' });
  const { req } = await open(
    '/api/instances/runner/exec',
    { command: 'while true; do echo x >> ticks; sleep 0.02; done', timeout_ms: 60_000 },
    headers,
  );
  const ticks = async () => (await server.call('GET', '/api/instances/runner/volumes/workspace/ticks')).bytes.length;
  const running = async () =>
    Number(/^winterdock_calls_running (\d+)$/m.exec((await server.call('GET', '/metrics')).text)?.[1]);
  await vi.waitFor(async () => expect(await running()).toBe(1), { timeout: 240_000 });
  req.destroy();
  await vi.waitFor(async () => expect(await running()).toBe(0), { timeout: 240_000 });
  const after = await ticks();
  expect((await run({ command: 'echo alive' })).json.stdout).toBe('alive\n');
  expect(await ticks()).toBe(after);
});

test('an open terminal is counted, wakes nothing, and ends on request', async () => {
  const attached = async () => (await server.call<Instance>('GET', '/api/instances/held')).json;
  const at = '/api/instances/held/attachments';
  await server.call('POST', '/api/instances', { id: 'held', tenant: 'acme' });
  expect((await server.call('PUT', `${at}/one`)).json).toEqual({ attachment: 'one', lease_s: 150 });
  await server.call('PUT', `${at}/one`);
  await server.call('PUT', `${at}/two`);
  expect(await attached()).toMatchObject({ attached: 2, state: 'created', thermal: 'cold', next: null });
  expect((await server.call('DELETE', `${at}/one`)).status).toBe(204);
  expect((await server.call('DELETE', `${at}/one`)).status).toBe(204);
  expect(await attached()).toMatchObject({ attached: 1 });
  await server.call('DELETE', `${at}/two`);
  await server.call('POST', '/api/instances/held/resume');
  await server.call('POST', '/api/instances/held/archive');
  expect((await server.call('PUT', `${at}/one`)).json).toMatchObject({ status: 409, code: 'archived' });
  expect((await server.call('PUT', '/api/instances/nobody/attachments/one')).status).toBe(404);
  expect((await server.call('PUT', `${at}/No%20Name`)).status).toBe(422);
});

test('a sandbox that many ask at once is woken once', async () => {
  await server.call('POST', '/api/instances/runner/suspend');
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => run({ command: `echo ${n} >> log; echo ${n}` })),
  );
  expect(answers.map(({ json }) => json.stdout)).toEqual(Array.from({ length: 10 }, (_, n) => `${n}\n`));
  const events = await server.call<{ to: string }[]>('GET', '/api/instances/runner/events?type=transition&limit=1');
  expect(events.json[0]?.to).toBe('active');
  expect((await server.call<Instance>('GET', '/api/instances/runner')).json.state).toBe('active');
  expect((await run({ command: 'sort log | uniq | wc -l' })).json.stdout).toMatch(/^\s*10\s*$/);
});

test('a time limit holds as it is asked for, or is refused with the most that the sandbox allows', async () => {
  await server.call('POST', '/api/instances', { id: 'small', tenant: 'acme', policy: 'minimal' });
  const ask = (id: string, timeout_ms: number) =>
    server.call('POST', `/api/instances/${id}/exec`, { command: 'sleep 0.1', timeout_ms });
  expect((await ask('runner', 600_000)).json).toMatchObject({ exit_code: 0, timed_out: false });
  for (const [id, most] of [
    ['runner', 600_000],
    ['small', 60_000],
  ] as const) {
    const refused = [
      await ask(id, most + 1),
      await server.call('POST', `/api/instances/${id}/eval`, { language: 'js', code: '1', timeout_ms: most + 1 }),
    ];
    for (const { status, json } of refused) {
      const errors = [{ path: 'timeout_ms', message: `must be at most ${most}` }];
      expect([status, json]).toMatchObject([422, { code: 'validation', errors }]);
    }
  }
  // Longer than its policy gives a call that asks for nothing.
  const long = 'const end = Date.now() + 6000; while (Date.now() < end); 6';
  const answer = await server.call('POST', '/api/instances/small/eval', {
    language: 'js',
    code: long,
    timeout_ms: 60_000,
  });
  expect(answer.json).toMatchObject({ ok: true, value: 6 });
});

test('a tenant or a key may allow a call more time than the policy, or less, within the server’s limit', async () => {
  const { call } = server;
  await call('POST', '/api/instances', { id: 'timed', tenant: 'timed', policy: 'minimal' });
  const key = async (max_call_s: number | null) =>
    (await call<{ key: string }>('POST', '/api/keys', { name: 'timed', role: 'tenant', tenant: 'timed', max_call_s }))
      .json.key;
  const [own, none] = [await key(300), await key(null)];
  /** Asks for the most, and for more. */
  const expectMost = async (most: number, auth = TEST_KEY) => {
    const ask = (timeout_ms: number) =>
      call('POST', '/api/instances/timed/exec', { command: 'true', timeout_ms }, { key: auth });
    expect((await ask(most)).json).toMatchObject({ exit_code: 0 });
    const errors = [{ path: 'timeout_ms', message: `must be at most ${most}` }];
    expect((await ask(most + 1)).json).toMatchObject({ code: 'validation', errors });
  };
  await expectMost(60_000, none);
  await expectMost(300_000, own);
  const tenant = await call('PATCH', '/api/tenants/timed', { max_call_s: 120 });
  expect(tenant.json).toMatchObject({ max_call_s: 120 });
  await expectMost(120_000);
  await expectMost(120_000, none);
  await expectMost(300_000, own);
  const schedule = (timeout_ms: number) =>
    call('POST', '/api/instances/timed/schedules', { cron: '0 4 * * *', command: 'true', timeout_ms });
  expect([(await schedule(120_000)).status, (await schedule(120_001)).status]).toEqual([201, 422]);
  await call('PATCH', '/api/tenants/timed', { max_call_s: 3600 });
  await expectMost(600_000);
  const component = await call('POST', '/api/instances/timed/call', { timeout_ms: 600_001 });
  expect(component.json).toMatchObject({ errors: [{ path: 'timeout_ms', message: 'must be at most 600000' }] });
  for (const max_call_s of [59, 3601, 1.5]) {
    expect((await call('PATCH', '/api/tenants/timed', { max_call_s })).status).toBe(422);
  }
  await call('PATCH', '/api/tenants/timed', { max_call_s: null });
  await expectMost(60_000);
  const keys = (await call<{ name: string; max_call_s: number | null }[]>('GET', '/api/keys')).json;
  const timed = keys.filter(({ name }) => name === 'timed').map(({ max_call_s }) => max_call_s);
  expect(timed).toEqual([null, 300]);
});
