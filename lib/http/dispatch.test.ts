import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MIB, SMALL_KEY, type SmallServer, startSmallServer } from '../testing/small-server.ts';
import { answerWeb } from './web-adapter.ts';

let small: SmallServer;
beforeAll(async () => {
  small = await startSmallServer();
});
afterAll(() => small.stop());

const call: SmallServer['call'] = (...args) => small.call(...args);

test('a request reaches its handler parsed, below /api and at the root', async () => {
  for (const prefix of ['/api', '']) {
    const { status, json: body } = await call('POST', `${prefix}/instances/abc/echo?limit=7`, '{"text":"hi"}');
    expect(status).toBe(200);
    expect(body).toEqual({ params: { id: 'abc' }, query: { limit: 7 }, body: { text: 'hi' }, actor: 'key:admin' });
  }
});

test('a missing body is an empty one, and its content type does not matter', async () => {
  expect((await call('POST', '/api/instances/abc/echo')).json.body).toEqual({});
  const odd = await call('POST', '/api/instances/abc/echo', '{"text":"x"}', {
    headers: { 'content-type': 'text/html' },
  });
  expect(odd.json.body).toEqual({ text: 'x' });
});

test.each([
  ['not JSON', '{"text":', 400, 'bad_json'],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400, 'bad_json'],
  ['an array', '[]', 422, 'validation'],
  ['null', 'null', 422, 'validation'],
  ['a wrong type', '{"text":1}', 422, 'validation'],
  ['a deep stack of arrays', '['.repeat(100_000), 413, 'too_large'],
  ['an unfinished stack of arrays', '['.repeat(10), 400, 'bad_json'],
])('a body that is %s is refused', async (_what, body, status, code) => {
  const answer = await call('POST', '/api/instances/abc/echo', body);
  expect([answer.status, answer.json.code]).toEqual([status, code]);
});

const MESSAGE = { message: 'm'.repeat(30_000_000), hint: 'h'.repeat(10_000_000) };
const NO_TEXT = { toString: 0, valueOf: 0 };

test.each([
  ['method_not_allowed', { allow: ['GET\r\nset-cookie: a=b', 'PUT\u2028'] }, 'allow', 'GETset-cookie: a=b, PUT'],
  ['method_not_allowed', { allow: ['GET'.repeat(5000)] }, 'allow', 'GET'.repeat(5000).slice(0, 8192)],
  ['method_not_allowed', { allow: [NO_TEXT] }, 'allow', undefined],
  ['capacity', { allow: ['GET\r\n'] }, 'allow', undefined],
  ['range_not_satisfiable', { size: NO_TEXT }, 'content-range', undefined],
  ['range_not_satisfiable', { size: '1\r\nx: y' }, 'content-range', undefined],
  ['conflict', { endless: 'e'.repeat(30_000_000) }, 'x-none', undefined],
  ['capacity', { retryAfterSeconds: 1 }, 'retry-after', '3600'],
] as const)('what a process in hostile hands says of its failure as %s fits into an answer', async (...given) => {
  const [code, extra, header, value] = given;
  small.seen.lie = { ...MESSAGE, code, extra, retryAfterSeconds: 1e300 };
  const answer = await call('GET', '/api/taken-over');
  expect(answer.json.code).toBe(code);
  expect(answer.headers[header]).toBe(value);
  expect(answer.text.length).toBeLessThan(40_000);
});

test('every wrong field of a body is named', async () => {
  const answer = await call(
    'POST',
    '/api/instances/abc/echo',
    '{"nested":{"deep":"x","more":1},"other":2,"__proto__":3}',
  );
  expect(answer.status).toBe(422);
  expect(answer.json.errors).toEqual(
    expect.arrayContaining([
      { path: 'nested.deep', message: expect.any(String) },
      { path: 'nested.more', message: 'is not known here' },
      { path: 'other', message: 'is not known here' },
      { path: '__proto__', message: 'is not known here' },
    ]),
  );
});

test.each([
  ['an unknown key', '/api/instances/abc/echo?colour=red', 'colour'],
  ['a key given twice', '/api/instances/abc/echo?limit=1&limit=2', 'limit'],
  ['a wrong value', '/api/instances/abc/echo?limit=0', 'limit'],
  ['a query where there is none', '/api/busy?x=1', 'x'],
])('%s in the query is refused', async (_what, path, field) => {
  const answer = await call(path.includes('busy') ? 'GET' : 'POST', path);
  expect(answer.status).toBe(422);
  expect(answer.json.errors).toEqual([{ path: field, message: expect.any(String) }]);
});

