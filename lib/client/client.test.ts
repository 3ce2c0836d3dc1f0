import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { ApiError, createClient, type ExecEvent, type WinterdockClient } from './client.ts';

let server: TestServer;
let dock: WinterdockClient;

beforeEach(async () => {
  server = await startServer();
  dock = createClient({ url: server.url, key: TEST_KEY });
});
afterEach(() => server.stop());

const failure = (promise: PromiseLike<unknown>): Promise<ApiError> =>
  Promise.resolve(promise).then(
    () => Promise.reject(new Error('It did not fail.')),
    (error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    },
  );

test('a sandbox lives its whole life through the client', async () => {
  const made = await dock.createInstance({ id: 'a', tenant: 'acme', labels: { team: 'red' } });
  expect(made).toMatchObject({ id: 'a', state: 'created', labels: { team: 'red' } });
  expect(await dock.execInInstance('a', { command: 'echo hello > note; cat note' })).toMatchObject({
    exit_code: 0,
    stdout: 'hello\n',
    woke: 'cold',
  });
  expect((await dock.patchInstance('a', { name: 'first' })).name).toBe('first');
  expect(await dock.evalInInstance('a', { language: 'js', code: '6 * 7' })).toMatchObject({ ok: true, value: 42 });
  expect((await dock.suspendInstance('a', { reason: 'lunch' })).state).toBe('suspended');
  expect((await dock.freezeInstance('a')).state).toBe('frozen');
  expect(await dock.prefetchInstance('a')).toMatchObject({ source: 'cold' });
  expect(await dock.resumeInstance('a')).toMatchObject({ path: 'cold', instance: { state: 'active' } });
  expect((await dock.archiveInstance('a')).state).toBe('archived');
  expect((await dock.reviveInstance('a')).state).toBe('active');
  expect((await dock.listInstanceEvents('a', { limit: 1 })).items).toMatchObject([
    { type: 'transition', to: 'active' },
  ]);
  await dock.archiveInstance('a');
  expect(await dock.deleteInstance('a')).toBeUndefined();
  expect(await failure(dock.getInstance('a'))).toMatchObject({ code: 'gone', status: 410 });
  const moves = (await dock.listEvents({ instance: 'a', type: 'transition' })).items.map(({ to }) => to);
  expect(moves.slice(0, 3)).toEqual(['deleted', 'archived', 'active']);
});

test('files go in and out as bytes, with their versions, parts and conditions', async () => {
  await dock.createInstance({ id: 'a', tenant: 'acme' });
  const odd = '/a b/ü?#%.bin';
  const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
  const first = await dock.putFile('a', 'workspace', odd, bytes);
  expect(first).toMatchObject({ created: true, etag: expect.any(String) });
  const got = await dock.getFile('a', 'workspace', odd);
  expect({ size: got.size, etag: got.etag, filename: got.filename }).toEqual({
    size: bytes.length,
    etag: first.etag,
    filename: 'ü?#%.bin',
  });
  expect(Buffer.from(await got.bytes()).equals(bytes)).toBe(true);
  const part = await dock.getFile('a', 'workspace', odd, {}, { range: { start: 250, end: 252 } });
  expect([part.status, ...(await part.bytes())]).toEqual([206, 250, 0, 1]);
  const same = await dock.getFile('a', 'workspace', odd, {}, { ifNoneMatch: first.etag ?? '' });
  expect([same.status, (await same.bytes()).length]).toEqual([304, 0]);
  expect(await dock.statFile('a', 'workspace', odd)).toMatchObject({ size: bytes.length, etag: first.etag });
  const second = await dock.putFile('a', 'workspace', odd, 'text', { ifMatch: first.etag ?? '' });
  expect(second.created).toBe(false);
  expect(await failure(dock.putFile('a', 'workspace', odd, 'other', { ifMatch: first.etag ?? '' }))).toMatchObject({
    code: 'precondition_failed',
    status: 412,
  });
  await dock.moveFile('a', 'workspace', { from: odd, to: '/plain' });
  expect(await (await dock.getFile('a', 'workspace', 'plain')).text()).toBe('text');
  expect((await dock.listVolumes('a')).map(({ volume }) => volume)).toEqual(['workspace', 'memory', 'tmp']);
  expect((await dock.listFiles('a', 'workspace', { prefix: '/pl' })).items).toMatchObject([
    { path: '/plain', size: 4 },
  ]);
  expect((await dock.searchFiles('a', { q: 'tex', in: 'content' })).items).toMatchObject([{ path: '/plain', line: 1 }]);
  expect((await dock.queryFiles('a', { sql: 'SELECT ? AS one', params: [1] })).rows).toEqual([[1]]);
  await dock.deleteFile('a', 'workspace', '/plain');
  expect(await failure(dock.statFile('a', 'workspace', '/plain'))).toMatchObject({ code: 'not_found', status: 404 });
  expect(await failure(dock.statFile('b', 'workspace', '/plain'))).toMatchObject({ code: 'not_found', message: /"b"/ });
});

