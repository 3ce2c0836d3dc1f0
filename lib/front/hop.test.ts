/** Requests between hosts over real sockets: what crosses, what does not, and what ends when a side leaves. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOP_ANSWER } from '../hosts/hop/hop-headers.ts';
import { eventText } from '../http/answer.ts';
import { type SmallHosts, startSmallHosts } from '../testing/small-hosts.ts';
import { SMALL_KEY as KEY, LIMITS, MIB } from '../testing/small-server.ts';

const WAIT = { timeout: 60_000, interval: 10 };
let folder: string;
let hosts: SmallHosts;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-hop-'));
  hosts = await startSmallHosts(['one', 'two', 'three'], folder);
  hosts.owners.set('a', 'two');
});
afterEach(() => {
  hosts.stop();
  rmSync(folder, { recursive: true, force: true });
});

const one = () => hosts.at('one');
const two = () => hosts.at('two');
const three = () => hosts.at('three');

function asked(method: string, path: string, headers: Record<string, string> = {}) {
  return request({
    ...{ port: one().port, host: '127.0.0.1', method, path, agent: false },
    headers: { authorization: `Bearer ${KEY}`, ...headers },
  });
}

/** The headers of an answer but for those of its moment and its connection. */
const lasting = ({ date: _date, connection: _connection, 'keep-alive': _keep, ...headers }: Record<string, string>) =>
  headers;

describe('what crosses', () => {
  test.each([
    ['GET', '/api/instances/a/look?q=1', undefined],
    ['HEAD', '/api/instances/a/look', undefined],
    ['GET', '/api/instances/a/look?unknown=1', undefined],
    ['POST', '/api/instances/a/echo?limit=3', { text: 'é ✓', nested: { deep: 1 } }],
    ['POST', '/api/instances/a/echo', '{"text":'],
    ['PUT', '/api/instances/a/files/a%20b/c.bin', Buffer.alloc(200_000, 7)],
    ['PUT', '/api/instances/a/files/too-large', Buffer.alloc(LIMITS.maxFileBytes + 1)],
    ['PUT', '/api/instances/a/files/empty', Buffer.alloc(0)],
  ])('%s %s is answered by another host as by its own, byte for byte', async (method, path, body) => {
    const headers = { 'x-request-id': 'the-same', host: 'dock.example' };
    const direct = await two().call(method, path, body, { headers });
    const passed = await one().call(method, path, body, { headers });
    expect(passed.status).toBe(direct.status);
    expect(lasting(passed.headers)).toEqual(lasting(direct.headers));
    expect(passed.bytes.equals(direct.bytes)).toBe(true);
    expect(one().asked()).toBe(1);
    expect(one().seen).toEqual({ sizes: [] });
  });

  test('who asks, without credentials and without rights, the client’s address and host, and the headers of the request', async () => {
    two().seen.rights = { role: 'viewer', tenants: ['acme'] };
    const { json } = await one().call('GET', '/api/instances/a/look?q=all', undefined, {
      headers: {
        ...{ range: 'bytes=0-4', 'x-own': 'mine', connection: 'x-named', 'x-named': 'dropped', via: '1.1 proxy' },
        ...{ cookie: 'session=good', host: 'dock.example', 'x-request-id': 'given' },
      },
    });
    expect(json).toMatchObject({
      came: {
        ...{ authorization: null, cookie: null, host: 'dock.example', range: 'bytes=0-4', 'x-own': 'mine' },
        ...{ 'x-named': null, 'x-winterdock-hop': null, via: null },
      },
      // Host one would have made it an admin; host two looks for itself.
      caller: { actor: 'key:admin', role: 'viewer', tenants: ['acme'], address: '127.0.0.1', requestId: 'given' },
    });
  });

  test('a caller whom the other host does not know has no rights there', async () => {
    const row = hosts.rows.get('two');
    if (row === undefined) throw new Error('There is no row.');
    const answer = await one().sender.send(
      {
        ...{ method: 'GET', target: '/api/instances/a/look', headers: {}, address: null, origin: {} },
        ...{ caller: { actor: 'key:gone', session: null, proof: null }, body: Buffer.alloc(0) },
        gone: new AbortController().signal,
      },
      row,
    );
    expect(answer).toMatchObject({ status: 401 });
    expect(two().seen.looks).toBeUndefined();
  });

  test('connections are used again, and the clock of the other host is asked for once', async () => {
    for (let n = 0; n < 20; n += 1) await one().call('POST', '/api/instances/a/echo', { text: String(n) });
    expect(one().sender.open).toBe(0);
    expect(two().connections()).toBe(1);
    // One question of where it is for each request, on each side.
    expect(one().asked()).toBe(20);
    expect(two().asked()).toBe(20);
  });

  test('what is here is asked of nobody', async () => {
    hosts.owners.set('a', 'one');
    await one().call('POST', '/api/instances/a/echo', { text: 'here' });
    expect(two().asked()).toBe(0);
    expect(one().asked()).toBe(1);
  });

  test('what no other host can be asked for is left to this one', async () => {
    hosts.owners.set('a', 'gone');
    await one().call('GET', '/api/instances/a/look');
    expect(one().seen.looks).toBe(1);
  });
});

