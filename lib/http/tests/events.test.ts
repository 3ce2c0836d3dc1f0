import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Event, eventSchema } from '../../contract/schema.ts';
import { startServer, TEST_KEY, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let made = 0;
const opened: { close(): void }[] = [];

beforeAll(async () => {
  server = await startServer();
});
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close();
});
afterAll(() => server.stop());

/** Appends a line to the ledger: an instance is created. Returns its id. */
async function happen(tenant = 'acme'): Promise<string> {
  const id = `made-${++made}`;
  await server.call('POST', '/api/instances', { id, tenant });
  return id;
}

async function follow(query = '', headers: Record<string, string> = {}) {
  const req = request(`${server.url}/api/events/stream${query}`, {
    agent: false,
    headers: { authorization: `Bearer ${TEST_KEY}`, ...headers },
  });
  req.on('error', () => undefined);
  req.end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const stream = {
    status: res.statusCode,
    res,
    text: '',
    ended: false,
    close: () => req.destroy(),
    events(): Event[] {
      return [...stream.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
    },
    lastId: () => Number.parseInt(stream.text.slice(stream.text.lastIndexOf('\nid: ') + 5), 10),
    ids: () => [...stream.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)),
    instances: () => stream.events().map(({ instance }) => instance),
  };
  res.on('data', (chunk) => {
    stream.text += chunk;
  });
  res.on('close', () => {
    stream.ended = true;
  });
  opened.push(stream);
  return stream;
}

const lastSeq = async () => (await server.call<Event[]>('GET', '/api/events?limit=1')).json[0]?.seq ?? 0;

test('the lines of a request are found among others', async () => {
  const id = 'told-by-request';
  const headers = { 'x-request-id': 'req-searched' };
  await server.call('POST', '/api/instances', { id, tenant: 'acme' }, { headers });
  for (let other = 0; other < 5; other++) await happen();
  const now = (await server.call<Event[]>('GET', '/api/events?limit=1')).json[0]?.time ?? 0;
  const search = (query: string) => server.call<Event[]>('GET', `/api/events?request_id=${query}`);
  const { json } = await search(`req-searched&since=${now - 3600}&limit=1`);
  expect(json.map((line) => [line.type, line.instance, line.request_id])).toEqual([
    ['instance.created', id, 'req-searched'],
  ]);
  expect((await search(`req-searched&since=${now - 60}&tenant=acme`)).json).toHaveLength(1);
  expect((await search(`req-searched&since=${now - 60}&tenant=globex`)).json).toEqual([]);
  expect((await search(`req-unknown&since=${now - 60}`)).json).toEqual([]);
  expect((await search('req-searched')).json).toHaveLength(1);
  expect((await search('req-searched&type=transition')).json).toEqual([]);
  expect((await search(`req-searched&since=${now - 7200}&until=${now - 3600}`)).json).toEqual([]);
});

test('the ledger is listed newest first, with actors and request ids', async () => {
  await server.call(
    'POST',
    '/api/instances',
    { id: 'told', tenant: 'acme' },
    { headers: { 'x-request-id': 'req-of-mine' } },
  );
  const { json } = await server.call<Event[]>('GET', '/api/instances/told/events');
  expect(eventSchema.strict().parse(json[0])).toMatchObject({
    instance: 'told',
    tenant: 'acme',
    type: 'instance.created',
    to: 'created',
    trigger: 'request',
    actor: 'key:admin',
    via: 'api',
    request_id: 'req-of-mine',
  });
  await server.call('POST', '/api/instances/told/resume');
  const all = await server.call<Event[]>('GET', '/api/instances/told/events');
  expect(all.json.map(({ seq }) => seq)).toEqual(all.json.map(({ seq }) => seq).sort((a, b) => b - a));
  expect(all.json[0]).toMatchObject({ type: 'transition', from: 'created', to: 'active', source: 'fresh' });
});

test('the ledger is filtered and paged', async () => {
  const mine = [await happen('paged'), await happen('paged'), await happen('paged')];
  await happen('other');
  const page = await server.call<Event[]>('GET', '/api/events?tenant=paged&limit=2');
  expect(page.json.map(({ instance }) => instance)).toEqual([mine[2], mine[1]]);
  const next = /^<(.+)>; rel="next"$/.exec(page.headers.link ?? '')?.[1] ?? '';
  const rest = await server.call<Event[]>('GET', next);
  expect(rest.json.map(({ instance }) => instance)).toEqual([mine[0]]);
  expect(rest.headers.link).toBeUndefined();
  const count = async (query: string) => (await server.call<Event[]>('GET', `/api/events?${query}`)).json.length;
  expect(await count(`instance=${mine[0]}`)).toBe(1);
  expect(await count('tenant=paged&type=transition')).toBe(0);
  expect(await count('tenant=paged&actor=key:admin')).toBe(3);
  expect(await count('tenant=paged&actor=someone')).toBe(0);
  expect(await count('tenant=paged&trigger=request')).toBe(3);
  expect(await count('tenant=paged&trigger=idle')).toBe(0);
  const now = Math.floor(server.host.clock.now() / 1000);
  expect(await count(`tenant=paged&since=${now}`)).toBe(3);
  expect(await count(`tenant=paged&since=${now + 1}`)).toBe(0);
  expect(await count(`tenant=paged&until=${now - 1}`)).toBe(0);
});