test('an upload may be a stream of unknown length, and its progress is reported', async () => {
  await dock.createInstance({ id: 'a', tenant: 'acme' });
  const chunk = new Uint8Array(65_536).fill(7);
  const streamed = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (let count = 0; count < 20; count++) controller.enqueue(chunk);
        controller.close();
      },
    });
  const steps: [number, number | null][] = [];
  const onProgress = (bytes: number, total: number | null) => steps.push([bytes, total]);
  await dock.putFile('a', 'workspace', '/s', streamed(), { onProgress });
  expect(steps.at(-1)).toEqual([20 * 65_536, null]);
  steps.length = 0;
  await dock.putFile('a', 'workspace', '/b', new Blob(Array(20).fill(chunk)), { onProgress });
  expect(steps.length).toBeGreaterThan(1);
  expect(steps.at(-1)).toEqual([20 * 65_536, 20 * 65_536]);
  steps.length = 0;
  const back = await dock.getFile('a', 'workspace', '/s', {}, { onProgress });
  expect((await back.bytes()).length).toBe(20 * 65_536);
  expect(steps.at(-1)).toEqual([20 * 65_536, 20 * 65_536]);
});

test('a list is one page when awaited and everything when iterated', async () => {
  for (const id of ['a', 'b', 'c', 'd', 'e']) await dock.createInstance({ id, tenant: 'acme' });
  const page = await dock.listInstances({ sort: 'created', limit: 2 });
  expect(page).toMatchObject({ total: 5, totalIsExact: true, next: expect.any(String) });
  expect(page.items).toHaveLength(2);
  const rest = await dock.listInstances({ sort: 'created', limit: 2, cursor: page.next ?? '' });
  expect(rest.items.map(({ id }) => id)).not.toContain(page.items[0]?.id);
  const all: string[] = [];
  for await (const { id } of dock.listInstances({ limit: 2 })) all.push(id);
  expect(all.sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect((await dock.listInstances({ state: 'active' })).items).toEqual([]);
});

test('a script tells what it does while it does it, and how it ended', async () => {
  await dock.createInstance({ id: 'a', tenant: 'acme' });
  const received: ExecEvent[] = [];
  for await (const event of dock.execStream('a', { command: 'echo one; echo two >&2; cd /tmp; exit 3' }))
    received.push(event);
  expect(received[0]).toMatchObject({ event: 'woke', woke: 'cold' });
  expect(received.at(-1)).toMatchObject({ event: 'exit', exit_code: 3, cwd: '/tmp', timed_out: false });
  expect(received.flatMap((event) => (event.event === 'stdout' ? [event.text] : [])).join('')).toBe('one\n');
  expect(received.flatMap((event) => (event.event === 'stderr' ? [event.text] : [])).join('')).toBe('two\n');
});

test('leaving the loop, and aborting the signal, stop the script', async () => {
  await dock.createInstance({ id: 'a', tenant: 'acme' });
  const endless = 'echo begun; while true; do sleep 0.05; done; echo never > ended';
  for await (const event of dock.execStream('a', { command: endless })) if (event.event === 'stdout') break;
  // Calls run one at a time: this one runs only when the endless one is over.
  expect((await dock.execInInstance('a', { command: 'echo next' })).stdout).toBe('next\n');

  const stop = new AbortController();
  const streamed = (async () => {
    for await (const event of dock.execStream('a', { command: endless }, { signal: stop.signal })) {
      if (event.event === 'stdout') stop.abort(new Error('enough'));
    }
  })();
  await expect(streamed).rejects.toThrow('enough');
  expect((await dock.execInInstance('a', { command: 'ls' })).stdout).not.toContain('ended');
});

test('a refusal carries its code, status, hint, request id and all the server says of it', async () => {
  await dock.createInstance({ id: 'a', tenant: 'acme' });
  const refused = await failure(dock.freezeInstance('a', {}, { headers: { 'x-request-id': 'my-own' } }));
  expect(refused).toMatchObject({
    name: 'ApiError',
    code: 'invalid_transition',
    status: 409,
    request_id: 'my-own',
    problem: { from: 'created', to: 'frozen', allowed: ['active'] },
  });
  expect(refused.message).not.toBe('');
  const stranger = createClient({ url: server.url, key: 'another' });
  expect(await failure(stranger.listInstances())).toMatchObject({
    code: 'unauthorized',
    status: 401,
    hint: expect.any(String),
  });
  expect(await failure(dock.execStream('nobody', { command: 'true' }).next())).toMatchObject({ code: 'not_found' });
  expect(await failure(dock.streamEvents({ last_event_id: -1 }).next())).toMatchObject({ code: 'validation' });
});

test('parameters that would lead elsewhere are refused before anything is sent', async () => {
  for (const id of ['', '.', '..'])
    expect(await failure(Promise.resolve().then(() => dock.getInstance(id)))).toMatchObject({
      code: 'validation',
      status: 0,
    });
  for (const path of ['/a/../b', '/a//b', '/.', '']) {
    expect(await failure(dock.getFile('a', 'workspace', path))).toMatchObject({ code: 'validation', status: 0 });
  }
  expect(await failure(dock.getInstance('a/volumes'))).toMatchObject({ code: 'validation', status: 422 });
});

test('the rest of the table: settings, health, metrics, the document, and a key that is made for each call', async () => {
  let requests = 0;
  const keyed = createClient({
    url: `${server.url}/`,
    key: async () => {
      requests += 1;
      return TEST_KEY;
    },
  });
  const before = await keyed.getSettings();
  expect(await keyed.patchSettings({ idle_to_suspend_s: before.idle_to_suspend_s + 1 })).toEqual({
    ...before,
    idle_to_suspend_s: before.idle_to_suspend_s + 1,
  });
  expect(requests).toBe(2);
  expect(await keyed.health()).toEqual({ status: 'ok' });
  expect(await keyed.readiness()).toEqual({ status: 'ok', walls: server.host.walls.states });
  expect(await keyed.metrics()).toContain('winterdock_instances');
  expect(await keyed.openapi()).toMatchObject({ openapi: '3.1.0' });
});
