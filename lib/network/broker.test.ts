import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type NetworkServer, startNetworkServer, TENANT } from './testing/network-server.ts';

let net: NetworkServer;
beforeAll(async () => {
  net = await startNetworkServer();
});
afterAll(() => net.stop());
beforeEach(async () => {
  net.asked.length = 0;
  net.lookups.length = 0;
  net.tls.received.length = 0;
  net.answer = (request, response) => void response.end(`asked for ${request.url}`);
  net.tls.answer = (_request, response) => response.end('over TLS');
  await net.allow([{ url: `${net.api}/` }, { url: `${net.plain}/` }]);
});

const status = (url: string, init = '{}') =>
  net.js(`fetch(${JSON.stringify(url)}, ${init}).then((r) => r.status, (e) => e.message)`);

describe('fetch', () => {
  test('gets what an allowed host answers, with its status, headers and bytes', async () => {
    net.tls.answer = (_request, response) =>
      response.writeHead(201, { 'content-type': 'application/json', 'x-two': ['a', 'b'] }).end('{"ok": "ü"}');
    const { value, error } = await net.js(`
      const response = await fetch('${net.api}/v1/things?x=1#y', {
        method: 'post', headers: { 'X-Mine': 'yes' }, body: JSON.stringify({ a: 'ä' }),
      });
      const copy = response.clone();
      ({ status: response.status, ok: response.ok, url: response.url, two: response.headers.get('X-Two'),
         json: await response.json(), bytes: (await copy.arrayBuffer()).byteLength, used: response.bodyUsed })
    `);
    expect(error).toBeUndefined();
    expect(value).toEqual({
      status: 201,
      ok: true,
      url: `${net.api}/v1/things?x=1`,
      two: 'a, b',
      json: { ok: 'ü' },
      bytes: 12,
      used: true,
    });
    const host = `api.test:${net.tls.port}`;
    expect(net.tls.received).toMatchObject([
      { method: 'POST', path: '/v1/things?x=1', body: '{"a":"ä"}', headers: { host, 'x-mine': 'yes' } },
    ]);
  });

  test('runs several at a time, waits for those that nobody awaits, and ends one that is aborted', async () => {
    const open: (() => void)[] = [];
    net.answer = (request, response) => {
      if (request.url === '/never') return;
      open.push(() => response.end(request.url));
      // Answered once all three have come, the last one first.
      if (open.length === 3) for (const answer of open.toReversed()) answer();
    };
    const { value, stdout } = await net.js(`
      const stop = new AbortController();
      const never = fetch('${net.plain}/never', { signal: stop.signal }).catch((error) => error.name);
      fetch('${net.plain}/c').then((r) => r.text()).then((text) => console.log(text));
      const both = await Promise.all(['a', 'b'].map(async (p) => (await fetch('${net.plain}/' + p)).text()));
      stop.abort();
      [...both, await never]
    `);
    expect([value, stdout]).toEqual([['/a', '/b', 'AbortError'], '/c\n']);
  });

  test('follows redirects, each of which is asked about again', async () => {
    net.answer = (request, response) => {
      if (request.url === '/one') response.writeHead(302, { location: '/two' }).end();
      else if (request.url === '/away') response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end();
      else if (request.url === '/loop') response.writeHead(307, { location: '/loop' }).end();
      else response.end(`${request.method} ${request.headers.authorization ?? 'nothing'}`);
    };
    const { value } = await net.js(`
      const init = { method: 'POST', body: 'x', headers: { authorization: 'mine' } };
      const first = await fetch('${net.plain}/one', init);
      [await first.text(), first.redirected, first.url,
       (await fetch('${net.plain}/one', { redirect: 'manual' })).status,
       await fetch('${net.plain}/one', { redirect: 'error' }).catch((e) => e.message),
       await fetch('${net.plain}/away').catch((e) => e.message),
       await fetch('${net.plain}/loop').catch((e) => e.message)]
    `);
    expect(value).toEqual([
      'GET mine',
      true,
      `${net.plain}/two`,
      302,
      'fetch failed: the server answered with a redirect',
      'fetch failed: GET http://169.254.169.254 is not allowed for this sandbox: no entry of its network list covers it',
      'fetch failed: more than 20 redirects',
    ]);
    expect(net.asked.filter((one) => one === 'GET /loop')).toHaveLength(21);
  });

  test('gives way to what guest code names like its parts', async () => {
    const { value, error } = await net.js(`
      class Request {}
      var Response = 5;
      function Headers() { return 6; }
      const text = await (await fetch('${net.plain}/x')).text();
      globalThis.fetch = 7;
      [typeof new Request(), Response, Headers(), text, fetch]
    `);
    expect(error).toBeUndefined();
    expect(value).toEqual(['object', 5, 6, 'asked for /x', 7]);
  });

  test('fails in a sentence that names the policy, where that has no network', async () => {
    await net.server.call('POST', '/api/instances', { id: 'posix-box', tenant: TENANT });
    expect((await net.js(`fetch('${net.plain}/').catch((e) => e.message)`, 'posix-box')).value).toBe(
      'fetch failed: the policy "posix" of this sandbox reaches no network: the policy "network" does',
    );
    expect(net.asked).toEqual([]);
  });
});

