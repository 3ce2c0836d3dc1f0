import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createAddressPolicy, type Resolve } from './address-policy.ts';
import { specialRange } from './addresses.ts';
import { type OutgoingRequest, sendOutgoing } from './send.ts';
import { type HttpsReceiver, startHttpsReceiver } from './testing/https-receiver.ts';

const PUBLIC = ['1.1.1.1', '8.8.8.8', '2606:4700:4700::1111', '::ffff:8.8.8.8'];
const SPECIAL = [
  ...['127.0.0.1', '127.8.8.8', '0.0.0.0', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1'],
  ...['192.0.2.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '192.0.0.8'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', 'fe80::1', 'fc00::1', 'fd12:3456::1', 'fec0::1'],
  ...['ff02::1', '64:ff9b::7f00:1', '2002:7f00:1::', '2001:0:7f00:1::', '2001:db8::1', '100::1', '4000::1'],
  '168.63.129.16',
  ...['fe80::1%eth0', 'localhost', '', '1.1.1.1.1'],
];

test.each(PUBLIC)('%s is public', (address) => {
  expect(specialRange(address)).toBeNull();
});

test.each(SPECIAL)('%j is not public', (address) => {
  expect(specialRange(address)).toEqual(expect.any(String));
});

describe('an address that somebody types', () => {
  const guard = createAddressPolicy(['https://hooks.lan:8443', 'http://127.0.0.1:9000']);

  test.each([
    ['http://example.com/', 'https://'],
    ['ftp://example.com/', 'https://'],
    ['https://user:secret@example.com/', 'a user or a password'],
    ['https://user@example.com/', 'a user or a password'],
    ['https://hooks.lan:8443@example.com/', 'a user or a password'],
    ['https://127.0.0.1/', 'loopback'],
    // One, two and three numbers, octal and hexadecimal: what browsers take for 127.0.0.1 and 169.254.169.254.
    ['https://2130706433/', 'loopback'],
    ['https://0177.0.0.1/', 'loopback'],
    ['https://0x7f.1/', 'loopback'],
    ['https://127.1/', 'loopback'],
    ['https://0xa9fea9fe/', 'linkLocal'],
    ['https://[::1]/', 'loopback'],
    ['https://[::ffff:10.0.0.1]/', 'private'],
    ['https://[0:0:0:0:0:ffff:a9fe:a9fe]/', 'linkLocal'],
    // Full-width digits and dots are digits and dots.
    ['https://１２７。０。０。１/', 'loopback'],
    ['http://127.0.0.1:9001/', 'https://'],
    ['https://127.0.0.1:9000/', 'loopback'],
    ['example.com', 'must be a URL'],
    [`https://example.com/${'a'.repeat(2000)}`, 'must be a URL'],
  ])('%s is refused', (address, why) => {
    expect(() => guard.parse(address)).toThrow(why);
  });

  test.each([
    'https://example.com/hook?token=1',
    'https://example.com:8443/',
    'https://8.8.8.8/',
    'https://hooks.lan:8443/path',
    'http://127.0.0.1:9000/',
  ])('%s is taken', (address) => {
    expect(guard.parse(address).href).toBe(address);
  });
});

describe('a name', () => {
  const answering = (...addresses: string[]): Resolve => {
    return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  const url = new URL('https://example.com/');

  test.each([
    ['one private address among public ones', ['8.8.8.8', '10.0.0.1']],
    ['the address of cloud metadata', ['169.254.169.254']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['no address', []],
  ])('with %s is refused', async (_what, addresses) => {
    await expect(createAddressPolicy([], answering(...addresses)).resolve(url)).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  test('with an address of this machine is refused, however public it is and however it is written', async () => {
    const own = () => ['8.8.8.8', '2606:4700::1'];
    for (const address of ['8.8.8.8', '::ffff:8.8.8.8', '2606:4700:0:0:0:0:0:1']) {
      const guard = createAddressPolicy([], answering('1.1.1.1', address), { own });
      await expect(guard.resolve(url)).rejects.toMatchObject({ message: 'The name has an address of this machine.' });
    }
    await expect(createAddressPolicy([], undefined, { own }).resolve(new URL('https://8.8.8.8/'))).rejects.toThrow();
    const allowed = createAddressPolicy(['https://example.com'], answering('8.8.8.8'), { own });
    expect(await allowed.resolve(url)).toHaveLength(1);
  });

  test('that is allowed may have any address, on its own port alone', async () => {
    const guard = createAddressPolicy(['https://example.com'], answering('10.0.0.1'));
    expect(await guard.resolve(url)).toEqual([{ address: '10.0.0.1', family: 4 }]);
    await expect(guard.resolve(new URL('https://example.com:444/'))).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('a request', () => {
  let receiver: HttpsReceiver;
  beforeAll(async () => {
    receiver = await startHttpsReceiver(['hooks.test']);
  });
  afterAll(() => receiver.stop());
  afterEach(() => {
    receiver.received.length = 0;
    receiver.answer = (_request, response) => response.writeHead(204).end();
  });

  const here: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const send = (over: Partial<OutgoingRequest> & { name?: string; resolve?: Resolve } = {}) => {
    const { name = 'hooks.test', resolve = here, ...request } = over;
    const url = new URL(`https://${name}:${receiver.port}/hook`);
    const guard = createAddressPolicy([url.origin], resolve);
    return sendOutgoing(guard, {
      url,
      method: 'POST',
      headers: { 'x-test': 'yes' },
      body: 'hello',
      timeoutMs: 5000,
      mostBytes: 100,
      ...request,
    });
  };

  test('goes to the address that was looked up, once, whatever the name means a moment later', async () => {
    let lookups = 0;
    const rebinding: Resolve = async () => {
      lookups += 1;
      return [{ address: lookups === 1 ? '127.0.0.1' : '127.0.0.66', family: 4 }];
    };
    expect(await send({ resolve: rebinding })).toMatchObject({ status: 204, isCut: false });
    expect(lookups).toBe(1);
    const host = `hooks.test:${receiver.port}`;
    expect(receiver.received).toMatchObject([{ method: 'POST', path: '/hook', body: 'hello', headers: { host } }]);
  });

  test('does not follow a redirect', async () => {
    receiver.answer = (_request, response) =>
      response.writeHead(307, { location: `https://hooks.test:${receiver.port}/elsewhere` }).end();
    expect((await send()).status).toBe(307);
    expect(receiver.received).toHaveLength(1);
  });

  test('reads so much of a huge answer, and hangs up', async () => {
    let written = 0;
    receiver.answer = (_request, response) => {
      const more = () => {
        if (response.destroyed) return;
        written += 1;
        if (response.write('x'.repeat(64 * 1024))) setImmediate(more);
        else response.once('drain', more);
      };
      response.on('error', () => {});
      more();
    };
    const answer = await send();
    expect(answer).toMatchObject({ status: 200, isCut: true });
    expect(answer.body).toHaveLength(100);
    expect(written).toBeLessThan(1000);
  });

  test('waits no longer than it may, for the answer or for its end', async () => {
    receiver.answer = () => {};
    await expect(send({ timeoutMs: 200 })).rejects.toThrow('No answer within 0.2 s.');
    receiver.answer = (_request, response) => void response.writeHead(200).write('begun');
    const answer = await send({ timeoutMs: 300 });
    expect([answer.status, answer.isCut, answer.body.toString()]).toEqual([200, true, 'begun']);
    await expect(send({ timeoutMs: 200, resolve: () => new Promise(() => {}) })).rejects.toThrow('No answer within');
  });

  test('verifies the certificate for the name', async () => {
    await expect(send({ name: 'other.test' })).rejects.toThrow('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(receiver.received).toHaveLength(0);
  });

  test('tells in a sentence why there is no answer', async () => {
    const closing = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => closing.once('listening', resolve));
    const { port } = closing.address() as AddressInfo;
    const url = new URL(`https://hooks.test:${port}/`);
    const to = (target: URL, resolve: Resolve) =>
      sendOutgoing(createAddressPolicy([target.origin], resolve), {
        ...{ url: target, method: 'POST', headers: {}, body: '', timeoutMs: 5000, mostBytes: 0 },
      });
    await expect(to(url, here)).rejects.toThrow('The connection was closed before an answer.');
    closing.close();
    await new Promise((resolve) => closing.once('close', resolve));
    await expect(to(url, here)).rejects.toThrow('The connection was refused.');
    const missing: Resolve = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    };
    await expect(to(url, missing)).rejects.toThrow('The name does not resolve.');
  });

  test('ends when the caller ends it', async () => {
    const stop = new AbortController();
    receiver.answer = () => stop.abort();
    await expect(send({ signal: stop.signal })).rejects.toThrow('The server stopped meanwhile.');
  });
});
