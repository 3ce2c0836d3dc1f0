import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { caller } from '../testing/call.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { ANSWER_HEADERS, pagePolicy } from './headers.ts';
import { type Listener, listen } from './listener.ts';

let server: TestServer;
const listeners: Listener[] = [];
beforeAll(async () => {
  server = await startServer({ settings: { WB_LOG: 'silent' } });
  await server.call('POST', '/api/instances', { id: 'box', tenant: 'acme' });
});
afterEach(() => Promise.all(listeners.splice(0).map((listener) => listener.close(0))));
afterAll(() => server.stop());

/** A front of `on` whose pages say what reached them. */
async function front(on: TestServer = server) {
  const requests: { method?: string; headers: IncomingMessage['headers'] }[] = [];
  const pages = (req: IncomingMessage, res: ServerResponse) => {
    requests.push({ method: req.method, headers: req.headers });
    res.end('a page');
  };
  const listener = await listen(on.host, { port: 0, address: '127.0.0.1', pages });
  listeners.push(listener);
  return { requests, port: listener.port, call: caller(`http://127.0.0.1:${listener.port}`, TEST_KEY) };
}

const nonceOf = (policy: unknown) => /script-src 'nonce-([^']+)'/.exec(String(policy))?.[1];

test('every answer of every kind tells the browser to be careful', async () => {
  const { call } = await front();
  await call('PUT', '/api/instances/box/volumes/workspace/a.txt', 'x');
  for (const [method, path, status] of [
    ['GET', '/', 200],
    ['GET', '/_next/static/chunks/x.js', 200],
    ['GET', '/api/instances', 200],
    ['GET', '/api/instances/box/volumes/workspace/a.txt', 200],
    ['GET', '/api/instances/nobody', 404],
    ['DELETE', '/healthz', 405],
    ['GET', '/api/auth/get-session', 200],
    ['POST', '/api/auth/sign-out', 403],
    ['GET', '/openapi.json', 200],
    ['POST', '/', 403],
  ] as const) {
    const { headers, ...answer } = await call(method, path, method === 'POST' ? {} : undefined);
    expect([path, answer.status]).toEqual([path, status]);
    const { 'content-security-policy': policy, ...fixed } = ANSWER_HEADERS;
    expect(headers).toMatchObject(fixed);
    expect(headers['content-security-policy']).toMatch(/default-src 'none'/);
    expect(headers['content-security-policy']).toMatch(/frame-ancestors 'none'/);
    expect(headers['content-security-policy']).toMatch(/base-uri 'none'/);
    expect(headers['x-powered-by']).toBeUndefined();
    if (path.startsWith('/api/instances/nobody')) expect(headers['content-security-policy']).toBe(policy);
  }
});

test('a request that is not even HTTP gets the strict headers too', async () => {
  const { port } = await front();
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.write('nonsense\r\n\r\n');
  await once(socket, 'close');
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  expect(received).toContain('\r\nx-content-type-options: nosniff\r\n');
  expect(received).toContain("\r\ncontent-security-policy: default-src 'none'");
});

test('each page has its own nonce, which no client can choose', async () => {
  const { call, requests } = await front();
  const claimed = {
    'content-security-policy': "script-src 'nonce-EVIL' *",
    'content-security-policy-report-only': "script-src 'nonce-EVIL' *",
  };
  const nonces = new Set<string | undefined>();
  for (const headers of [{}, claimed, {}]) {
    const answer = await call('GET', '/sandboxes', undefined, { headers });
    const forwarded = requests.at(-1)?.headers ?? {};
    expect(forwarded['content-security-policy']).toBe(answer.headers['content-security-policy']);
    expect(forwarded['content-security-policy-report-only']).toBeUndefined();
    nonces.add(nonceOf(answer.headers['content-security-policy']));
  }
  expect(nonces.size).toBe(3);
  for (const nonce of nonces) expect(nonce).toMatch(/^[A-Za-z0-9+/]{22}==$/);
});

