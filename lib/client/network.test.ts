import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { ApiError, createClient, type WinterdockClient } from './client.ts';
import { type BadNetwork, badNetwork, type Mishap } from './testing/bad-network.ts';

let server: TestServer;
let network: BadNetwork;
let dock: WinterdockClient;

/** The sandbox of the test that runs. */
let id: string;
let count = 0;

beforeAll(async () => {
  server = await startServer();
});
beforeEach(async () => {
  network = await badNetwork(server.url);
  dock = createClient({ url: network.url, key: TEST_KEY });
  count += 1;
  id = `box-${count}`;
});
afterEach(() => network.close());
afterAll(() => server.stop());

const codeOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => 'done',
    (error: unknown) => (error instanceof ApiError ? error.code : error),
  );
const requests = (text: string) => network.seen.filter((seen) => seen === text).length;

test.each<Mishap>(['lose', 'mute', 'busy', 'limited', 'cut'])('a read is tried again after "%s"', async (mishap) => {
  await dock.createInstance({ id, tenant: 'acme' });
  network.next.push(mishap);
  expect((await dock.getInstance(id)).id).toBe(id);
  expect(requests(`GET /api/instances/${id}`)).toBe(2);
});

test('a read that fails for good, or without a time to come back at, is given up and told', async () => {
  network.next.push('lose', 'lose', 'lose');
  expect(await codeOf(dock.getSettings())).toBe('network');
  expect(network.seen).toHaveLength(3);
  network.next.push('busy-mute');
  expect(await codeOf(dock.getSettings())).toBe('capacity');
  network.next.push('lose');
  expect(await codeOf(dock.getSettings({ retries: 0 }))).toBe('network');
  expect(network.seen).toHaveLength(5);
});

test.each<Mishap>(['lose', 'mute', 'busy', 'limited'])(
  'an exec is never sent twice, not even after "%s"',
  async (mishap) => {
    await dock.createInstance({ id, tenant: 'acme' });
    network.next.push(mishap);
    expect(await codeOf(dock.execInInstance(id, { command: 'echo once >> log' }))).not.toBe('done');
    network.next.push(mishap);
    expect(await codeOf(dock.execStream(id, { command: 'echo once >> log' }).next())).not.toBe('done');
    expect(requests(`POST /api/instances/${id}/exec`)).toBe(2);
  },
);

test('a write is repeated only when it names the version that it replaces', async () => {
  await dock.createInstance({ id, tenant: 'acme' });
  const { etag } = await dock.putFile(id, 'workspace', '/f', 'one');
  network.next.push('lose');
  expect(await codeOf(dock.putFile(id, 'workspace', '/f', 'two'))).toBe('network');
  network.next.push('lose');
  expect(await codeOf(dock.putFile(id, 'workspace', '/f', 'three', { ifMatch: etag ?? '' }))).toBe('done');
  expect(await (await dock.getFile(id, 'workspace', '/f')).text()).toBe('three');
  network.next.push('lose');
  const stream = new Blob(['four']).stream();
  expect(await codeOf(dock.putFile(id, 'workspace', '/f', stream, { ifMatch: '*' }))).toBe('network');
});

test('a repeated deletion whose first answer was lost succeeds', async () => {
  await dock.createInstance({ id, tenant: 'acme' });
  await dock.putFile(id, 'workspace', '/f', 'one');
  network.next.push('mute');
  expect(await codeOf(dock.deleteFile(id, 'workspace', '/f'))).toBe('done');
  expect(requests(`DELETE /api/instances/${id}/volumes/workspace/f`)).toBe(2);
  expect(await codeOf(dock.deleteFile(id, 'workspace', '/f'))).toBe('not_found');
});

test('a download that breaks fails, and never looks like a shorter file', async () => {
  await dock.createInstance({ id, tenant: 'acme' });
  await dock.putFile(id, 'workspace', '/f', new Uint8Array(500_000));
  network.next.push('cut');
  const download = await dock.getFile(id, 'workspace', '/f');
  expect(await codeOf(download.bytes())).toBe('network');
});

test('a script whose connection breaks is reported as lost, not as ended', async () => {
  await dock.createInstance({ id, tenant: 'acme' });
  const follow = async () => {
    for await (const event of dock.execStream(id, { command: 'echo begun; while true; do sleep 0.05; done' })) {
      if (event.event === 'stdout') network.cut();
    }
  };
  expect(await codeOf(follow())).toBe('network');
  expect((await dock.execInInstance(id, { command: 'echo next' })).stdout).toBe('next\n');
});