describe('what is not allowed is not sent', () => {
  test.each([
    ['http://127.0.0.1/', 'is not allowed'],
    ['http://127.1/', 'is not allowed'],
    ['http://0x7f000001/', 'is not allowed'],
    ['http://[::ffff:127.0.0.1]/', 'is not allowed'],
    ['file:///etc/passwd', 'must begin with https:// or http://'],
    ['//api.test/', 'must begin with https:// or http://'],
    ['/relative', 'must begin with https:// or http://'],
    ['https://user:pass@api.test/', 'must not contain a user'],
  ])('%s', async (url, why) => {
    expect((await status(url)).value).toContain(why);
    expect([net.lookups, net.asked]).toEqual([[], []]);
    expect((await net.lines('network.refused')).map(({ error }) => error)).toContainEqual(expect.stringContaining(why));
  });

  test('a private address is refused to a wildcard, by name and by number, and every refusal is in the ledger', async () => {
    await net.allow([{ url: '*', private: false }]);
    for (const [name, address] of [
      ['loop.test', '127.0.0.1'],
      ['meta.test', '169.254.169.254'],
      ['mapped.test', '::ffff:10.0.0.1'],
      ['carrier.test', '100.64.0.1'],
      ['many.test', '224.0.0.1'],
    ] as const) {
      net.names.set(name, ['8.8.8.8', address]);
      expect((await status(`http://${name}/`)).value).toContain('has an address that is not public');
    }
    const numbers = [
      '127.1',
      '0x7f000001',
      '2130706433',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '169.254.169.254',
    ];
    for (const host of numbers) expect((await status(`http://${host}/`)).value).toContain('must have a public address');
    expect(net.asked).toEqual([]);
    const told = (await net.lines('network.refused')).map(({ error }) => error);
    expect(told).toContainEqual(expect.stringContaining('GET http://meta.test: the name has an address'));
  });

  test('a name that means another address a moment later is connected to as it was looked up, once', async () => {
    const port = new URL(net.plain).port;
    let times = 0;
    // Public at first: nothing answers there; and never the loopback server that the second answer names.
    net.names.set('rebinding.test', () => (times++ === 0 ? ['192.88.99.1'] : ['127.0.0.1']));
    await net.allow([{ url: '*', private: false }]);
    const { value } = await status(`http://rebinding.test:${port}/`);
    expect(value).toEqual(expect.stringContaining('fetch failed: '));
    expect([times, net.asked]).toEqual([1, []]);
  });

  test('a method that no entry has, a path beside it, and an override of the method', async () => {
    await net.allow([{ url: `${net.plain}/v1/`, methods: ['GET'] }]);
    const values = [];
    for (const [path, init] of [
      ['/v1/x', '{}'],
      ['/v1/x', "{ method: 'DELETE' }"],
      ['/v1/../admin', '{}'],
      ['/v1/%2e%2e%2fadmin', '{}'],
      ['/v1/x', "{ headers: { 'X-HTTP-Method-Override': 'DELETE' } }"],
      ['/v1/x', "{ headers: { 'X_Http_Method_Override': 'DELETE' } }"],
      ['/v1/x', "{ headers: { 'X-Original-URL': '/admin' } }"],
      ['/v1/x', "{ headers: { 'x_forwarded_host': 'other.test' } }"],
    ] as const) {
      values.push((await status(`${net.plain}${path}`, init)).value);
    }
    expect(values).toEqual([
      200,
      expect.stringContaining('DELETE http://plain.test'),
      expect.stringContaining('is not allowed'),
      expect.stringContaining('is not allowed'),
      expect.stringContaining('would make another method of GET'),
      expect.stringContaining('would make another method of GET'),
      expect.stringContaining('could make another address of this one'),
      expect.stringContaining('could make another address of this one'),
    ]);
    expect(net.asked).toEqual(['GET /v1/x']);
  });

  test('a sandbox reaches what its list and its tenant’s both allow', async () => {
    await net.server.call('POST', '/api/instances', { id: 'narrow', tenant: TENANT, policy: 'network' });
    const own = { rules: [{ url: `${net.plain}/mine/` }, { url: 'https://elsewhere.test/' }] };
    const shown = await net.server.call('PUT', '/api/instances/narrow/network', own);
    expect(shown.json).toMatchObject({
      allowed: { rules: [{ url: `${net.plain}/mine/`, methods: ['GET', 'HEAD'], private: true }] },
    });
    const { value } = await net.js(
      `Promise.all(['${net.plain}/mine/x', '${net.plain}/x', '${net.api}/', 'https://elsewhere.test/']
        .map((url) => fetch(url).then((r) => r.status, () => 'refused')))`,
      'narrow',
    );
    expect(value).toEqual([200, 'refused', 'refused', 'refused']);
  });
});