describe('streams', () => {
  test('an upload goes on as it comes, whole, and is not held', async () => {
    const bytes = 64 * MIB;
    const req = asked('POST', '/api/instances/a/upload', { 'content-length': String(bytes), 'content-type': 'x/y' });
    const answer = once(req, 'response');
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let at = 0; at < bytes; at += MIB) {
      const piece = Buffer.alloc(MIB, at / MIB);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      if (!req.write(piece)) await once(req, 'drain');
    }
    req.end();
    const [res] = await answer;
    let text = '';
    for await (const piece of res) text += piece;
    expect([res.statusCode, JSON.parse(text)]).toEqual([201, { size: bytes, type: 'x/y' }]);
    const saved = readFileSync(join(folder, 'two'));
    expect(saved.byteLength).toBe(bytes);
    for (let at = 0; at < bytes; at += MIB) expect(saved[at]).toBe(at / MIB);
    expect(most).toBeLessThan(bytes);
  });

  test('an upload of unknown length crosses, and one that its client breaks off leaves nothing', async () => {
    const whole = asked('POST', '/api/instances/a/upload');
    whole.write('first ');
    whole.end('second');
    const [res] = await once(whole, 'response');
    res.resume();
    expect(res.statusCode).toBe(201);
    expect(readFileSync(join(folder, 'two'), 'utf8')).toBe('first second');
    rmSync(join(folder, 'two'));

    const cut = asked('POST', '/api/instances/a/upload', { 'content-length': String(8 * MIB) });
    cut.on('error', () => undefined);
    cut.write(Buffer.alloc(4 * MIB));
    await expect.poll(() => one().sender.open, WAIT).toBe(1);
    cut.destroy();
    await expect.poll(() => one().sender.open, WAIT).toBe(0);
    await expect.poll(() => existsSync(join(folder, 'two')), WAIT).toBe(false);
  });

  test('a body that is refused before it is read is not asked for', async () => {
    const req = asked('PUT', '/api/instances/a/files/large', {
      'content-length': String(512 * MIB),
      expect: '100-continue',
    });
    let isAskedFor = false;
    req.on('continue', () => {
      isAskedFor = true;
    });
    req.flushHeaders();
    const [res] = await once(req, 'response');
    expect(res.statusCode).toBe(413);
    expect(isAskedFor).toBe(false);
    req.destroy();
  });

  test('a download goes no faster than its client takes it', async () => {
    let made = 0;
    two().seen.download = new Readable({
      read() {
        made += 1;
        this.push(made > 256 ? null : Buffer.alloc(MIB, made));
      },
    });
    const req = asked('GET', '/api/instances/a/download');
    req.end();
    const [res] = await once(req, 'response');
    expect(res.headers['x-kind']).toBe('download');
    let last = -1;
    await expect
      .poll(
        () => {
          const isStill = made === last;
          last = made;
          return isStill;
        },
        { timeout: 60_000, interval: 300 },
      )
      .toBe(true);
    expect(made).toBeLessThan(200);
    let size = 0;
    for await (const piece of res) size += piece.length;
    expect(size).toBe(256 * MIB);
  });

  test('a stream begins before its first event, and each event comes when it is sent', async () => {
    const req = asked('GET', '/api/instances/a/stream');
    req.end();
    const [res] = await once(req, 'response');
    expect(res.headers['content-type']).toMatch(/^text\/event-stream/);
    for (const n of [1, 2, 3]) {
      const next = once(res, 'data');
      two().seen.sink?.write(eventText('tick', { n }));
      expect(String((await next)[0])).toBe(eventText('tick', { n }));
    }
    const end = once(res, 'end');
    two().seen.sink?.end();
    await end;
  });
});

