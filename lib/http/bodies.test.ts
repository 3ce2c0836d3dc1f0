import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { SMALL_KEY as KEY, LIMITS, MIB, type SmallServer, startSmallServer } from '../testing/small-server.ts';

let small: SmallServer;
let port: number;
let seen: SmallServer['seen'];

beforeAll(async () => {
  small = await startSmallServer();
  ({ port, seen } = small);
});
afterAll(() => small.stop());
beforeEach(() => {
  Object.assign(seen, { sizes: [], signal: undefined, sink: undefined });
});

function* zeros(bytes: number): Generator<Buffer> {
  const piece = Buffer.alloc(256 * 1024);
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
}

/** Sends a body in chunks, without a length and to its end, whatever is answered meanwhile. */
async function stream(
  path: string,
  pieces: Iterable<Buffer>,
): Promise<{ status: number | undefined; text: string; path: unknown }> {
  const headers = { authorization: `Bearer ${KEY}` };
  const req = request({ port, host: '127.0.0.1', method: 'PUT', path, agent: false, headers });
  const closed = once(req, 'close');
  const answer = once(req, 'response').then(async ([res]: IncomingMessage[]) => {
    let text = '';
    for await (const chunk of res ?? []) text += chunk;
    return { status: res?.statusCode, text, path: res?.headers['x-path'] };
  });
  for (const piece of pieces) {
    if (req.destroyed) break;
    if (!req.write(piece)) await Promise.race([once(req, 'drain'), closed]);
  }
  req.end();
  return answer.finally(() => req.destroy());
}

test('a body over the limit is refused by its length at once, without reading it', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `PUT /api/instances/abc/files/a HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-length: ${1024 * MIB}\r\n\r\n`,
  );
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
});

test('a body without a length is refused while it streams', async () => {
  const answer = await stream('/api/instances/abc/files/a', zeros(64 * MIB));
  expect([answer.status, JSON.parse(answer.text).code]).toEqual([413, 'too_large']);
  expect(seen.sizes).toEqual([]);
});

test.each([
  ['with a length', `content-length: ${1024 * MIB}`, (piece: Buffer) => piece],
  [
    'in chunks',
    'transfer-encoding: chunked',
    (piece: Buffer) => Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
  ],
])(
  'a body of 1 GB %s is kept nowhere, and a sender that reads nothing before it has sent all still sees the refusal',
  async (_how, header, framed) => {
    const before = process.memoryUsage().rss;
    let most = before;
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `PUT /api/instances/abc/files/a HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${KEY}\r\n${header}\r\n\r\n`,
    );
    socket.pause();
    for (const piece of zeros(1024 * MIB)) {
      if (!socket.write(framed(piece))) await once(socket, 'drain');
      most = Math.max(most, process.memoryUsage.rss());
    }
    socket.resume();
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    expect(seen.sizes).toEqual([]);
    // Sender and server share this process; a kept gigabyte would dwarf this.
    expect(most - before).toBeLessThan(200 * MIB);
    socket.destroy();
  },
);

test('a connection is usable again after a refused body', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('utf8');
  let text = '';
  socket.on('data', (piece: string) => {
    text += piece;
  });
  socket.write(
    `PUT /api/instances/abc/files/a HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-length: ${2 * MIB}\r\n\r\n`,
  );
  for (const piece of zeros(2 * MIB)) socket.write(piece);
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
  await vi.waitFor(() => expect(text).toMatch(/413[\s\S]*HTTP\/1\.1 200 OK[\s\S]*"ok"/), { timeout: 240_000 });
  socket.destroy();
});

test('a sender that waits for 100 Continue is refused before it sends, and told to go on when it fits', async () => {
  const ask = async (length: number, key: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `PUT /api/instances/abc/files/a HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\nauthorization: Bearer ${key}\r\ncontent-length: ${length}\r\n\r\n`,
    );
    const [answer] = await once(socket, 'data');
    socket.destroy();
    return String(answer).split('\r\n')[0] ?? '';
  };
  expect(await ask(10, KEY)).toBe('HTTP/1.1 100 Continue');
  expect(await ask(1024 * MIB, KEY)).toMatch(/ 413 /);
  expect(await ask(10, 'wrong')).toMatch(/ 401 /);
});

test('bytes arrive whole and their path decoded', async () => {
  const answer = await stream('/api/instances/abc/files/a/b%20%C3%A9', zeros(LIMITS.maxFileBytes));
  expect([answer.status, answer.path]).toEqual([204, encodeURIComponent('/a/b é')]);
  expect(seen.sizes).toEqual([MIB]);
});

test('a client that disconnects aborts its request', async () => {
  const req = request({
    port,
    host: '127.0.0.1',
    path: '/api/waits',
    agent: false,
    headers: { authorization: `Bearer ${KEY}` },
  });
  req.on('error', () => undefined);
  req.end();
  await vi.waitFor(() => expect(seen.signal?.aborted).toBe(false), { timeout: 240_000 });
  req.destroy();
  await vi.waitFor(() => expect(seen.signal?.aborted).toBe(true), { timeout: 240_000 });
});

test('a stream is sent as it is written, and its end and its loss are seen', async () => {
  const req = request({
    port,
    host: '127.0.0.1',
    path: '/api/streams',
    agent: false,
    headers: { authorization: `Bearer ${KEY}` },
  });
  req.on('error', () => undefined);
  req.end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  expect(res.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  const [first] = await once(res, 'data');
  expect(String(first)).toBe('id: 4\nevent: hello\ndata: {"n":1}\n\n');
  expect(seen.sink?.gone.aborted).toBe(false);
  req.destroy();
  await vi.waitFor(() => expect(seen.sink?.gone.aborted).toBe(true), { timeout: 240_000 });
  seen.sink?.write('nobody hears this');
});

test('what a client does not take is counted', async () => {
  const req = request({
    port,
    host: '127.0.0.1',
    path: '/api/streams',
    agent: false,
    headers: { authorization: `Bearer ${KEY}` },
  });
  req.on('error', () => undefined);
  req.end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  res.pause();
  for (let n = 0; n < 40; n++) seen.sink?.write('x'.repeat(MIB));
  expect(seen.sink?.queuedBytes).toBeGreaterThan(MIB);
  seen.sink?.drop();
  await vi.waitFor(() => expect(res.destroyed).toBe(true), { timeout: 240_000 });
});