describe('a hostile guest', () => {
  test('sends no second request by headers or line breaks', async () => {
    const { value } = await net.js(`
      const tries = [
        { headers: { 'X-A': 'b\\r\\nX-B: c' } },
        { headers: [['X A', 'b']] },
        { headers: { 'Transfer-Encoding': 'chunked', 'Content-Length': '3' }, method: 'POST', body: '0\\r\\n\\r\\nGET /smuggled HTTP/1.1\\r\\n\\r\\n' },
        { headers: { Host: 'evil.test' } },
        { headers: { Connection: 'close, X-Hop', 'X-Hop': '1', Upgrade: 'h2c', 'X-End': '2' } },
        { method: 'GET / HTTP/1.1\\r\\nX: y\\r\\n\\r\\nPOST' },
        { method: 'CONNECT' },
      ];
      const said = [];
      for (const one of tries) said.push(await fetch('${net.plain}/x', one).then((r) => r.status, (e) => e.message));
      said.push(await fetch('${net.plain}/x\\r\\nX-B: c').catch((e) => e.message));
      said
    `);
    expect(value).toEqual([
      expect.stringContaining('Invalid header value'),
      expect.stringContaining('Invalid header name'),
      200,
      expect.stringContaining('the header Host must be the host of the address'),
      200,
      expect.stringContaining('is not allowed'),
      expect.stringContaining('is not allowed'),
      expect.stringContaining('control characters'),
    ]);
    expect(net.asked).toEqual(['POST /x', 'GET /x']);
  });

  test('gets no more of an endless or a bombing answer than an answer may have', async () => {
    const endless = new Promise<void>((resolve) => {
      net.answer = (request, response) => {
        if (request.url === '/bomb') {
          response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * 1024 * 1024)));
          return;
        }
        response.on('error', () => {}).on('close', resolve);
        const more = () => !response.destroyed && (response.write(Buffer.alloc(65_536)) ? setImmediate(more) : 0);
        response.on('drain', more);
        more();
      };
    });
    const tooLarge = expect.stringContaining('more than 16777216 bytes');
    expect((await status(`${net.plain}/endless`)).value).toEqual(tooLarge);
    await endless;
    expect((await status(`${net.plain}/bomb`)).value).toEqual(tooLarge);
  });

  test('is answered in a sentence when the answer has too many headers, breaks off, or is not HTTP', async () => {
    net.answer = (request, response) => {
      if (request.url === '/headers') {
        for (let at = 0; at < 400; at += 1) response.setHeader(`x-${at}`, 'y'.repeat(100));
        response.end();
      } else if (request.url === '/breaks') {
        response.writeHead(200, { 'content-length': '100' }).write('begun');
        setImmediate(() => response.destroy());
      } else response.socket?.end('hello\r\n\r\n');
    };
    const said = [];
    for (const path of ['/headers', '/breaks', '/noise']) said.push((await status(`${net.plain}${path}`)).value);
    expect(said).toEqual([
      expect.stringContaining('the headers of the answer are too long'),
      expect.stringContaining('the answer broke off'),
      expect.stringContaining('the answer is not HTTP'),
    ]);
  });

  test('has so many requests at a time and no more', async () => {
    let most = 0;
    let open = 0;
    net.answer = (_request, response) => {
      open += 1;
      most = Math.max(most, open);
      response.on('close', () => (open -= 1));
      setTimeout(() => response.end(), 1);
    };
    const { value } = await net.js(`
      const all = Array.from({ length: 1000 }, (_, at) => fetch('${net.plain}/' + at).then((r) => r.status, () => 0));
      (await Promise.all(all)).filter((status) => status === 200).length
    `);
    expect(value).toBe(1000);
    expect(most).toBeLessThanOrEqual(6);
  });

  test('is refused beyond its requests a minute, and a flood of refusals is a few lines', async () => {
    await net.allow([{ url: `${net.plain}/` }], { requests_per_minute: 5 });
    await net.server.call('POST', '/api/instances', { id: 'flood', tenant: TENANT, policy: 'network' });
    const { value } = await net.js(
      `const said = [];
       for (let at = 0; at < 12; at += 1) said.push(await fetch('${net.plain}/').then((r) => r.status, (e) => e.message));
       said`,
      'flood',
    );
    const limited = (value as unknown[]).filter((one) => String(one).includes('requests a minute'));
    expect(limited.length).toBeGreaterThanOrEqual(7);
    const lines = await net.lines('network.refused');
    expect(lines.filter(({ instance }) => instance === 'flood').length).toBeLessThanOrEqual(2);
  });
});