test('an id that does not fit the schema is refused, also percent-encoded', async () => {
  for (const id of ['ABC', '..', '%2e%2e', 'a%2fb', 'a%00', "a'--", 'x%ff']) {
    const answer = await call('POST', `/api/instances/${id}/echo`);
    expect([id, answer.status, answer.json.code]).toEqual([id, 422, 'validation']);
  }
});

test('an unknown address is 404 and a wrong method 405 with Allow, as problems', async () => {
  for (const path of [
    '/api',
    '/api/',
    '/api/nothing',
    '/instances/abc/nothing',
    '/api/instances/abc/echo/',
    '/api//busy',
    '/api/healthz',
  ]) {
    const answer = await call('GET', path);
    expect([path, answer.status, answer.json.code]).toEqual([path, 404, 'not_found']);
    expect(answer.headers['content-type']).toBe('application/problem+json');
  }
  const wrong = await call('DELETE', '/api/busy');
  expect([wrong.status, wrong.json.code, wrong.headers.allow]).toEqual([405, 'method_not_allowed', 'GET, HEAD']);
  expect((await call('OPTIONS', '/api/instances/abc/echo')).headers.allow).toBe('POST');
});

test('an address that is nearly one names that one', async () => {
  const hint = async (path: string) => (await call('GET', path)).json.hint;
  expect(await hint('/api/busy/')).toBe('Did you mean /api/busy?');
  expect(await hint('/instances/abc/echo/')).toBe('Did you mean /instances/abc/echo?');
  expect(await hint('/api/healthz')).toBe('Did you mean /healthz?');
  expect(await hint('/api/api/busy')).toBe('Did you mean /api/busy?');
  expect([await hint('/api'), await hint('/api/nothing'), await hint('/instances/abc/nothing')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('a refusal says whether a key was missing, was no key, or opens nothing', async () => {
  const why = async (headers: Record<string, string>) =>
    (await call('GET', '/api/busy', undefined, { key: null, headers })).json.detail;
  expect(await why({})).toBe('This needs a key or a session.');
  expect(await why({ authorization: 'Basic abc' })).toBe('The Authorization header has no Bearer key.');
  expect(await why({ authorization: 'Bearer abc' })).toMatch(/^The key is not one of this server/);
});

test('a problem begins with what every problem has, and HEAD of a download claims no length that it does not know', async () => {
  const { json } = await call('GET', '/api/busy');
  expect(Object.keys(json)).toEqual(['type', 'title', 'status', 'code', 'detail', 'hint', 'request_id', 'active']);
  expect((await call('HEAD', '/api/streams')).headers['content-length']).toBeUndefined();
});

test('what belongs to the console is not owned', () => {
  const owned = ['/api', '/api/x', '/instances', '/instances?x=1', '/instances/a', '/healthz', '/openapi.json'];
  expect(owned.filter((target) => !small.dispatcher.owns(target))).toEqual([]);
  expect(
    ['/', '/sandboxes', '/apis', '/instances-of', '//api', '/healthz2'].filter((target) =>
      small.dispatcher.owns(target),
    ),
  ).toEqual([]);
});

test('no request is admitted without a key, and none of its body is read', async () => {
  for (const key of [null, 'wrong', '']) {
    const answer = await call('PUT', '/api/instances/abc/files/a', Buffer.alloc(1000), { key });
    expect([answer.status, answer.json.code, answer.headers['www-authenticate']]).toEqual([
      401,
      'unauthorized',
      'Bearer',
    ]);
  }
  expect(small.seen.sizes).toEqual([]);
  expect((await call('GET', '/healthz', undefined, { key: null })).json).toEqual({ status: 'ok' });
});

test('a session changes things only from the same origin', async () => {
  const path = '/api/instances/abc/echo';
  const from = (headers: Record<string, string>) =>
    call('POST', path, undefined, { key: null, headers: { cookie: 'session=good', ...headers } }).then(
      ({ status }) => status,
    );
  expect(await from({})).toBe(403);
  expect(await from({ 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(await from({ 'sec-fetch-site': 'same-site' })).toBe(403);
  expect(await from({ 'sec-fetch-site': 'same-origin' })).toBe(200);
  expect(await from({ origin: 'https://evil.example' })).toBe(403);
  expect(await from({ origin: 'null' })).toBe(403);
  expect(await from({ origin: 'https://dock.example' })).toBe(200);
  expect(await from({ origin: `http://127.0.0.1:${small.port}` })).toBe(200);
  expect(await from({ origin: `http://127.0.0.1:${small.port + 1}` })).toBe(403);
  expect(await from({ origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' })).toBe(403);
  const read = await call('GET', '/api/busy', undefined, { key: null, headers: { cookie: 'session=good' } });
  expect(read.status).toBe(503);
});

test('a failure tells nothing about the machine', async () => {
  const answer = await call('GET', '/api/fails');
  expect([answer.status, answer.json.code]).toEqual([500, 'internal']);
  expect(answer.text).not.toMatch(/secret|registry|home|\.ts|at /);
});

test('a known failure keeps its code, hint, extras and Retry-After', async () => {
  const answer = await call('GET', '/api/busy');
  expect(answer.status).toBe(503);
  expect(answer.headers['retry-after']).toBe('2');
  expect(answer.json).toMatchObject({
    code: 'capacity',
    active: 3,
    hint: 'Wait.',
    request_id: answer.headers['x-request-id'],
  });
});

test('every answer carries a request id: the one that was sent when it is sane', async () => {
  const mine = await call('GET', '/api/busy', undefined, { headers: { 'x-request-id': 'mine-1.2' } });
  expect(mine.headers['x-request-id']).toBe('mine-1.2');
  for (const id of ['x'.repeat(65), 'a b', '<script>']) {
    const other = await call('GET', '/healthz', undefined, { headers: { 'x-request-id': id } });
    expect(other.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('HEAD answers like GET without a body', async () => {
  const get = await call('GET', '/healthz');
  const head = await call('HEAD', '/healthz');
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', get.headers['content-length']]);
});

test('the web adapter gives the same answers', async () => {
  const web = (method: string, path: string, body?: BodyInit, headers?: Record<string, string>) =>
    answerWeb(
      small.dispatcher,
      new Request(`http://x${path}`, {
        method,
        headers: { authorization: `Bearer ${SMALL_KEY}`, ...headers },
        ...(body === undefined ? {} : { body }),
      }),
    );
  const echo = await web('POST', '/api/instances/abc/echo', '{"text":"hi"}');
  expect([echo.status, (await echo.json()).body]).toEqual([200, { text: 'hi' }]);
  expect((await web('GET', '/instances/nothing/at/all')).status).toBe(404);
  expect((await web('PUT', '/api/instances/abc/files/a', new Uint8Array(2 * MIB))).status).toBe(413);
  const head = await web('HEAD', '/healthz');
  expect([head.status, await head.text()]).toEqual([200, '']);
  const stream = await web('GET', '/api/streams');
  const reader = stream.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('event: hello');
  await reader?.cancel();
  expect(small.seen.sink?.gone.aborted).toBe(true);
});

/** A download that fails after so many pieces. */
const failing = (pieces: number) =>
  Readable.from(
    (async function* () {
      for (let n = 0; n < pieces; n += 1) yield Buffer.from('a piece');
      throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' });
    })(),
  );

test('a download that fails before its first byte is an answer, and stands in the log as any other failure', async () => {
  small.seen.download = failing(0);
  const answer = await call('GET', '/api/downloads');
  expect([answer.status, answer.json.code]).toEqual([503, 'storage_unavailable']);
  const lines = small.logged.filter(({ requestId }) => requestId === answer.json.request_id);
  expect(lines.map(({ msg }) => msg)).toEqual(['the storage refused a request']);
});

test('a download that fails later is cut, and stands in the log; one whose client goes does not', async () => {
  const before = small.logged.length;
  const fetched = (signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${small.port}/api/downloads`, {
      headers: { authorization: `Bearer ${SMALL_KEY}` },
      ...(signal === undefined ? {} : { signal }),
    });
  small.seen.download = failing(1);
  await expect(fetched().then((response) => response.text())).rejects.toThrow();
  await expect.poll(() => small.logged.length).toBe(before + 1);
  expect(small.logged.at(-1)?.msg).toBe('the storage refused a request');
  const endless = Readable.from(
    (async function* () {
      for (;;) {
        yield Buffer.from('a piece');
        await new Promise((resolve) => setImmediate(resolve));
      }
    })(),
  );
  small.seen.download = endless;
  const stop = new AbortController();
  await fetched(stop.signal);
  stop.abort();
  await new Promise((resolve) => endless.once('close', resolve));
  await expect(call('GET', '/healthz')).resolves.toMatchObject({ status: 200 });
  expect(small.logged).toHaveLength(before + 1);
});