test('the policy of a page names no other origin, nothing unsafe, and types what becomes code', () => {
  const policy = pagePolicy('abc', { dev: false });
  expect(policy).not.toMatch(/unsafe-|https?:|\*|data:|blob:/);
  expect(policy).toMatch(/^default-src 'none'; /);
  for (const rule of [
    "script-src 'nonce-abc' 'strict-dynamic'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ]) {
    expect(policy.split('; ')).toContain(rule);
  }
});

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another port of the same site', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }],
  ['another site, in a browser without fetch metadata', { origin: 'https://evil.example' }],
  ['a sandboxed frame', { origin: 'null' }],
  ['the same host under another scheme', { host: 'dock.lan:3000', origin: 'https://dock.lan:3000' }],
  ['no origin at all', {}],
  ['an origin that is none', { origin: 'javascript:alert(1)' }],
])('a form or server action sent from %s never reaches a page', async (_where, headers) => {
  const { call, requests } = await front();
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const answer = await call(method, '/sandboxes/box', 'verb=suspend', {
      key: null,
      headers: { ...headers, 'next-action': '40f5', 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([answer.status, answer.json.code]).toEqual([403, 'forbidden']);
  }
  expect(requests).toEqual([]);
});

test('a form sent from the console reaches its page, by whatever name the console is known', async () => {
  const { call, requests, port } = await front();
  for (const [host, origin] of [
    [`127.0.0.1:${port}`, `http://127.0.0.1:${port}`],
    ['dock.lan:3000', 'http://dock.lan:3000'],
  ] as const) {
    expect((await call('POST', '/', 'x', { headers: { host, origin } })).text).toBe('a page');
    expect(requests.at(-1)?.headers['x-forwarded-host']).toBe(host);
  }
  const open = await startServer({ settings: { WB_LOG: 'silent', WB_PUBLIC_URL: 'https://dock.example' } });
  try {
    const behind = await front(open);
    const answer = await behind.call('POST', '/', 'x', { headers: { origin: 'https://dock.example' } });
    expect([answer.text, behind.requests[0]?.headers['x-forwarded-host']]).toEqual(['a page', 'dock.example']);
    // Who sits on the way of plain HTTP has the host, and not the scheme.
    const plain = { host: 'dock.example', origin: 'http://dock.example' };
    expect((await behind.call('POST', '/', 'x', { headers: plain })).status).toBe(403);
  } finally {
    await open.stop();
  }
});

test('what a proxy says of the client counts only where a proxy is trusted', async () => {
  const claimed = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-for': '6.6.6.6',
    'x-forwarded-proto': 'https',
    forwarded: 'for=6.6.6.6;host=evil.example',
    'x-real-ip': '6.6.6.6',
  };
  const { call, requests } = await front();
  await call('GET', '/', undefined, { headers: claimed });
  for (const name of Object.keys(claimed)) expect(requests[0]?.headers[name]).toBeUndefined();
  const forged = await call('POST', '/', 'x', { headers: { ...claimed, origin: 'https://evil.example' } });
  expect(forged.status).toBe(403);

  const trusting = await startServer({ settings: { WB_LOG: 'silent', WB_TRUST_PROXY: '1' } });
  try {
    const behind = await front(trusting);
    const proxied = { ...claimed, 'x-forwarded-host': 'dock.example', origin: 'https://dock.example' };
    expect((await behind.call('POST', '/', 'x', { headers: proxied })).status).toBe(200);
    expect(behind.requests[0]?.headers['x-forwarded-for']).toBe('6.6.6.6');
    const plain = { ...proxied, origin: 'http://dock.example' };
    expect((await behind.call('POST', '/', 'x', { headers: plain })).status).toBe(403);
  } finally {
    await trusting.stop();
  }
});

test('a file is data whatever it calls itself: never a page, never a script of this origin', async () => {
  const { call } = await front();
  for (const [name, type] of [
    ['evil.html', 'application/octet-stream'],
    ['evil.svg', 'application/octet-stream'],
    ['evil.xhtml', 'application/octet-stream'],
    ['evil.xml', 'application/octet-stream'],
    ['evil.js', 'application/octet-stream'],
    ['evil.mjs', 'application/octet-stream'],
    ['evil.css', 'application/octet-stream'],
    ['evil.pdf', 'application/octet-stream'],
    ['evil.constructor', 'application/octet-stream'],
    ['evil', 'application/octet-stream'],
    ['notes.md', 'text/plain; charset=utf-8'],
    ['plain.txt', 'text/plain; charset=utf-8'],
    ['pixel.png', 'image/png'],
    ['a"; filename=x.html.txt', 'text/plain; charset=utf-8'],
  ] as const) {
    const path = `/api/instances/box/volumes/workspace/${encodeURIComponent(name)}`;
    await call('PUT', path, '<script>fetch("/api/keys")</script>');
    for (const [method, headers, status] of [
      ['GET', {}, 200],
      ['HEAD', {}, 200],
      ['GET', { range: 'bytes=0-3' }, 206],
    ] as const) {
      const answer = await call(method, path, undefined, { headers });
      expect([name, answer.status, answer.headers['content-type']]).toEqual([name, status, type]);
      expect(answer.headers['content-disposition']).toMatch(/^attachment; filename\*=UTF-8''[\w.%-]+$/);
      expect(answer.headers['content-security-policy']).toMatch(
        /^sandbox; default-src 'none'; .*frame-ancestors 'none'/,
      );
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
    }
  }
});

test('a developer’s own server allows what hot reloading needs, and the built one none of it', () => {
  const [dev, built] = [pagePolicy('n', { dev: true }), pagePolicy('n', { dev: false })];
  for (const weak of ["'unsafe-eval'", "'unsafe-inline'", 'ws:'])
    expect([dev, built].map((one) => one.includes(weak))).toEqual([true, false]);
  expect([dev, built].map((one) => one.includes('trusted-types'))).toEqual([false, true]);
});
