/**
 * `next start` and nothing else: the engine, its start and its end, the API by route files, and the console, as the own
 * server has them.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY, partOf } from '../lib/testing/draw.ts';
import { listeningOf } from '../lib/testing/listening.ts';
import { commandOf, type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { treeOf } from '../lib/testing/process-tree.ts';
import { TEST_KEY } from '../lib/testing/server.ts';
import { ensureBuilt } from '../scripts/build.ts';

const folders: string[] = [];
const servers: ServerProcess[] = [];
/** The same engine behind Next's server and behind our own, each with the sandbox `box`. */
let alone: ServerProcess;
let own: ServerProcess;

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'winterdock-alone-'));
  folders.push(made);
  return made;
}

async function start(options: { alone?: boolean; folder?: string; settings?: Record<string, string> } = {}) {
  const { alone: isAlone = true, settings } = options;
  const server = await spawnServer({
    folder: options.folder ?? folder(),
    alone: isAlone,
    args: [],
    settings: { NODE_ENV: 'production', ...settings },
  });
  servers.push(server);
  return server;
}

/** Makes the sandbox `box` with a file in each volume. */
async function fill(server: ServerProcess): Promise<ServerProcess> {
  await server.call('POST', '/api/instances', { id: 'box', tenant: 'acme' });
  await server.call('PUT', '/api/instances/box/volumes/workspace/x', 'of the workspace');
  await server.call('PUT', '/api/instances/box/volumes/memory/x', 'of the memory');
  return server;
}

beforeAll(async () => {
  ensureBuilt();
  [alone, own] = await Promise.all([start(), start({ alone: false })]);
  for (const server of [alone, own]) await fill(server);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.end('SIGKILL')));
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

/** What comes back to a sender that reads nothing before it has sent all, and what broke while it sent. */
async function sayAll(server: ServerProcess, head: string, bytes: number): Promise<{ output: string; broke: unknown }> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    .setEncoding('latin1')
    .pause();
  let broke: unknown = null;
  const closed = new Promise((resolve) =>
    socket
      .on('error', (error) => {
        broke = error;
      })
      .once('close', resolve),
  );
  socket.write(head);
  const piece = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent < bytes && broke === null; sent += piece.length) {
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), closed]);
  }
  let output = '';
  socket.on('data', (chunk) => {
    output += chunk;
  });
  socket.resume();
  await closed;
  return { output, broke };
}

/** Everything that comes back for a request, on a connection of its own. */
function say(server: ServerProcess, text: string, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve) => {
    let output = '';
    const socket = connect(Number(new URL(server.url).port), host);
    socket.setEncoding('latin1').on('data', (chunk) => {
      output += chunk;
    });
    socket.on('error', () => undefined).on('close', () => resolve(output));
    socket.write(text, 'latin1');
  });
}

const KEY = `Host: x\r\nAuthorization: Bearer ${TEST_KEY}\r\nConnection: close\r\n`;
const AT = '/api/instances/box/volumes/workspace';

/** What an answer comes to: its status, and the code of its problem, where it leads, or its length. */
function gist(answer: string): (string | number | null)[] {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0);
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? null;
  return [status, /"code":"(\w+)"/.exec(body)?.[1] ?? null, header('location'), header('content-length')];
}

/**
 * What Next, or Node for it, answers before anything of ours is asked, and how: the one list of what `next start` does
 * not have from the front. Dot segments, doubled slashes, other methods, what is no HTTP, the lengths of HEAD and the
 * peer's address are not in it: the front is before Next there.
 */
const DECIDED_BEFORE: Record<string, { sent: string; says: (string | number | null)[]; first?: true }> = {
  // Node's own, as Next makes its server.
  'no host': {
    sent: `GET ${AT}/x HTTP/1.1\r\nAuthorization: Bearer ${TEST_KEY}\r\nConnection: close\r\n\r\n`,
    says: [400, null, null, null],
  },
  // The front knows the server from its first request on.
  'what is no HTTP, before any request was': { sent: 'nonsense\r\n\r\n', says: [400, null, null, null], first: true },
  'another protocol, before any request was': {
    sent: `GET ${AT}/x HTTP/1.1\r\n${KEY.replace('close', 'Upgrade')}Upgrade: websocket\r\n\r\n`,
    says: [0, null, null, null],
    first: true,
  },
  'a tunnel, before any request was': {
    sent: `CONNECT evil.example:443 HTTP/1.1\r\n${KEY}\r\n`,
    says: [0, null, null, null],
    first: true,
  },
};

