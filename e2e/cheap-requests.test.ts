/**
 * What strangers' requests cost a server, by our own front and by Next started alone: processor time of each, and how
 * long `/healthz` waits beside them. The figures are printed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { partOf } from '../lib/testing/draw.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { TEST_KEY } from '../lib/testing/server.ts';
import { ensureBuilt } from '../scripts/build.ts';
import { cheapRequests } from './cheap-requests.ts';
import { actionNamed } from './hostile-requests.ts';

const onLinux = test.runIf(process.platform === 'linux');
/** The most that one request may take of the thread that answers all, in milliseconds of the processor. */
const MOST_MS = 50;
/** Looks at `/healthz` beside each attack. One that held it up would be two in a hundred of all. */
const SAMPLES = 10;
const UNLIMITED = { NODE_ENV: 'production', WB_RATE_ADDRESS: '0', WB_COST_ADDRESS: '0' };

const folders: string[] = [];
const servers: ServerProcess[] = [];
let attacks: Record<string, string>;

async function start(settings: Record<string, string>, alone = false): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-cheap-'));
  folders.push(folder);
  const server = await spawnServer({ folder, args: [], alone, settings });
  servers.push(server);
  return server;
}

beforeAll(() => {
  ensureBuilt();
  // A round tries every other one of them.
  attacks = Object.fromEntries(partOf(Object.entries(cheapRequests(actionNamed('signIn'))), 2));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.end('SIGKILL')));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The first line of what comes back, once the connection has ended. */
function say({ url }: ServerProcess, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let output = '';
    const socket = connect(Number(port), hostname);
    socket.setEncoding('latin1').on('data', (chunk) => {
      output += chunk;
    });
    socket.on('error', () => undefined).on('close', () => resolve(output.split('\r\n', 1)[0] ?? ''));
    socket.write(text, 'latin1');
  });
}

