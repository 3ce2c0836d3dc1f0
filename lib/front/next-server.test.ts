import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { currentRequest } from '../host/request-context.ts';
import { caller } from '../testing/call.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { attachToNextServer } from './next-server.ts';

let engine: TestServer;
const servers: Server[] = [];

beforeAll(async () => {
  engine = await startServer({ settings: { WB_LOG: 'silent' } });
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});
afterAll(() => engine.stop());

/** A server that listens, as Next's does before anything of ours runs. */
async function listening(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, port, call: caller(`http://127.0.0.1:${port}`, TEST_KEY) };
}

test('requests that come while the engine starts wait for it, and are answered behind the front', async () => {
  const requests: unknown[] = [];
  const { port, call } = await listening((req, res) => {
    requests.push([req.url, currentRequest()?.wire?.target ?? null]);
    res.end('of Next');
  });
  const adopted = attachToNextServer({ port, dev: false });
  const arrived = new Promise((resolve) => subscribe('http.server.request.start', resolve));
  const waiting = call('GET', '/sandboxes');
  await arrived;
  expect(requests).toEqual([]);
  await adopted.open(engine.host, (next) => next);
  const page = await waiting;
  expect([page.status, page.text, page.headers['x-frame-options']]).toEqual([200, 'of Next', 'DENY']);
  expect((await call('GET', '/api/me')).text).toBe('of Next');
  expect((await call('GET', '/api/instances/../me')).json).toMatchObject({ code: 'not_found' });
  expect(requests).toEqual([
    ['/sandboxes', null],
    ['/api/me', '/api/me'],
  ]);
  await adopted.close(1000);
  await expect(call('GET', '/sandboxes')).rejects.toThrow();
});

test('another server of the process is left alone', async () => {
  const next = await listening((_req, res) => void res.end('of Next'));
  const other = await listening((_req, res) => void res.end('of another'));
  const adopted = attachToNextServer({ port: next.port, dev: false });
  await adopted.open(engine.host, (pages) => pages);
  expect((await other.call('GET', '/sandboxes')).headers['x-frame-options']).toBeUndefined();
  expect((await next.call('GET', '/sandboxes')).headers['x-frame-options']).toBe('DENY');
  expect((await other.call('GET', '/sandboxes')).text).toBe('of another');
});

test('a route file that fails is a problem under the id of its request, and tells nothing', async () => {
  const { port, call } = await listening(() => {
    throw new Error('secret: /home/someone');
  });
  await attachToNextServer({ port, dev: false }).open(engine.host, (next) => next);
  const answer = await call('GET', '/api/me', undefined, { headers: { 'x-request-id': 'mine' } });
  expect([answer.status, answer.json.code, answer.json.request_id]).toEqual([500, 'internal', 'mine']);
  expect(answer.text).not.toContain('secret');
});

test('an unknown HOST stops the start', async () => {
  const { port } = await listening((_req, res) => void res.end());
  const { host } = engine;
  const elsewhere = { ...host, config: { ...host.config, host: 'nobody.invalid' } };
  await expect(attachToNextServer({ port, dev: false }).open(elsewhere, (next) => next)).rejects.toMatchObject({
    syscall: 'getaddrinfo',
  });
});
