/**
 * Requests to pages, on the process that people start: hostile ones are refused, failures are reported, and both under
 * one request id.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ERROR_STATUS, type ErrorCode } from '../lib/base/error-status.ts';
import { partOf } from '../lib/testing/draw.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { TEST_KEY } from '../lib/testing/server.ts';
import { ensureBuilt } from '../scripts/build.ts';
import { actionNamed, hostileForms, hostileVisits } from './hostile-requests.ts';

const folder = mkdtempSync(join(tmpdir(), 'winterdock-requests-'));
let server: ServerProcess;

beforeAll(async () => {
  ensureBuilt();
  const settings = { NODE_ENV: 'production', WB_LOG: 'info', WB_RATE_ADDRESS: '0', WB_COST_ADDRESS: '0' };
  server = await spawnServer({ folder, args: [], settings });
  await server.call('POST', '/api/instances', { id: 'box', tenant: 'acme' });
});
afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true, force: true });
});

/** Everything that comes back for a request, on a connection of its own. */
function say(text: string): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    let output = '';
    const socket = connect(Number(port), hostname);
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      output += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(output));
    socket.write(text, 'latin1');
  });
}

const headerOf = (answer: string, name: string) =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(answer.split('\r\n\r\n', 1)[0] ?? '')?.[1]?.trim();

/** Sends all, some at a time, and returns the ones without a status below 500 and an id. */
async function notRefused(requests: readonly string[]): Promise<string[]> {
  const wrong: string[] = [];
  const left = requests.values();
  const send = async () => {
    for (const request of left) {
      const answer = await say(request);
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
      if (status >= 200 && status < 500 && headerOf(answer, 'x-request-id') !== undefined) continue;
      wrong.push(
        `${JSON.stringify(request.slice(0, 400))} … ${JSON.stringify(request.slice(-80))} → ${answer.slice(0, 60)}`,
      );
    }
  };
  await Promise.all(Array.from({ length: 4 }, send));
  return wrong;
}

interface Line {
  level: number;
  msg: string;
  requestId?: string;
  status?: number;
  err?: { message: string };
}

/** The lines of the log, up to one that is made for the purpose. What a start says before is for people. */
async function logged(of: ServerProcess = server): Promise<string[]> {
  const mark = `mark-${randomUUID()}`;
  await of.call('GET', '/healthz', undefined, { headers: { 'x-request-id': mark } });
  await vi.waitFor(() => expect(of.output()).toMatch(new RegExp(`"requestId":"${mark}".*\\n`)), 240_000);
  const [, lines = ''] = of.output().split(/^ready .*\n/m);
  return lines.split('\n').filter((line) => line !== '');
}

/** The lines of the log under one request. */
const loggedFor = async (requestId: string): Promise<Line[]> =>
  (await logged()).map((line) => JSON.parse(line) as Line).filter((line) => line.requestId === requestId);

// A round tries every other one of them.
test('no address, method or header makes a page fail', async () => {
  const visits = hostileVisits();
  expect(visits.length).toBeGreaterThan(500);
  expect(await notRefused(partOf(visits, 2))).toEqual([]);
});

test('no content of a form or an action’s call makes it fail', async () => {
  const forms = hostileForms();
  expect(forms.length).toBeGreaterThan(1000);
  expect(await notRefused(partOf(forms, 2))).toEqual([]);
});

test('the output of Next and the server about all this is lines of JSON, none of them an error', async () => {
  const lines = await logged();
  expect(lines.length).toBeGreaterThan(1500);
  expect(lines.filter((line) => !line.startsWith('{"level":') || !line.endsWith('}'))).toEqual([]);
  const parsed = lines.map((line) => JSON.parse(line) as Line);
  expect(parsed.filter(({ level }) => level > 40)).toEqual([]);
  expect(parsed.filter(({ msg, requestId }) => msg !== 'Node warns' && requestId === undefined)).toEqual([]);
});