/** Processor time that the thread which answers has taken, in milliseconds: the kernel's own count. */
function cpuMs({ child }: ServerProcess): number {
  return Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

onLinux.each([
  ['our own front', false],
  ['Next started alone', true],
])('no cheap request takes more than 50 ms of the processor behind %s', async (_front, alone) => {
  const server = await start(UNLIMITED, alone);
  const rows: [string, number, string][] = [];
  for (const [what, text] of Object.entries(attacks)) {
    const taken: number[] = [];
    let says = '';
    // The first one loads code.
    for (let round = 0; round < 4; round += 1) {
      const before = cpuMs(server);
      says = await say(server, text);
      if (round > 0) taken.push(cpuMs(server) - before);
    }
    rows.push([what, median(taken), says]);
  }
  const line = ([what, ms, says]: (typeof rows)[number]) => `  ${ms.toFixed(1).padStart(6)} ms  ${what}: ${says}`;
  process.stdout.write(`Processor time by request${alone ? ', Next alone' : ''}:\n${rows.map(line).join('\n')}\n`);
  expect(rows.filter(([, ms]) => ms > MOST_MS)).toEqual([]);
  expect(rows.filter(([, , says]) => !/^HTTP\/1\.1 [234]\d\d /.test(says))).toEqual([]);
});

/** How long `/healthz` takes while something else goes on, `count` times, in milliseconds. */
async function healthTimes(server: ServerProcess, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let made = 0; made < count; made += 1) {
    const before = performance.now();
    expect(await say(server, 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(/ 200 /);
    times.push(performance.now() - before);
  }
  return times;
}

/** Sends `next()` again and again on `clients` connections at a time while `work` goes on. */
async function beside<T>(
  server: ServerProcess,
  clients: number,
  next: () => string,
  work: () => Promise<T>,
): Promise<T> {
  let goesOn = true;
  const client = async () => {
    while (goesOn) await say(server, next());
  };
  const all = Array.from({ length: clients }, client);
  try {
    return await work();
  } finally {
    goesOn = false;
    await Promise.all(all);
  }
}

const p99 = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;

onLinux(
  '/healthz waits beside each attack no more than thrice as long as beside ten ordinary clients',
  { timeout: 600_000 },
  async () => {
    const server = await start(UNLIMITED);
    await server.call('POST', '/api/instances', { id: 'box', tenant: 'acme' });
    const key = `Authorization: Bearer ${TEST_KEY}\r\nHost: dock.test\r\nConnection: close\r\nAccept: text/html\r\n\r\n`;
    const ordinary = ['/', '/sandboxes', '/api/instances', '/sandboxes/box', '/api/instances/box'];
    let at = 0;
    const visit = () => `GET ${ordinary[at++ % ordinary.length]} HTTP/1.1\r\n${key}`;
    for (const text of [...ordinary.map(() => visit()), ...Object.values(attacks)]) await say(server, text);

    const base: number[] = [];
    const rows: [string, number][] = [];
    const all: number[] = [];
    for (const [number, [what, text]] of Object.entries(attacks).entries()) {
      // Ordinary clients and attackers in turn, so that what else the machine does is beside both.
      if (number % 3 === 0) base.push(...(await beside(server, 10, visit, () => healthTimes(server, 2 * SAMPLES))));
      const times = await beside(
        server,
        10,
        () => text,
        () => healthTimes(server, SAMPLES),
      );
      rows.push([what, p99(times)]);
      all.push(...times);
    }
    const line = ([what, ms]: [string, number]) => `  ${ms.toFixed(1).padStart(6)} ms  ${what}`;
    const sums: [string, number][] = [
      ['ten ordinary clients', p99(base)],
      ['all attacks', p99(all)],
    ];
    process.stdout.write(`/healthz, p99 beside ten clients:\n${[...sums, ...rows].map(line).join('\n')}\n`);
    expect(p99(all)).toBeLessThanOrEqual(3 * p99(base));
  },
);

onLinux(
  'an address whose strangers take too much time is told to wait, and who has a session there is served',
  async () => {
    const server = await start({ NODE_ENV: 'production', WB_COST_ADDRESS: '300' });
    const stranger = { key: null, headers: { accept: 'text/html' } };
    const statuses: number[] = [];
    await vi.waitFor(
      async () => {
        const answer = await server.call('GET', '/signin', undefined, stranger);
        statuses.push(answer.status);
        expect(answer.status).toBe(429);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
        expect(answer.text).toMatch(/took too much of the server’s time.*Try again in \d+ s/s);
      },
      { timeout: 240_000, interval: 1 },
    );
    expect(statuses[0]).toBe(200);
    // Nobody else of that address is hit: with a key, at the API, at the probes.
    expect((await server.call('GET', '/sandboxes')).status).toBe(200);
    expect((await server.call('GET', '/healthz', undefined, { key: null })).status).toBe(200);
    expect((await server.call('GET', '/api/me', undefined, { key: null })).status).toBe(401);
    // And what holds strangers back is over soon.
    await vi.waitFor(async () => expect((await server.call('GET', '/signin', undefined, stranger)).status).toBe(200), {
      timeout: 240_000,
      interval: 500,
    });
  },
);

onLinux('people with ten tabs each, all behind one address, signed in or not yet, meet no limit', async () => {
  const server = await start({ NODE_ENV: 'production' });
  const stranger = { key: null, headers: { accept: 'text/html' } };
  const tabs = Array.from({ length: 10 }, (_, tab) => tab);
  for (let person = 0; person < 5; person += 1) {
    const opened = await Promise.all(tabs.map(() => server.call('GET', '/signin', undefined, stranger)));
    expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
  }
  for (let click = 0; click < 30; click += 1) {
    const pages = await Promise.all(tabs.map((tab) => server.call('GET', tab % 2 === 0 ? '/' : '/sandboxes')));
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]));
  }
});

onLinux(
  'the request that held the event loop is named, in the log and in the metrics, without what is secret',
  async () => {
    const server = await start({ ...UNLIMITED, WB_LOG: 'info' });
    // The first request for each loads code: tens of milliseconds in one piece.
    const slow = ['/openapi.json', '/signin?token=very-secret', '/sandboxes/very-secret'];
    const key = `Authorization: Bearer ${TEST_KEY}\r\nHost: dock.test\r\nConnection: close\r\n\r\n`;
    await beside(
      server,
      10,
      () => `GET /api/instances/quick HTTP/1.1\r\n${key}`,
      async () => {
        for (const path of slow) await say(server, `GET ${path} HTTP/1.1\r\n${key}`);
      },
    );
    await vi.waitFor(async () => {
      const { text } = await server.call('GET', '/metrics');
      expect(text).toMatch(
        /^winterdock_loop_stall_seconds_count\{request="GET \/(?:signin|sandboxes\/…|openapi\.json)"\} \d+/m,
      );
      expect(Number(/^winterdock_loop_longest_stall_seconds (\S+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(0.05);
      expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \S+$/m);
      expect(text).not.toContain('very-secret');
    }, 240_000);
    const told = server
      .output()
      .split('\n')
      .filter((line) => line.includes('held up all others'));
    expect(told.length).toBeGreaterThan(0);
    for (const line of told) {
      expect(JSON.parse(line)).toMatchObject({ request: expect.any(String), requestId: expect.any(String) });
      expect(line).not.toContain('very-secret');
    }
    const named = told.map((line) => (JSON.parse(line) as { request: string }).request);
    expect(named.filter((name) => ['GET /openapi.json', 'GET /signin', 'GET /sandboxes/…'].includes(name))).not.toEqual(
      [],
    );
  },
);