test('what a stream tells besides lines is not taken for one', async () => {
  const lines: (string | null)[] = [];
  const create = (id: string, tenant: string) => dock.createInstance({ id, tenant });
  for await (const { instance } of dock.streamEvents(
    { tenant: 'beside', with: 'changes' },
    { onConnected: () => void create('beside-1', 'beside') },
  )) {
    lines.push(instance);
    if (instance === 'beside-2') break;
    await create('elsewhere', 'elsewhere');
    // By then it was told what has changed, as of a line that is not for this stream.
    setTimeout(() => void create('beside-2', 'beside'), 1000);
  }
  expect(lines).toEqual(['beside-1', 'beside-2']);
});

test('the ledger is followed over broken connections without a gap or a repeat', async () => {
  await dock.createInstance({ id: 'before', tenant: 'followed' });
  const stop = new AbortController();
  const seqs: number[] = [];
  const seen: (string | null)[] = [];
  let connections = 0;
  let arrived = (_id: string | null) => {};
  const connected = () => {
    connections += 1;
  };
  const following = (async () => {
    for await (const event of dock.streamEvents(
      { tenant: 'followed' },
      { signal: stop.signal, onConnected: connected },
    )) {
      seqs.push(event.seq);
      seen.push(event.instance);
      arrived(event.instance);
    }
  })();
  const ended = expect(following).rejects.toThrow('enough');
  const until = (id: string) =>
    new Promise<void>((resolve) => {
      arrived = (instance) => instance === id && resolve();
      if (seen.includes(id)) resolve();
    });
  const direct = createClient({ url: server.url, key: TEST_KEY });

  await expect.poll(() => connections).toBe(1);
  // Lost before its first line: what happens while nobody listens must not be missed.
  network.cut();
  await direct.createInstance({ id: 'first', tenant: 'followed' });
  await until('first');
  network.next.push('busy', 'lose');
  network.cut();
  await direct.createInstance({ id: 'second', tenant: 'followed' });
  await until('second');
  await direct.createInstance({ id: 'third', tenant: 'followed' });
  await until('third');
  stop.abort(new Error('enough'));
  await ended;

  expect(seen).not.toContain('before');
  expect([...new Set(seen)]).toEqual(['first', 'second', 'third']);
  expect(seqs).toEqual([...new Set(seqs)].sort((one, other) => one - other));
  expect(connections).toBeGreaterThanOrEqual(3);
});

test('a stream from the past resumes after its last line', async () => {
  await dock.createInstance({ id, tenant: 'acme' });
  await dock.createInstance({ id: 'b', tenant: 'acme' });
  const [, older] = (await dock.listEvents()).items;
  for await (const event of dock.streamEvents({ last_event_id: older?.seq ?? 0 })) {
    expect(event.instance).toBe('b');
    break;
  }
});

test('aborting ends a call at once, while it waits as well, with the reason of the signal', async () => {
  network.next.push('busy', 'busy', 'busy');
  const stop = new AbortController();
  const waiting = dock.getSettings({ signal: stop.signal });
  await expect.poll(() => network.seen.length).toBe(1);
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(dock.getSettings({ signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
});

test('foreign answers, redirects among them, are reported as such', async () => {
  const page = createServer((req, res) => {
    if (req.url?.startsWith('/api/settings') === true) res.writeHead(302, { location: '/elsewhere' }).end();
    else res.writeHead(req.url === '/healthz' ? 200 : 502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
  });
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  const stranger = createClient({ url: `http://127.0.0.1:${(page.address() as AddressInfo).port}`, retries: 0 });
  expect(await codeOf(stranger.getInstance('a'))).toBe('unexpected');
  expect(await codeOf(stranger.health())).toBe('unexpected');
  expect(await codeOf(stranger.getSettings())).toBe('network');
  page.close();
  const nobody = createClient({ url: 'http://127.0.0.1:4', retries: 0 });
  expect(await codeOf(nobody.health())).toBe('network');
});

test('a log is followed over broken connections, without a repeat', async () => {
  await dock.createInstance({ id, tenant: 'acme' });
  await dock.execInInstance(id, { command: 'echo zero' });
  await dock.startRun(id, { command: 'for n in 1 2 3; do echo $n; sleep 0.4; done' });
  network.next.push('cut', 'cut');
  const found: string[] = [];
  for await (const event of dock.followInstanceLogs(id, {}, { retries: 3 })) {
    if (event.event === 'line') found.push(event.line.text);
    if (found.at(-1) === '3') break;
  }
  expect(found).toEqual(['zero', '1', '2', '3']);
});