test.each([
  ['fetch', `await fetch(URL_)`],
  ['curl', 'curl -s URL_'],
])('a request of %s is given up when its call ends', async (language, code) => {
  const gone = new Promise<void>((resolve) => {
    net.answer = (_request, response) => void response.on('close', resolve);
  });
  const url = `${net.plain}/never`;
  // Its interpreters are there: what the call has is for the request.
  await net.sh('true');
  await net.js('1');
  const [path, body] =
    language === 'curl'
      ? ['exec', { command: code.replace('URL_', url) }]
      : ['eval', { language: 'js', code: code.replace('URL_', JSON.stringify(url)) }];
  const { json } = await net.server.call<{ timed_out: boolean }>('POST', `/api/instances/box/${path}`, {
    ...(body as object),
    timeout_ms: 2000,
  });
  expect([json.timed_out, net.asked]).toEqual([true, ['GET /never']]);
  await gone;
});

test('what was reached is counted by host, with its bytes and refusals', async () => {
  await net.server.call('POST', '/api/instances', { id: 'counted', tenant: TENANT, policy: 'network' });
  net.answer = (_request, response) => {
    response.sendDate = false;
    response.end('12345');
  };
  await net.js(
    `await fetch('${net.plain}/', { method: 'PUT', body: 'abc', headers: { 'content-type': 'x' } });
     await fetch('${net.plain}/?all=that');
     await fetch('https://elsewhere.test/').catch(() => {})`,
    'counted',
  );
  const { json } = await net.server.call('GET', '/api/instances/counted/network');
  // What a guest can say in an address or a header is counted as what it says in a body.
  const out = '/content-type: x\r\nabc'.length + '/?all=that'.length;
  const back = 2 * 'Connection: close\r\nContent-Length: 5\r\n12345'.length;
  expect(json).toMatchObject({
    enabled: true,
    bytes_today: out + back,
    reached: [
      { host: net.plain, calls: 2, refused: 0, bytes_out: out, bytes_in: back },
      { host: 'https://elsewhere.test', calls: 0, refused: 1, bytes_out: 0, bytes_in: 0 },
    ],
  });
});

test('what was counted is on disk and in the ledger once the sandbox is filed', async () => {
  await net.allow([{ url: `${net.plain}/` }]);
  const storedOf = async (of: string) =>
    (await net.server.host.registry.network.traffic(of, 0, 10)).map(({ calls }) => calls);
  let id = '';
  // The look of each fifteen seconds may come between: then another one is tried.
  for (let tries = 1; tries <= 5; tries += 1) {
    id = `filed-${tries}`;
    await net.server.call('POST', '/api/instances', { id, tenant: TENANT, policy: 'network' });
    await net.js(`await fetch('${net.plain}/x'); await fetch('https://elsewhere.test/').catch(() => {})`, id);
    if ((await storedOf(id)).length === 0) break;
  }
  const stored = () => storedOf(id);
  expect(await stored()).toEqual([]);
  expect((await net.server.call('POST', `/api/instances/${id}/suspend`, {})).status).toBe(200);
  await vi.waitFor(async () => expect(await stored()).toEqual([1, 0]), { timeout: 240_000 });
  // The ledger has them too: one line, with the bytes that the table has.
  const used = async () => (await net.lines('network.used')).filter(({ instance }) => instance === id);
  await vi.waitFor(async () => expect(await used()).toHaveLength(1), { timeout: 240_000 });
  const [first] = await net.server.host.registry.network.traffic(id, 0, 10);
  const { bytesOut = 0, bytesIn = 0 } = first ?? {};
  expect((await used())[0]?.reason).toBe(
    `1 request, 1 refused, ${bytesOut} bytes out, ${bytesIn} in: ${net.plain} 1 request, ${bytesOut} bytes out, ${bytesIn} in; https://elsewhere.test 1 refused`,
  );
});

test('the certificate of an allowed host is verified for its name', async () => {
  net.names.set('wrong.test', ['127.0.0.1']);
  await net.allow([{ url: `https://wrong.test:${net.tls.port}/` }]);
  expect((await status(`https://wrong.test:${net.tls.port}/`)).value).toContain('certificate is not trusted');
  expect(net.tls.received).toEqual([]);
});
