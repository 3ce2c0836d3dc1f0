import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { caller } from '../testing/call.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type Listener, listen } from './listener.ts';
import type { PageHandler } from './page-adapter.ts';

let server: TestServer;
const listeners: Listener[] = [];
beforeAll(async () => {
  server = await startServer({ settings: { WB_LOG: 'silent' } });
});
afterEach(() => Promise.all(listeners.splice(0).map((listener) => listener.close(0))));
afterAll(() => server.stop());

async function serve(pages: PageHandler, options: { headersMs?: number; stallMs?: number } = {}) {
  const listener = await listen(server.host, { port: 0, address: '127.0.0.1', pages, ...options });
  listeners.push(listener);
  return { listener, call: caller(`http://127.0.0.1:${listener.port}`, TEST_KEY) };
}

test('pages answer requests outside the API, with a request id', async () => {
  const requests: string[] = [];
  const { call } = await serve((req: IncomingMessage, res: ServerResponse) => {
    requests.push(`${req.method} ${req.url}`);
    res.end(String(req.headers['x-request-id']));
  });
  for (const path of ['/', '/sandboxes?state=active', '/apis', '//api/instances']) {
    const answer = await call('GET', path);
    expect([path, answer.status, answer.text]).toEqual([path, 200, answer.headers['x-request-id']]);
  }
  expect((await call('GET', '/', undefined, { headers: { 'x-request-id': 'mine' } })).text).toBe('mine');
  for (const path of ['/api/nothing', '/instances', '/healthz', '/api/auth/ok']) await call('GET', path);
  expect(requests).toEqual(['GET /', 'GET /sandboxes?state=active', 'GET /apis', 'GET //api/instances', 'GET /']);
});

test('without pages everything else is not found', async () => {
  const answer = await server.call('GET', '/sandboxes');
  expect([answer.status, answer.json.code]).toEqual([404, 'not_found']);
});

test('a page that fails tells nothing', async () => {
  const { call } = await serve(() => {
    throw new Error('secret: /home/someone');
  });
  const answer = await call('GET', '/');
  expect([answer.status, answer.json.code]).toEqual([500, 'internal']);
  expect(answer.text).not.toContain('secret');
});

test('a listener that closes lets answers under way finish, cuts idle connections and refuses new ones', async () => {
  let finish: (() => void) | null = null;
  const { listener, call } = await serve((_req, res) => {
    finish = () => void res.end('whole');
  });
  const idle = connect(listener.port, '127.0.0.1').resume();
  const cut = once(idle, 'close');
  await once(idle, 'connect');
  const under = call('GET', '/slow');
  await vi.waitFor(() => expect(finish).not.toBeNull(), { timeout: 240_000 });
  const closed = listener.close(20_000);
  await expect(call('GET', '/')).rejects.toThrow();
  (finish as unknown as () => void)();
  expect((await under).text).toBe('whole');
  await closed;
  await cut;
});

test('a listener that closes cuts what does not finish in time', async () => {
  const pages = Promise.withResolvers<void>();
  const { listener, call } = await serve(() => pages.resolve());
  const hanging = call('GET', '/never');
  hanging.catch(() => undefined);
  await pages.promise;
  await listener.close(50);
  await expect(hanging).rejects.toThrow();
});

test('a request that comes too slowly is cut without a 408, which a browser would take for a reason to send it again', async () => {
  const { listener } = await serve(() => undefined, { headersMs: 100 });
  const socket = connect(listener.port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => undefined);
  socket.write('POST /api/instances/x/exec HTTP/1.1\r\nhost: x\r\n');
  await once(socket, 'close');
  expect(received).toBe('');
});

