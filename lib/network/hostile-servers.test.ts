/** What servers that a list allows do to the server: answers that are none, and more than there is room for. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { parseInstanceId } from '../base/ids.ts';
import { createLogger } from '../base/log.ts';
import type { Resolve } from '../outgoing/address-policy.ts';
import { MOST_HELD_OF_TENANT } from '../outgoing/network-limits.ts';
import type { FetchAnswer, FetchRequest } from '../workers/protocol/fetch-messages.ts';
import { NetworkBroker } from './broker.ts';
import { type NetworkServer, startNetworkServer } from './testing/network-server.ts';

let net: NetworkServer;
beforeAll(async () => {
  net = await startNetworkServer();
});
afterAll(() => net.stop());
const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

/** A server that writes what it likes; its address, which the sandbox may reach. */
async function answering(write: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('data', () => write(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ended.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const url = `http://plain.test:${(server.address() as AddressInfo).port}`;
  await net.allow([{ url: `${url}/` }, { url: `${net.plain}/` }]);
  return url;
}

/** A broker beside the server's, which is asked without a process. */
function brokerWith(resolve: Resolve): NetworkBroker {
  const broker = new NetworkBroker({
    registry: net.server.host.registry,
    clock: systemClock,
    log: createLogger('silent'),
    config: { usageKeepDays: 1 },
    secrets: { headersFor: async () => [] },
    resolve,
  });
  ended.push(() => broker.stop());
  return broker;
}

const here: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];

/** Writes a text again and again while the other end takes it. */
function pour(socket: Socket, text: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', more);
  more();
}

test('a change to another protocol is a failure of that request, and leaves its place to the next', async () => {
  const url = await answering((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nmore');
  });
  const { value } = await net.js(`
    const tries = Array.from({ length: 40 }, () => fetch('${url}/').catch((error) => error.message));
    [...new Set(await Promise.all(tries)), (await fetch('${net.plain}/')).status]
  `);
  expect(value).toEqual(['fetch failed: the server changed to another protocol', 200]);
});

test('an answer in single bytes is cut off, and takes no more memory than its bytes', async () => {
  const url = await answering((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    pour(socket, '1\r\na\r\n'.repeat(10_000));
  });
  const before = process.memoryUsage().rss;
  expect((await net.js(`fetch('${url}/').catch((error) => error.message)`)).value).toBe(
    'fetch failed: the answer came in too many pieces',
  );
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
});

test('an answer that never begins, whatever comes before it, ends with its time', async () => {
  const url = await answering((socket) => pour(socket, `HTTP/1.1 103 Early Hints\r\nx: ${'y'.repeat(8000)}\r\n\r\n`));
  const ran = await net.sh(`curl -sS -m 1 ${url}/; echo $?`);
  expect(ran).toMatchObject({ stdout: '28\n', stderr: expect.stringContaining('no answer within 1 s') });
});

test('lengths that contradict each other, and a second answer behind the first, are no answer of this request', async () => {
  const said: unknown[] = [];
  for (const answer of [
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde',
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil',
    'HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\n\r\n',
    'HTTP/1.1 999999 OK\r\n\r\n',
  ]) {
    const url = await answering((socket) => void socket.end(answer));
    said.push((await net.js(`fetch('${url}/').then((r) => r.text(), (error) => error.message)`)).value);
  }
  const none = 'fetch failed: the answer is not HTTP';
  expect(said).toEqual([none, none, 'ok', none, none]);
});

test('a certificate that nobody trusted has signed ends the request before it is sent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-self-signed-'));
  const subject = ['-subj', '/CN=plain.test', '-addext', 'subjectAltName=DNS:plain.test'];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', [...made, ...subject, '-keyout', 'key.pem', '-out', 'cert.pem'], {
    cwd: folder,
    stdio: 'pipe',
  });
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name), 'utf8'));
  rmSync(folder, { recursive: true });
  let asked = 0;
  const server = createHttpsServer({ key, cert }, (_request, response) => {
    asked += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ended.push(async () => void server.close());
  const url = `https://plain.test:${(server.address() as AddressInfo).port}/`;
  await net.allow([{ url }]);
  const ran = await net.sh(`curl -sS -H 'x-mine: 1' ${url}; echo $?; curl -k ${url}; echo $?`);
  expect(ran.stdout).toBe('60\n2\n');
  expect(ran.stderr).toContain('the certificate is not trusted for this name (DEPTH_ZERO_SELF_SIGNED_CERT)');
  expect(asked).toBe(0);
});