test('a stream sends each line once, as it is appended', async () => {
  const stream = await follow();
  expect(stream.res.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  const first = await happen();
  const second = await happen();
  await vi.waitFor(() => expect(stream.instances()).toEqual([first, second]), { timeout: 240_000 });
  for (const event of stream.events()) eventSchema.strict().parse(event);
  expect(stream.ids()).toEqual(stream.events().map(({ seq }) => seq));
});

test('a stream that comes back has missed nothing and repeats nothing', async () => {
  const before = await follow();
  const seen = await happen();
  await vi.waitFor(() => expect(before.instances()).toEqual([seen]), { timeout: 240_000 });
  const last = before.ids().at(-1);
  before.close();
  const missed = [await happen(), await happen()];
  const after = await follow('', { 'last-event-id': String(last) });
  const live = await happen();
  await vi.waitFor(() => expect(after.instances()).toEqual([...missed, live]), { timeout: 240_000 });
  const byQuery = await follow(`?last_event_id=${last}`);
  await vi.waitFor(() => expect(byQuery.instances()).toEqual([...missed, live]), { timeout: 240_000 });
});

test('a stream from the beginning is caught up while lines keep coming, without a gap or a repeat', async () => {
  for (let n = 0; n < 20; n++) await happen();
  const writing = (async () => {
    for (let n = 0; n < 30; n++) await happen();
  })();
  const streams = await Promise.all(Array.from({ length: 5 }, () => follow('', { 'last-event-id': '0' })));
  await writing;
  const last = await lastSeq();
  const everything = (await server.host.registry.ledger.after(0, 10_000)).map(({ seq }) => seq);
  for (const stream of streams) {
    await vi.waitFor(() => expect(stream.ids().at(-1)).toBe(last), { timeout: 240_000 });
    expect(stream.ids()).toEqual(everything);
  }
});

test('a stream sends only what its filter asks for, missed lines included', async () => {
  const last = await lastSeq();
  const missed = await happen('filtered');
  await happen('other');
  const stream = await follow('?tenant=filtered', { 'last-event-id': String(last) });
  await happen('other');
  const live = await happen('filtered');
  await vi.waitFor(() => expect(stream.instances()).toEqual([missed, live]), { timeout: 240_000 });
});

test('a client that takes nothing is dropped, and the others go on', async () => {
  const slow = await follow();
  slow.res.pause();
  const quick = await follow();
  const entry = (n: number) => ({
    timeMs: server.host.clock.now(),
    instance: null,
    tenant: 'flood',
    type: 'test.flood',
    from: null,
    to: null,
    trigger: 'request' as const,
    actor: 'x'.repeat(20_000),
    via: 'system' as const,
    source: null,
    tookMs: n,
    reason: null,
    error: null,
    requestId: null,
    address: null,
  });
  const before = server.host.events.listeners;
  // What a kernel takes for a client that reads nothing has no limit of ours: lines come until it is dropped.
  for (let round = 0; server.host.events.listeners === before; round++) {
    await server.host.registry.ledger.append(Array.from({ length: 20 }, (_, n) => entry(round * 20 + n)));
    const last = await lastSeq();
    await vi.waitFor(() => expect(quick.lastId()).toBe(last), { timeout: 240_000, interval: 5 });
  }
  expect(server.host.events.listeners).toBe(before - 1);
  slow.res.resume();
  await vi.waitFor(() => expect(slow.ended).toBe(true), { timeout: 240_000 });
  expect(quick.ended).toBe(false);
  const after = await happen();
  await vi.waitFor(() => expect(quick.instances().at(-1)).toBe(after), { timeout: 240_000 });
});

test('wrong ways to ask for a stream are refused', async () => {
  for (const [query, headers] of [
    ['?colour=red', {}],
    ['?tenant=A', {}],
    ['', { 'last-event-id': 'x' }],
    ['', { 'last-event-id': '-1' }],
  ] as const) {
    expect([query, (await follow(query, headers)).status]).toEqual([query, 422]);
  }
  expect((await server.call('HEAD', '/api/events/stream')).status).toBe(200);
});

test('a server that stops ends its streams', async () => {
  const other = await startServer();
  const req = request(`${other.url}/api/events/stream`, {
    agent: false,
    headers: { authorization: `Bearer ${TEST_KEY}` },
  });
  req.end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  res.resume();
  const ended = once(res, 'end');
  await other.stop();
  await ended;
});