/**
 * What other servers and layers read as another request than it is: the front has it first, and answers as before the
 * own server.
 */
const HOSTILE: Record<string, string> = {
  'dot segments': `GET ${AT}/../memory/x HTTP/1.1\r\n${KEY}\r\n`,
  'encoded dot segments': `GET ${AT}/%2e%2e/memory/x HTTP/1.1\r\n${KEY}\r\n`,
  'a write through dot segments': `PUT ${AT}/%2e%2e/memory/x HTTP/1.1\r\n${KEY}Content-Length: 4\r\n\r\nevil`,
  'a deletion through dot segments': `DELETE ${AT}/a/../../memory/x HTTP/1.1\r\n${KEY}\r\n`,
  'a page above the API': `GET /api/../sandboxes HTTP/1.1\r\n${KEY}\r\n`,
  'the API below a page': `GET /sandboxes/../api/me HTTP/1.1\r\n${KEY}\r\n`,
  'two slashes in a path': `GET ${AT}//x HTTP/1.1\r\n${KEY}\r\n`,
  'two slashes before it': `GET /${AT}/x HTTP/1.1\r\n${KEY}\r\n`,
  'a slash behind it': `GET /api/instances/ HTTP/1.1\r\n${KEY}\r\n`,
  'a backslash': `GET ${AT}\\..\\memory\\x HTTP/1.1\r\n${KEY}\r\n`,
  'an encoded slash': `GET ${AT}/..%2fmemory%2fx HTTP/1.1\r\n${KEY}\r\n`,
  'an address with a host': `GET http://evil.example${AT}/x HTTP/1.1\r\n${KEY}\r\n`,
  'a fragment': `GET ${AT}/x#/../../memory/x HTTP/1.1\r\n${KEY}\r\n`,
  'no address': `OPTIONS * HTTP/1.1\r\n${KEY}\r\n`,
  TRACE: `TRACE ${AT}/x HTTP/1.1\r\n${KEY}\r\n`,
  CONNECT: `CONNECT evil.example:443 HTTP/1.1\r\n${KEY}\r\n`,
  'a method that there is not': `G\0T ${AT}/x HTTP/1.1\r\n${KEY}\r\n`,
  nonsense: 'nonsense\r\n\r\n',
  'a length that is none': `PUT ${AT}/x HTTP/1.1\r\n${KEY}Content-Length: -1\r\n\r\n`,
  'a length and chunks': `PUT ${AT}/x HTTP/1.1\r\n${KEY}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'headers of 20 kB': `GET ${AT}/x HTTP/1.1\r\n${KEY}A: ${'a'.repeat(20_000)}\r\n\r\n`,
  'two hosts': `GET ${AT}/x HTTP/1.1\r\nHost: y\r\n${KEY}\r\n`,
  'a host that is none': `GET ${AT}/x HTTP/1.1\r\nHost: a b\r\nAuthorization: Bearer ${TEST_KEY}\r\nConnection: close\r\n\r\n`,
  'another protocol': `GET ${AT}/x HTTP/1.1\r\n${KEY.replace('close', 'Upgrade, close')}Upgrade: websocket\r\n\r\n`,
  'an expectation': `GET ${AT}/x HTTP/1.1\r\n${KEY}Expect: a-miracle\r\n\r\n`,
  'the length of HEAD': `HEAD ${AT}/x HTTP/1.1\r\n${KEY}\r\n`,
  'the length of HEAD where nothing is': `HEAD ${AT}/y HTTP/1.1\r\n${KEY}\r\n`,
  'a request of Next’s own scripts': `POST ${AT}/x HTTP/1.1\r\n${KEY}RSC: 1\r\nNext-Action: 40f5\r\nx-nextjs-data: 1\r\nContent-Length: 0\r\n\r\n`,
};

const isUntouched = async (server: ServerProcess) => {
  for (const volume of ['workspace', 'memory']) {
    expect((await server.call('GET', `/api/instances/box/volumes/${volume}/x`)).text).toBe(`of the ${volume}`);
  }
};

test.each(Object.entries(HOSTILE))(
  '%s: answered as by the own server, and no other data is touched',
  async (_what, sent) => {
    const [got, expected] = await Promise.all([say(alone, sent), say(own, sent)]);
    expect(gist(got)).toEqual(gist(expected));
    expect(got).not.toContain('of the memory');
    await isUntouched(alone);
  },
);

test('requests that Next itself decides get the answers of the list, and touch no data', async () => {
  const made = folder();
  await fill(await start({ folder: made })).then((server) => server.end());
  for (const [what, { sent, says, first }] of partOf(Object.entries(DECIDED_BEFORE), 2, DAY)) {
    const server = first ? await start({ folder: made }) : alone;
    const got = await say(server, sent);
    expect([what, ...gist(got)]).toEqual([what, ...says]);
    expect(got).not.toContain('of the ');
    await isUntouched(server);
    if (first) await server.end();
  }
});

test('the same security headers are on the API and on pages', async () => {
  const careful = (headers: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => !/^(?:date|connection|keep-alive|vary|x-request-id|link|etag|last-modified)$/.test(name))
        .map(([name, value]) => [name, value.replace(/'nonce-[^']+'/, 'nonce')]),
    );
  for (const [method, path] of [
    ['GET', '/api/me'],
    ['GET', '/instances/box/volumes/workspace/x'],
    ['HEAD', '/instances/box/volumes/workspace/x'],
    ['GET', '/api/nothing'],
    ['DELETE', '/healthz'],
    ['GET', '/api/auth/get-session'],
    ['POST', '/api/auth/sign-out'],
    ['GET', '/signin'],
    ['POST', '/signin'],
    ['GET', '/signin?token=spent'],
    ['GET', '/nowhere'],
    ['GET', '/_next/image?url=x'],
  ] as const) {
    const [got, expected] = await Promise.all(
      [alone, own].map((server) => server.call(method, path, undefined, { headers: { accept: 'text/html' } })),
    );
    expect([path, got?.status, careful(got?.headers ?? {})]).toEqual([
      path,
      expected?.status,
      careful(expected?.headers ?? {}),
    ]);
  }
});

test('a form from another site is refused', async () => {
  for (const [path, headers] of [
    ['/sandboxes/box', { origin: 'https://evil.example', 'next-action': '40f5' }],
    ['/sandboxes/box', { 'sec-fetch-site': 'cross-site' }],
    ['/sandboxes/box/upload', { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }],
    ['/shares/import', { origin: 'null' }],
  ] as const) {
    const answer = await alone.call('POST', path, 'x', { key: null, headers });
    expect([path, answer.status, answer.json.code]).toEqual([path, 403, 'forbidden']);
  }
});

test('requests are counted by the address of the peer, whatever a client claims of it', async () => {
  const small = await start({ settings: { WB_RATE_ADDRESS: '5' } });
  const statuses: number[] = [];
  for (let made = 0; made < 8; made += 1) {
    const claimed = `203.0.113.${made}`;
    const headers = { 'x-forwarded-for': claimed, 'x-winterdock-peer': claimed, 'x-real-ip': claimed };
    statuses.push((await small.call('GET', '/healthz', undefined, { key: null, headers })).status);
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  await small.end();
});

test('Next listens on all addresses, and HOST decides who may connect', async () => {
  const [address] = Object.values(networkInterfaces()).flatMap((all = []) =>
    all.filter(({ internal, family }) => !internal && family === 'IPv4').map((one) => one.address),
  );
  if (address === undefined) return;
  const answer = await say(alone, `GET /api/me HTTP/1.1\r\n${KEY}\r\n`, address);
  expect(gist(answer).slice(0, 2)).toEqual([403, 'forbidden']);
  expect(answer).toContain('HOST is 127.0.0.1');
  const open = await start({ settings: { HOST: '0.0.0.0' } });
  expect(await say(open, `GET /api/me HTTP/1.1\r\n${KEY}\r\n`, address)).toMatch(/^HTTP\/1\.1 200 /);
  await open.end();
});

test.runIf(process.platform === 'linux')('SIGUSR1 opens no debugger: one port is all there is', async () => {
  const all = () => treeOf(alone.child.pid ?? 0).flatMap(listeningOf);
  alone.child.kill('SIGUSR1');
  expect((await alone.call('GET', '/healthz')).status).toBe(200);
  const { port } = new URL(alone.url);
  expect(all().map((on) => on.replace(/^tcp6?/, 'tcp'))).toEqual([`tcp ${port}`]);
});

test('a first start prints the link that makes the first admin, and the page it leads to answers', async () => {
  const server = await start();
  const link = /^Sign in: http:\/\/[^/]+(\S+)$/m.exec(server.output())?.[1] ?? '';
  expect(link).toMatch(/^\/signin\?token=/);
  const page = await server.call('GET', link, undefined, { key: null, headers: { accept: 'text/html' } });
  expect(page.status).toBe(200);
  expect(page.text).toContain('name="email"');
  await server.end();
});

test('SIGTERM with an open stream and a running command suspends active sandboxes and exits cleanly', async () => {
  const made = folder();
  const server = await start({ folder: made, settings: { WB_DRAIN_MS: '300' } });
  await fill(server);
  const streaming = say(server, `GET /api/events/stream HTTP/1.1\r\n${KEY}\r\n`);
  const body = JSON.stringify({ command: 'sleep 55', timeout_ms: 60_000 });
  const running = server.call('POST', '/api/instances/box/exec', body, {
    headers: { 'content-type': 'application/json' },
  });
  running.catch(() => undefined);
  await expect
    .poll(async () => (await server.call('GET', '/metrics')).text, { timeout: 240_000 })
    .toMatch(/_calls_running [1-9]/);
  expect(await server.end('SIGTERM')).toBe(0);
  expect(await streaming).toContain('text/event-stream');
  const again = await start({ folder: made });
  expect((await again.call('GET', '/api/instances/box')).json).toMatchObject({ state: 'suspended', fault: null });
  await isUntouched(again);
  await again.end();
});

/** Starts a server that is to be refused, and returns how it ended. */
function refused(isAlone: boolean, made: string, settings: Record<string, string> = {}) {
  const { status, stderr } = spawnSync(
    process.execPath,
    commandOf({ alone: isAlone, args: isAlone ? [] : undefined }),
    {
      env: {
        ...process.env,
        // Node warns of it where the machine is just writing that file anew.
        NODE_EXTRA_CA_CERTS: '',
        NODE_ENV: 'production',
        WB_DATA: made,
        WB_ADMIN_KEY: TEST_KEY,
        PORT: '0',
        ...settings,
      },
      encoding: 'utf8',
      timeout: 240_000,
    },
  );
  return { status, stderr };
}

test('a start that the own server refuses is refused here too, with the same message and exit code', async () => {
  const made = folder();
  const registry = join(made, 'registry.sqlite');
  await (await start({ folder: made })).end();
  const earlier = readFileSync(registry);
  await fill(await start({ folder: made })).then((server) => server.end());
  const whole = readFileSync(registry);
  const change = (sql: string) => {
    const database = new DatabaseSync(registry);
    database.exec(sql);
    database.close();
  };
  const lines = new Set<string>();
  const harms = [
    ['a wrong setting', () => undefined, { WB_POOL: '-1', WB_ADMIN_KEY: 'too-short' }],
    ['a folder that is none', () => undefined, { WB_DATA: registry }],
    ['a registry that is no database', () => writeFileSync(registry, 'something else entirely. '.repeat(100)), {}],
    [
      'a newer registry',
      () => change("INSERT INTO __drizzle_migrations(hash, created_at) VALUES ('later', 9999999999999)"),
      {},
    ],
    ['a ledger without its end', () => writeFileSync(registry, earlier), {}],
    ['no registry beside files', () => rmSync(registry), {}],
  ] as const;
  // Each day another two: a start of Next is dear.
  const ofDay = partOf<(typeof harms)[number]>(harms, 3, DAY);
  for (const [what, harm, settings] of ofDay) {
    harm();
    const [got, expected] = [refused(true, made, settings), refused(false, made, settings)];
    expect([what, got]).toEqual([what, expected]);
    expect([what, got.status]).not.toEqual([what, 0]);
    expect(got.stderr).not.toMatch(/^\s+at /m);
    lines.add(got.stderr);
    for (const suffix of ['-wal', '-shm']) rmSync(registry + suffix, { force: true });
    writeFileSync(registry, whole);
  }
  expect(lines.size).toBe(ofDay.length);
  const server = await start({ folder: made });
  await isUntouched(server);
  for (const isAlone of [true, false]) {
    expect(refused(isAlone, made)).toEqual({
      status: 1,
      stderr: `Another Winterdock uses the data folder ${made}. Stop it, or set WB_DATA to another folder.\n`,
    });
  }
  await server.end();
});

test('a sender that reads nothing before it has sent all still sees the refusal, as behind the own server', async () => {
  const bytes = 200 * 1024 * 1024;
  for (const server of [own, alone]) {
    const head = `POST /api/instances/import?tenant=acme HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer wrong\r\ncontent-length: ${bytes}\r\n\r\n`;
    const { output, broke } = await sayAll(server, head, bytes);
    expect([broke, output]).toEqual([null, expect.stringMatching(/^HTTP\/1\.1 401 .*"code":"unauthorized"/s)]);
  }
});