test.each([
  ['nonsense', 'nonsense\r\n\r\n', 400, 'bad_request'],
  ['a method that there is not', 'G\0T / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'bad_request'],
  ['another version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400, 'bad_request'],
  ['the opening of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'bad_request'],
  ['the opening of TLS', '\x16\x03\x01\x02\0\x01\0', 400, 'bad_request'],
  ['a header with a space', 'GET / HTTP/1.1\r\nHost: x\r\nbad header: y\r\n\r\n', 400, 'bad_request'],
  ['a header that is folded', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n', 400, 'bad_request'],
  [
    'a length that is none',
    'POST /api/instances HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    400,
    'bad_request',
  ],
  [
    'a length and chunks',
    'POST /api/instances HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
    'bad_request',
  ],
  [
    'a chunk that is none',
    `PUT /api/instances/box/volumes/workspace/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TEST_KEY}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    400,
    'bad_request',
  ],
  ['no host', 'GET /api/instances HTTP/1.1\r\n\r\n', 400, 'bad_request'],
  ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400, 'bad_request'],
  ['headers of 20 kB', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['headers of 2 MB', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(2_000_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['an address of 20 kB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'headers_too_large'],
  ['a tunnel', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n', 405, 'method_not_allowed'],
] as const)(
  '%s is answered from the error table, logged under its id, and ends the connection',
  async (_what, text, status, code) => {
    const answer = await say(text);
    const requestId = headerOf(answer, 'x-request-id') ?? '';
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(headerOf(answer, 'content-type')).toBe('application/problem+json');
    expect(headerOf(answer, 'connection')).toBe('close');
    const problem = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
    expect(problem).toMatchObject({ type: 'about:blank', status, code, request_id: requestId });
    expect(ERROR_STATUS[problem.code as ErrorCode]).toBe(status);
    expect(problem.title).not.toBe('Error');
    expect((await loggedFor(requestId)).map((line) => [line.level, line.status])).toContainEqual([30, status]);
  },
);

test('an expectation that cannot be met is answered from the error table', async () => {
  const answer = await server.call('POST', '/api/instances', '{}', { headers: { expect: 'a-miracle' } });
  expect([answer.status, answer.json.code]).toEqual([417, 'expectation_failed']);
});

test('garbage behind a request does not take the place of its answer', async () => {
  const answer = await say(
    `GET /api/instances HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TEST_KEY}\r\n\r\ngarbage\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer.split('HTTP/1.1 ')).toHaveLength(2);
});

const HTML = { accept: 'text/html,*/*' };
const shownId = (page: string) => /Request <code>([^<]+)<\/code>/.exec(page)?.[1];

test('a refused page shows the reason in plain HTML, under the id of its header and of the log', async () => {
  for (const [path, status, says] of [
    ['/sandboxes/%ff', 400, 'not valid percent-encoded'],
    ['/_next/image?url=x', 404, 'nothing at this address'],
    ['/_next/../api/me', 400, 'no . or .. segments'],
  ] as const) {
    const { headers, text, ...answer } = await server.call('GET', path, undefined, { headers: HTML });
    expect([path, answer.status, headers['content-type']]).toEqual([path, status, 'text/html; charset=utf-8']);
    expect(text).toContain(says);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'nonce-/);
    expect(shownId(text)).toBe(headers['x-request-id']);
    expect(await loggedFor(headers['x-request-id'] ?? '')).toHaveLength(1);
  }
});

const CALL = { 'sec-fetch-site': 'same-origin', accept: 'text/x-component' };

/** Calls an action as the console's scripts do: `bound` before a form of these fields. */
function act(
  on: ServerProcess,
  name: string,
  page: string,
  bound: unknown[],
  fields: Record<string, string>,
  id?: string,
) {
  // React writes the arguments after the fields that they point at.
  const form = [
    ...Object.entries(fields).map(([key, value]) => [`_1_${key}`, value]),
    ['0', JSON.stringify([...bound, '$K1'])],
  ];
  const body = form
    .map(([key, value]) => `--xx\r\nContent-Disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`)
    .join('');
  const headers = { ...CALL, 'next-action': actionNamed(name), 'content-type': 'multipart/form-data; boundary=xx' };
  return on.call('POST', page, `${body}--xx--\r\n`, {
    headers: id === undefined ? headers : { ...headers, 'x-request-id': id },
  });
}

test('an action has one id: in the answer, in the log, in the ledger, given or made', async () => {
  await server.call('POST', '/api/instances', { id: 'own', tenant: 'acme' });
  for (const [given, verb] of [
    ['given-by-a-client', 'resume'],
    [undefined, 'suspend'],
  ] as const) {
    const { status, headers } = await act(server, 'moveSandbox', '/sandboxes/own', ['own', null], { verb }, given);
    const requestId = headers['x-request-id'] ?? '';
    expect(status).toBe(200);
    if (given !== undefined) expect(requestId).toBe(given);
    expect((await loggedFor(requestId)).map(({ msg }) => msg)).toEqual(['request']);
    const lines = (await server.call<{ type: string; request_id: string }[]>('GET', '/api/instances/own/events')).json;
    expect(lines[0]).toMatchObject({ type: 'transition', request_id: requestId });
  }
  const { headers } = await server.call('GET', '/', undefined, { headers: { 'x-request-id': 'not one <b>' } });
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
});

test('a stream has the id of its request, which the wake that it causes has in the ledger', async () => {
  await server.call('POST', '/api/instances', { id: 'streamed', tenant: 'acme' });
  const headers = { accept: 'text/event-stream', 'x-request-id': 'of-a-stream' };
  const answer = await server.call('POST', '/api/instances/streamed/exec', { command: 'echo heard' }, { headers });
  expect([answer.status, answer.headers['x-request-id']]).toEqual([200, 'of-a-stream']);
  expect(answer.text).toContain('heard');
  const lines = (await server.call<{ type: string; request_id: string }[]>('GET', '/api/instances/streamed/events'))
    .json;
  expect(lines[0]).toMatchObject({ type: 'transition', request_id: 'of-a-stream' });
  expect((await loggedFor('of-a-stream')).map(({ msg }) => msg)).toEqual(['request']);
});

test('an action that cannot be decoded gives the console’s scripts a sentence', async () => {
  const headers = { ...CALL, 'next-action': actionNamed('chooseTheme'), 'content-type': 'text/plain;charset=UTF-8' };
  const answer = await server.call('POST', '/', '{', { headers });
  expect(answer.status).toBe(400);
});

test('pages and actions count in the rate limits; what belongs to a page does not, and a refusal is a page too', async () => {
  const own = mkdtempSync(join(tmpdir(), 'winterdock-requests-'));
  const settings = { NODE_ENV: 'production', WB_LOG: 'info', WB_RATE_ADDRESS: '20' };
  const limited = await spawnServer({ folder: own, args: [], settings });
  try {
    const anybody = { key: null, headers: HTML };
    for (let n = 0; n < 40; n += 1) await limited.call('GET', '/_next/static/none.js', undefined, anybody);
    for (let n = 0; n < 19; n += 1) expect((await limited.call('GET', '/signin', undefined, anybody)).status).toBe(200);
    expect((await act(limited, 'chooseTheme', '/signin', [], { theme: 'dark' })).status).toBe(200);
    const refused = await limited.call('GET', '/signin', undefined, anybody);
    expect([refused.status, refused.headers['content-type']]).toEqual([429, 'text/html; charset=utf-8']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.text).toMatch(/asks too often.*Try again in \d+ s.*href="\/signin"/s);
    expect(shownId(refused.text)).toBe(refused.headers['x-request-id']);
    const action = await act(limited, 'chooseTheme', '/signin', [], { theme: 'dark' });
    expect([action.status, action.headers['content-type']]).toEqual([429, 'text/plain']);
    expect(action.text).toMatch(/^This address asks too often\. Try again in \d+ s\. Request \S+\.$/);
    expect((await limited.call('GET', '/api/auth/get-session', undefined, { key: null })).status).toBe(429);
    expect((await limited.call('GET', '/_next/static/none.js', undefined, anybody)).status).toBe(404);
  } finally {
    await limited.end();
    rmSync(own, { recursive: true, force: true });
  }
});

test('a failed page shows it in plain HTML, and to the console’s scripts, under the id that has the cause in the log', async () => {
  const registry = new DatabaseSync(join(folder, 'registry.sqlite'));
  registry.exec('DROP TABLE jobs');
  registry.close();
  const page = await server.call('GET', '/jobs', undefined, { headers: HTML });
  const requestId = page.headers['x-request-id'] ?? '';
  expect([page.status, shownId(page.text)]).toEqual([500, requestId]);
  expect(page.text).toMatch(/<h1>Internal error<\/h1>.*href="\/jobs">Try again/s);
  expect(page.text).not.toMatch(/SQLITE|no such table|at .*\.[jt]s/);
  const causes = (await loggedFor(requestId)).filter(({ level }) => level === 50);
  expect(causes.map(({ err }) => err?.message).join()).toMatch(/jobs/);
  expect(causes).toHaveLength(1);

  const asked = await server.call('GET', '/jobs', undefined, { headers: { rsc: '1' } });
  const to = asked.headers.location ?? '/jobs';
  const flight = await server.call('GET', to, undefined, { headers: { rsc: '1' } });
  expect(flight.headers['content-type']).toMatch(/^text\/x-component/);
  expect(flight.text).toContain(`"digest":"${flight.headers['x-request-id']}"`);

  const action = await act(server, 'cancelJob', '/jobs/box', ['job_of_nobody'], {});
  const failed = action.headers['x-request-id'] ?? '';
  expect([action.status, action.text]).toEqual([200, expect.stringContaining(`Request ${failed}`)]);
  expect((await loggedFor(failed)).filter(({ level }) => level === 50)).toHaveLength(1);
});
