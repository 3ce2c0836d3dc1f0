/** Pages of a sandbox, by the host that has it: between two real servers with pages of a test. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { caller } from '../testing/call.ts';
import { type SmallHosts, startSmallHosts } from '../testing/small-hosts.ts';
import { SMALL_KEY } from '../testing/small-server.ts';
import { admitHop, saysItHopped } from './hop-border.ts';
import { passPage } from './page-hop.ts';

const MIB = 1024 * 1024;
let folder: string;
let hosts: SmallHosts;
let servers: Server[];

/** A server of pages: each says who made it, and what it was asked. */
async function startPages(name: string): Promise<void> {
  const { receiver, passOn, dispatcher } = hosts.at(name);
  const log = pino({ level: 'silent' });
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const admitted = saysItHopped(req) ? admitHop(receiver, log, { req, res }) : { req, arrival: null };
    if (admitted === null) return;
    const asked = await passPage(passOn, admitted, { res, dispatcher });
    if (asked === null) return;
    let bytes = 0;
    let isWhole = true;
    try {
      for await (const piece of asked) bytes += piece.length;
    } catch {
      isWhole = false;
    }
    const { method, url, headers } = asked;
    const { cookie, host, rsc, 'content-length': length } = headers;
    res.setHeader('set-cookie', ['a=1; Path=/', 'b=2; Path=/']);
    res.writeHead(isWhole ? 200 : 400, { 'content-type': 'text/x-component', 'x-made-by': name });
    res.write('in parts: ');
    res.end(
      JSON.stringify({ by: name, method, url, cookie, host, rsc, length, bytes, address: admitted.arrival?.address }),
    );
  };
  const answer = (req: IncomingMessage, res: ServerResponse) => void handle(req, res).catch(() => res.destroy());
  const server = createServer(answer);
  server.on('checkContinue', answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  const row = hosts.rows.get(name);
  if (row === undefined) throw new Error('There is no row.');
  hosts.rows.set(name, { ...row, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

const ask = async (name: string, method: string, path: string, body?: string | Buffer, headers = {}) => {
  const call = caller(hosts.rows.get(name)?.url ?? '', SMALL_KEY);
  const answer = await call(method, path, body, {
    key: null,
    headers: { host: 'dock.example', cookie: 'session=all', ...headers },
  });
  const said = JSON.parse(answer.text.replace('in parts: ', '')) as Record<string, unknown>;
  return { ...answer, said };
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-pages-'));
  hosts = await startSmallHosts(['one', 'two'], folder);
  servers = [];
  for (const name of ['one', 'two']) await startPages(name);
  hosts.owners.set('a', 'two');
});
afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  hosts.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a page of a sandbox, its parts and its actions come from the host that has it, with their cookies', async () => {
  const page = await ask('one', 'GET', '/sandboxes/a?tab=files', undefined, { cookie: 'session=acme', rsc: '1' });
  expect(page.headers['x-made-by']).toBe('two');
  expect(page.headers['set-cookie']).toBe('a=1; Path=/,b=2; Path=/');
  expect(page.said).toMatchObject({
    ...{ method: 'GET', url: '/sandboxes/a?tab=files', cookie: 'session=acme', rsc: '1' },
    ...{ host: 'dock.example', address: '127.0.0.1' },
  });
  for (const bytes of [0, 10, 64 * 1024, 64 * 1024 + 1, 3 * MIB]) {
    const { said } = await ask('one', 'POST', '/sandboxes/a/upload', Buffer.alloc(bytes, 1));
    expect(said).toMatchObject({ by: 'two', method: 'POST', bytes, length: String(bytes) });
  }
});

test('pages of no sandbox, and of one that is here, are this host’s', async () => {
  for (const path of [
    '/',
    '/sandboxes',
    '/sandboxes?q=a',
    '/sandboxes/%2e%2e',
    '/sandboxes/b',
    '/tenants/a',
    '/signin',
  ]) {
    expect([path, (await ask('one', 'GET', path)).said.by]).toEqual([path, 'one']);
  }
  const { said } = await ask('one', 'POST', '/sandboxes/b', Buffer.alloc(100));
  expect(said).toMatchObject({ by: 'one', bytes: 100 });
});

test('what was sent to a page whose sandbox came here meanwhile is there', async () => {
  const { places } = hosts.at('one');
  const { whereIs } = places;
  places.whereIs = async (id) => {
    const found = await whereIs(id);
    hosts.owners.set('a', 'one');
    return found;
  };
  for (const bytes of [100, 3 * MIB]) {
    hosts.owners.set('a', 'two');
    const { said } = await ask('one', 'POST', '/sandboxes/a', Buffer.alloc(bytes));
    expect(said).toMatchObject({ by: 'one', bytes });
  }
});

test('a browser that breaks off what it sends breaks it off for the page', async () => {
  const req = request(`${hosts.rows.get('one')?.url}/sandboxes/a/upload`, {
    method: 'POST',
    agent: false,
    headers: { 'content-length': 8 * MIB, cookie: 'session=all' },
  });
  req.on('error', () => undefined);
  req.write(Buffer.alloc(MIB));
  await expect.poll(() => hosts.at('one').sender.open, { timeout: 60_000 }).toBe(1);
  req.destroy();
  await expect.poll(() => hosts.at('one').sender.open, { timeout: 60_000 }).toBe(0);
});

test('a stranger and another tenant do not learn from a page that there is such a sandbox, even with its host away', async () => {
  for (const cookie of ['', 'session=globex']) {
    const { said } = await ask('one', 'GET', '/sandboxes/a', undefined, { cookie });
    expect([cookie, said.by]).toEqual([cookie, 'one']);
  }
  servers[1]?.closeAllConnections();
  servers[1]?.close();
  for (const cookie of ['', 'session=globex']) {
    const { said } = await ask('one', 'POST', '/sandboxes/a', Buffer.alloc(100), { cookie });
    expect(said).toMatchObject({ by: 'one', bytes: 100 });
  }
});