describe('a side that leaves', () => {
  test('a client that leaves a call ends it on the other host', async () => {
    const req = asked('POST', '/api/instances/a/wait');
    req.on('error', () => undefined);
    req.end();
    await expect.poll(() => two().seen.signal, WAIT).toBeDefined();
    expect(two().seen.signal?.aborted).toBe(false);
    req.destroy();
    await expect.poll(() => two().seen.signal?.aborted, WAIT).toBe(true);
    await expect.poll(() => one().sender.open, WAIT).toBe(0);
  });

  test('a client that leaves a stream ends it on the other host', async () => {
    const req = asked('GET', '/api/instances/a/stream');
    req.on('error', () => undefined);
    req.end();
    const [res] = await once(req, 'response');
    res.on('error', () => undefined);
    req.destroy();
    await expect.poll(() => two().seen.sink?.gone.aborted, WAIT).toBe(true);
  });

  test('a host that ends in the middle of a call: it may have been done', async () => {
    const answer = one().call('POST', '/api/instances/a/wait', {});
    await expect.poll(() => two().seen.signal, WAIT).toBeDefined();
    two().stop();
    const { status, headers, json } = await answer;
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(json).toMatchObject({ code: 'storage_unavailable', host: 'two', started: true });
  });

  test('a host that ends in the middle of a read: nothing was changed', async () => {
    // Small enough to be held, so that it is answered whole or not at all.
    const held = createServer((_req, res) => {
      res.writeHead(200, { 'content-length': 100 });
      res.write('half');
      setImmediate(() => res.destroy());
    }).listen(0, '127.0.0.1');
    await once(held, 'listening');
    const row = hosts.rows.get('two');
    if (row === undefined) throw new Error('There is no row.');
    hosts.rows.set('two', { ...row, url: `http://127.0.0.1:${(held.address() as AddressInfo).port}` });
    const { status, json } = await one().call('GET', '/api/instances/a/look');
    expect([status, json]).toMatchObject([503, { host: 'two' }]);
    expect(json).not.toHaveProperty('started');
    held.close();
  });

  test('a host that ends in the middle of a download: the client sees that it is cut', async () => {
    two().seen.download = new Readable({
      read() {
        this.push(Buffer.alloc(MIB));
      },
    });
    const req = asked('GET', '/api/instances/a/download');
    req.on('error', () => undefined);
    req.end();
    const [res] = await once(req, 'response');
    await once(res, 'data');
    two().stop();
    await expect(
      (async () => {
        for await (const piece of res) expect(piece.length).toBeGreaterThan(0);
      })(),
    ).rejects.toThrow();
    expect(res.complete).toBe(false);
  });

  test('a host that is not there: nothing was sent, and the client may try again', async () => {
    two().stop();
    const { status, headers, json } = await one().call('POST', '/api/instances/a/echo', { text: 'x' });
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(json).toMatchObject({ code: 'storage_unavailable', host: 'two' });
    expect(json).not.toHaveProperty('started');
  });

  test('who is of another tenant does not learn from a host that is away that it has such a sandbox', async () => {
    two().stop();
    const ask = async (tenants: readonly string[] | null) => {
      one().seen.rights = { role: 'tenant', tenants };
      return (await one().call('POST', '/api/instances/a/echo', { text: 'x' })).status;
    };
    expect([await ask(['globex']), await ask(['acme']), await ask(['globex', 'acme']), await ask(null)]).toEqual([
      ...[200, 503, 503, 503],
    ]);
  });

  test('a host that is silent is waited for until it counts as dead', async () => {
    const answer = one().call('POST', '/api/instances/a/wait', {});
    await expect.poll(() => two().seen.signal, WAIT).toBeDefined();
    hosts.rows.delete('two');
    const { status, json } = await answer;
    expect([status, json]).toMatchObject([503, { host: 'two', started: true }]);
  });
});

describe('one hop', () => {
  test('a sandbox that moved is asked for again, once, at its new host, and its body is there', async () => {
    const { whereIs } = one().places;
    for (const body of [{ text: 'held' }, { text: 'x'.repeat(100_000) }]) {
      hosts.owners.set('a', 'two');
      one().places.whereIs = async (id) => {
        const found = await whereIs(id);
        hosts.owners.set('a', 'three');
        return found;
      };
      const { status, json } = await one().call('POST', '/api/instances/a/echo', body);
      expect([status, json]).toMatchObject([200, { body }]);
    }
    expect(three().asked()).toBe(2);
  });

  test('a sandbox that came here meanwhile is answered here', async () => {
    const { whereIs } = one().places;
    one().places.whereIs = async (id) => {
      const found = await whereIs(id);
      hosts.owners.set('a', 'one');
      return found;
    };
    for (const text of ['held', 'x'.repeat(100_000)]) {
      hosts.owners.set('a', 'two');
      const { status, json } = await one().call('POST', '/api/instances/a/echo', { text });
      expect([status, json]).toMatchObject([200, { body: { text } }]);
    }
  });

  test('a host that was sent a request sends it on to nobody', async () => {
    // Host two takes the sandbox for that of host three, which has it.
    const { whereIs } = two().places;
    two().places.whereIs = async (id) => {
      hosts.owners.set('a', 'three');
      const found = await whereIs(id);
      hosts.owners.set('a', 'two');
      return found;
    };
    const { status, headers, json } = await one().call('POST', '/api/instances/a/echo', { text: 'x' });
    expect([status, headers['retry-after'], json.code]).toEqual([503, '1', 'storage_unavailable']);
    expect(headers[HOP_ANSWER]).toBeUndefined();
    expect(three().asked()).toBe(0);
    expect(two().asked()).toBe(2);
  });
});
