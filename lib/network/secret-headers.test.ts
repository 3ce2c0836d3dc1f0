import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../base/clock.ts';
import { openSecretSealer } from '../base/sealed-secrets.ts';
import type { Registry } from '../registry/registry.ts';
import type { SecretTerms } from '../registry/secrets.ts';
import { entry } from '../registry/testing/fixtures.ts';
import { SECRET_PURPOSE, Secrets } from '../secrets/secrets.ts';
import { type NetworkServer, startNetworkServer, TENANT } from './testing/network-server.ts';

let net: NetworkServer;
beforeAll(async () => {
  net = await startNetworkServer();
});
afterAll(() => net.stop());
beforeEach(async () => {
  net.tls.received.length = 0;
  await net.allow([{ url: `${net.api}/` }, { url: `${net.plain}/` }]);
});

const status = (url: string) => net.js(`fetch(${JSON.stringify(url)}).then((r) => r.status, (e) => e.message)`);

describe('a secret', () => {
  const VALUE = 'tok-0123456789abcdef';
  const setSecret = async (url: string, value = VALUE, format = 'Bearer {}') => {
    const { host, clock, folder } = net.server as typeof net.server & { clock: Clock };
    const secrets = new Secrets({
      registry: host.registry as unknown as Registry,
      sealer: openSecretSealer(folder, SECRET_PURPOSE),
      clock,
    });
    const terms = { tenant: TENANT, instance: '', name: 'token', url, header: 'authorization', format };
    await secrets.set(terms as SecretTerms, value, 'key:admin', entry({ type: 'secret.set', tenant: TENANT }));
  };

  test('is added in the place of what the guest gave, and an echo of it is blotted out', async () => {
    await setSecret(`${net.api}/v1/`);
    net.tls.answer = (request, response) => {
      const { authorization = 'none' } = request.headers;
      response.writeHead(200, { 'x-echo': authorization, 'content-encoding': 'gzip' });
      response.end(gzipSync(`you sent ${authorization}`));
    };
    const { value } = await net.js(`
      const response = await fetch('${net.api}/v1/echo', { headers: { Authorization: 'mine' } });
      const other = await fetch('${net.api}/v2/echo', { headers: { Authorization: 'mine' } });
      [response.headers.get('x-echo'), await response.text(), await other.text()]
    `);
    expect(net.tls.received.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${VALUE}`, 'mine']);
    const stars = '*'.repeat(`Bearer ${VALUE}`.length);
    expect(value).toEqual([stars, `you sent ${stars}`, 'you sent mine']);
    const told = JSON.stringify((await net.server.call('GET', '/api/events')).json);
    expect(told).not.toContain(VALUE);
  });

  test('is blotted out of what a server repeats without its format, in a reason phrase, in JSON, an address or a page', async () => {
    const value = 'a/"b&c"+d=\\efg';
    await setSecret(`${net.api}/v1/`, value, 'Key id=1;key={};v=2');
    const [key, whole] = [value, `Key id=1;key=${value};v=2`];
    net.tls.answer = (_request, response) => {
      response.writeHead(200, `OK ${key}`);
      const inJson = JSON.stringify({ key, whole });
      const inPage = whole.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
      response.end([key, inJson, inJson.replaceAll('/', '\\/'), `?key=${encodeURIComponent(key)}`, inPage].join('\n'));
    };
    const { value: said } = await net.js(
      `fetch('${net.api}/v1/echo').then(async (r) => ({ text: await r.text(), phrase: r.statusText }))`,
    );
    const { text, phrase } = said as { text: string; phrase: string };
    expect(phrase).toBe(`OK ${'*'.repeat(key.length)}`);
    expect(text.replace(/\*+/g, '*')).toBe('*\n{"key":"*","whole":"*"}\n{"key":"*","whole":"*"}\n?key=*\n*');
  });

  test('goes along with no path that a server may take for another one', async () => {
    await setSecret(`${net.api}/v1/`);
    for (const path of ['..;/v2', '%252e%252e/v2', 'plain']) await status(`${net.api}/v1/${path}`);
    expect(net.tls.received.map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      undefined,
      `Bearer ${VALUE}`,
    ]);
  });

  test('goes along with no redirect to another prefix', async () => {
    await setSecret(`${net.api}/v1/`);
    net.tls.answer = (request, response) =>
      request.url === '/v1/leave'
        ? response.writeHead(302, { location: `${net.plain}/taken` }).end()
        : response.end('stayed');
    let seen: string | undefined = 'nothing came';
    net.answer = (request, response) => {
      seen = request.headers.authorization;
      response.end('left');
    };
    expect((await net.js(`(await fetch('${net.api}/v1/leave')).text()`)).value).toBe('left');
    expect(seen).toBeUndefined();
    expect(net.tls.received[0]?.headers.authorization).toBe(`Bearer ${VALUE}`);
  });
});