test('what waits, and what is not taken, is held to so many bytes of a tenant, and given back', async () => {
  const broker = brokerWith(here);
  await net.allow([{ url: `${net.plain}/` }]);
  const MIB = 1024 * 1024;
  const id = parseInstanceId('box');
  const ask = (path: string, taken: Promise<void>, signal: AbortSignal, body: Uint8Array | null = null) => {
    const request: FetchRequest = {
      url: net.plain + path,
      method: 'POST',
      headers: [],
      body,
      decode: true,
      timeoutMs: null,
    };
    return broker.fetch(id, request, signal, taken);
  };
  const kindOf = (answer: FetchAnswer) => ('failure' in answer ? answer.failure : 'answered');

  // Answers that a process does not read.
  const large = Buffer.alloc(16 * MIB, 'x');
  net.answer = (_request, response) => void response.end(large);
  const places = MOST_HELD_OF_TENANT / large.byteLength;
  const taken = Array.from({ length: places + 2 }, () => Promise.withResolvers<void>());
  const { signal } = new AbortController();
  const kinds: string[] = [];
  for (const { promise } of taken.slice(0, places + 1)) kinds.push(kindOf(await ask('/', promise, signal)));
  expect(kinds).toEqual([...Array(places).fill('answered'), 'limit']);
  for (const { resolve } of taken) resolve();
  expect(kindOf(await ask('/', Promise.resolve(), signal))).toBe('answered');

  // Requests that a server does not answer.
  net.answer = () => {};
  const stop = new AbortController();
  const body = Buffer.alloc(8 * MIB);
  const open = Array.from({ length: 2 * places }, () => ask('/never', Promise.resolve(), stop.signal, body));
  expect(kindOf(await ask('/', Promise.resolve(), signal, body))).toBe('limit');
  stop.abort();
  expect(new Set((await Promise.all(open)).map(kindOf))).toEqual(new Set(['aborted']));
  net.answer = (_request, response) => void response.end();
  expect(kindOf(await ask('/', Promise.resolve(), signal, body))).toBe('answered');
});

test('a name that is looked up for long holds back its tenant and no other', async () => {
  const stuck = Promise.withResolvers<void>();
  let asked = 0;
  const broker = brokerWith(async (name) => {
    asked += 1;
    if (name.startsWith('slow')) await stuck.promise;
    return here(name);
  });
  const rules = [{ url: '*' }, { url: `${net.plain}/`, private: true }];
  for (const tenant of ['acme', 'other']) await net.server.call('PUT', `/api/tenants/${tenant}/network`, { rules });
  await net.server.call('POST', '/api/instances', { id: 'of-other', tenant: 'other', policy: 'network' });
  const stop = new AbortController();
  const get = (id: string, url: string) => {
    const request: FetchRequest = { url, method: 'GET', headers: [], body: null, decode: true, timeoutMs: null };
    return broker.fetch(id, request, stop.signal, Promise.resolve());
  };
  const slow = [1, 2, 3, 4].map((at) => get('box', `http://slow${at}.test/`));
  expect(await get('of-other', `${net.plain}/`)).toMatchObject({ status: 200 });
  expect(asked).toBe(2);
  stop.abort();
  expect(await Promise.all(slow)).toEqual(Array(4).fill({ failure: 'aborted', message: 'the call has ended' }));
  stuck.resolve();
});