/** A connection that has asked for something, with what it was told. Nothing is taken while it is paused. */
function ask(listener: Listener, text: string): Socket {
  const socket = connect(listener.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(text);
  return socket;
}

test('who sends nothing more of a body, or takes nothing of an answer, is cut; who waits for a slow answer is not', async () => {
  const [asked, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const FILE = '/shares/import';
  const cut: string[] = [];
  const { listener, call } = await serve(
    (req, res) => {
      res.once('close', () => res.writableFinished || cut.push(String(req.url)));
      if (req.url === FILE) req.resume();
      else if (req.url === '/large') res.end(Buffer.alloc(64_000_000));
      else {
        asked.resolve();
        void ended.promise.then(() => res.end('slow'));
      }
    },
    { stallMs: 2000 },
  );
  const slow = call('GET', '/slow');
  await asked.promise;
  const same = 'host: x\r\nsec-fetch-site: same-origin\r\n';
  const body = ask(listener, `POST ${FILE} HTTP/1.1\r\n${same}content-length: 100\r\n\r\nhalf`);
  const large = ask(listener, `GET /large HTTP/1.1\r\n${same}\r\n`).pause();
  const silent = connect(listener.port, '127.0.0.1');
  // A form is read before its page is asked.
  const form = ask(listener, `POST /form HTTP/1.1\r\n${same}content-length: 100\r\n\r\nhalf`);
  await Promise.all([body, form, silent].map((socket) => once(socket.resume(), 'close')));
  await vi.waitFor(() => expect(cut.toSorted()).toEqual(['/large', FILE]), 240_000);
  large.destroy();
  ended.resolve();
  expect((await slow).text).toBe('slow');
});

test('a target with a host of its own is read as its path', async () => {
  const { listener } = await serve((req, res) => void res.end(`path ${req.url}`));
  for (const [target, path] of [
    ['http://evil.example/a?b=c', '/a?b=c'],
    ['HTTPS://evil.example', '/'],
    ['http://evil.example?x', '/?x'],
  ]) {
    const socket = ask(listener, `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    await once(socket, 'close');
    expect(received).toMatch(`path ${path}`);
  }
});

/** Everything that comes back for what is sent in one piece. */
async function sayAt(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let output = '';
  socket.on('data', (chunk) => {
    output += chunk;
  });
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  return output;
}

const asked = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

test('requests in one piece are answered one after the other, in their order', async () => {
  let underWay = 0;
  let most = 0;
  const { listener } = await serve(async (req, res) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await sleep(5);
    underWay -= 1;
    res.end(`[${req.url}]`);
  });
  const paths = Array.from({ length: 15 }, (_, at) => `/${at}`);
  const answers = await sayAt(
    listener.port,
    paths.map((path) => asked(path)).join('') + asked('/last', 'Connection: close\r\n'),
  );
  expect(answers.match(/\[[^\]]+\]/g)).toEqual([...paths, '/last'].map((path) => `[${path}]`));
  expect(most).toBe(1);
});

test('more requests in one piece than anybody sends are refused with their connection, before they are begun', async () => {
  let begun = 0;
  const { listener, call } = await serve(async (_req, res) => {
    begun += 1;
    await sleep(5);
    res.end('answered');
  });
  const answer = await sayAt(listener.port, asked('/page').repeat(700));
  expect(answer).toMatch(/^HTTP\/1\.1 429 /);
  expect(answer.split('HTTP/1.1 ')).toHaveLength(2);
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({ code: 'rate_limited' });
  expect(begun).toBe(1);
  expect((await call('GET', '/page')).text).toBe('answered');
});

test('a request with more than a hundred headers is refused, to a page and to the API', async () => {
  const { call } = await serve((_req, res) => void res.end('answered'));
  const headers = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`x-${at}`, '1']));
  for (const path of ['/page', '/api/me']) {
    const answer = await call('GET', path, undefined, { headers });
    expect([path, answer.status, answer.json.code]).toEqual([path, 431, 'headers_too_large']);
  }
});

test('a page gets our cookies alone, each once, and the body as it was sent', async () => {
  const { call } = await serve(async (req, res) => {
    const body = Buffer.concat((await req.toArray()) as Buffer[]).toString();
    res.end(JSON.stringify([req.headers.cookie ?? null, req.method, body]));
  });
  const theme = '__Host-winterdock.theme=dark';
  const cookie = `a=1; ${theme}; b=2;__Host-winterdock.theme=light; winterdock.theme=x; __Host-winterdock.big=${'x'.repeat(5000)}`;
  const posted = await call('POST', '/page', 'a body', { headers: { cookie, 'sec-fetch-site': 'same-origin' } });
  expect(JSON.parse(posted.text)).toEqual([theme, 'POST', 'a body']);
  const { text } = await call('GET', '/page', undefined, { headers: { cookie: 'a=1' } });
  expect(JSON.parse(text)).toEqual([null, 'GET', '']);
});
