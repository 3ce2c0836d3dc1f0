import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { serverSent } from '../../client/server-sent.ts';
import { type Changes, changesSchema, type Event, type Job, type SandboxRun } from '../../contract/schema.ts';
import { startServer, TEST_KEY, type TestServer } from '../../testing/server.ts';

let server: TestServer;
const opened: (() => void)[] = [];

beforeAll(async () => {
  server = await startServer();
});
afterEach(() => {
  for (const close of opened.splice(0)) close();
});
afterAll(() => server.stop());

/** Follows the stream as the console does. */
async function follow(query = '', key = TEST_KEY) {
  const req = request(`${server.url}/api/events/stream?with=changes${query}`, {
    agent: false,
    headers: { authorization: `Bearer ${key}` },
  });
  req.on('error', () => undefined);
  req.end();
  opened.push(() => req.destroy());
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const received: { event: string; data: unknown; id: string }[] = [];
  void (async () => {
    for await (const { event, data, id } of serverSent(Readable.toWeb(res) as ReadableStream<Uint8Array>)) {
      received.push({ event, data: JSON.parse(data), id });
    }
  })().catch(() => undefined);
  const of = <T>(name: string) => received.filter(({ event }) => event === name).map(({ data }) => data as T);
  return {
    status: res.statusCode,
    received,
    changes: () => of<Changes>('changes'),
    lines: () => of<Event>('message'),
    gaps: () => of<{ seq: number }>('gap'),
  };
}

const lastSeq = async () => (await server.call<Event[]>('GET', '/api/events?limit=1')).json[0]?.seq ?? 0;
const create = (id: string, tenant: string) => server.call('POST', '/api/instances', { id, tenant });

test('a client that follows with changes gets the present rows and counts', async () => {
  const before = (await server.call<unknown[]>('GET', '/api/instances?state=created&limit=500')).json.length;
  const stream = await follow();
  await create('told', 'told-first');
  await vi.waitFor(
    () =>
      expect(
        stream
          .changes()
          .at(-1)
          ?.rows.map(({ id }) => id),
      ).toEqual(['told']),
    60_000,
  );
  const [first] = stream.changes();
  const found = changesSchema.strict().parse(first);
  expect(found).toMatchObject({
    more: false,
    states: { created: before + 1 },
    tenants: [{ tenant: 'told-first', states: { created: 1 } }],
  });
  expect(found.seq).toBe(await lastSeq());
  await server.call('PATCH', '/api/instances/told', { name: 'Told twice' });
  await vi.waitFor(() => expect(stream.changes().at(-1)?.rows[0]?.name).toBe('Told twice'), { timeout: 240_000 });
  expect(stream.lines().map(({ type }) => type)).toEqual(['instance.created', 'instance.changed']);
});

test('a client of one tenant gets nothing of another: neither rows nor counts', async () => {
  const { json } = await server.call<{ key: string }>('POST', '/api/keys', {
    name: 'acme only',
    role: 'tenant',
    tenant: 'acme',
  });
  const theirs = await follow('', json.key);
  const all = await follow();
  await create('hidden', 'globex');
  await create('shown', 'acme');
  await vi.waitFor(() => expect(theirs.changes().flatMap(({ rows }) => rows.map(({ id }) => id))).toContain('shown'), {
    timeout: 240_000,
  });
  await vi.waitFor(() => expect(all.changes().flatMap(({ rows }) => rows.map(({ id }) => id))).toContain('hidden'), {
    timeout: 240_000,
  });
  expect(JSON.stringify(theirs.received)).not.toMatch(/hidden|globex/);
  const counts = (await server.call<{ counts: Changes['states'] }>('GET', '/api/tenants/acme')).json.counts;
  expect(theirs.changes().at(-1)?.states).toEqual(counts);
});

test('a run that begins and ends is told with the row that it holds, to its tenant alone', async () => {
  const { json } = await server.call<{ key: string }>('POST', '/api/keys', {
    name: 'globex only',
    role: 'tenant',
    tenant: 'globex',
  });
  await create('runs', 'acme');
  const [stream, others] = [await follow(), await follow('', json.key)];
  const last = () =>
    stream
      .changes()
      .findLast(({ runs }) => runs.some((id) => id === 'runs'))
      ?.rows.find(({ id }) => id === 'runs');
  const run = (await server.call<SandboxRun>('POST', '/api/instances/runs/runs', { command: 'sleep 50' })).json;
  await vi.waitFor(() => expect(last()).toMatchObject({ state: 'active', calls: 1, next: null }), { timeout: 240_000 });
  await server.call('POST', `/api/instances/runs/runs/${run.id}/stop`, {});
  await vi.waitFor(() => expect(last()).toMatchObject({ calls: 0, next: { state: 'suspended' } }), {
    timeout: 240_000,
  });
  await create('beside', 'globex');
  await vi.waitFor(() => expect(others.changes().length).toBeGreaterThan(0), { timeout: 240_000 });
  expect(others.changes().map(({ runs }) => runs)).toEqual(others.changes().map(() => []));
});

test('a job is reported from its beginning to its end to callers who may see it, and nothing of another tenant’s', async () => {
  const key = async (tenant: string) =>
    (await server.call<{ key: string }>('POST', '/api/keys', { name: tenant, role: 'tenant', tenant })).json.key;
  const ids = Array.from({ length: 40 }, (_, n) => `job-of-acme-${n}`);
  for (const id of ids) await create(id, 'acme');
  const [theirs, others, all] = [
    await follow('', await key('acme')),
    await follow('', await key('globex')),
    await follow(),
  ];
  const { json } = await server.call<Job>('POST', '/api/jobs', {
    verb: 'label',
    filter: { tenant: 'acme' },
    labels: { seen: 'yes' },
    reason: 'for acme only',
  });
  const jobs = (stream: typeof all) => stream.changes().flatMap(({ jobs }) => jobs);
  for (const stream of [theirs, all]) {
    await vi.waitFor(() => expect(jobs(stream).at(-1)?.state).toBe('done'), { timeout: 240_000 });
    expect(jobs(stream).every(({ id }) => id === json.id)).toBe(true);
    expect(jobs(stream).at(-1)).toEqual((await server.call<Job>('GET', `/api/jobs/${json.id}`)).json);
    const far = jobs(stream).map(({ done }) => done);
    expect(far).toEqual(far.toSorted((a, b) => a - b));
  }
  // Who comes back after it is told how it ended, though it moves no more.
  const lines = (await server.call<Event[]>('GET', '/api/events?type=job.started')).json;
  const late = await follow(`&last_event_id=${lines[0]?.seq}`, await key('acme'));
  await vi.waitFor(() => expect(jobs(late).map(({ id, state }) => [id, state])).toEqual([[json.id, 'done']]), {
    timeout: 240_000,
  });
  await create('of-globex-after', 'globex');
  await vi.waitFor(
    () =>
      expect(
        others
          .changes()
          .at(-1)
          ?.rows.map(({ id }) => id),
      ).toEqual(['of-globex-after']),
    60_000,
  );
  expect(jobs(others)).toEqual([]);
  expect(JSON.stringify(others.received)).not.toMatch(/acme|job-/);
});

test('the number of started sandboxes of a restore is reported under its request', async () => {
  await create('origin', 'acme');
  await server.call('PUT', '/api/instances/origin/volumes/workspace/note', 'kept');
  const snapshot = await server.call<{ id: string }>('POST', '/api/instances/origin/snapshots', {});
  const stream = await follow();
  const restore = `/api/snapshots/${snapshot.json.id}/restore`;
  const headers = { 'x-request-id': 'a-restore' };
  expect((await server.call('POST', restore, { count: 3, start: true }, { headers })).status).toBe(201);
  const starts = () => stream.changes().flatMap(({ starts }) => starts);
  await vi.waitFor(
    () => expect(starts().at(-1)).toEqual({ request_id: 'a-restore', tenant: 'acme', started: 3, failed: 0, total: 3 }),
    { timeout: 240_000 },
  );
});

test('missed events are sent again with their rows; private reads are not', async () => {
  const before = await lastSeq();
  await create('missed', 'acme');
  const stream = await follow(`&last_event_id=${before}`);
  await vi.waitFor(() => expect(stream.changes().flatMap(({ rows }) => rows.map(({ id }) => id))).toEqual(['missed']), {
    timeout: 240_000,
  });
  expect(stream.lines().map(({ instance }) => instance)).toEqual(['missed']);
  expect(stream.gaps()).toEqual([]);
});

test('a client that missed too much, or comes from another ledger, gets a gap and continues from there', async () => {
  const before = await lastSeq();
  const line = {
    timeMs: server.host.clock.now(),
    instance: null,
    tenant: null,
    type: 'test.line',
    from: null,
    to: null,
    trigger: 'request' as const,
    actor: 'nobody',
    via: 'system' as const,
    source: null,
    tookMs: null,
    reason: null,
    error: null,
    requestId: null,
    address: null,
  };
  await server.host.registry.ledger.append(Array.from({ length: 1500 }, () => line));
  const last = await lastSeq();
  for (const from of [before, last + 1000]) {
    const stream = await follow(`&last_event_id=${from}`);
    await vi.waitFor(() => expect(stream.gaps()).toEqual([{ seq: last }]), { timeout: 240_000 });
    expect(stream.lines()).toEqual([]);
    expect(stream.received.at(-1)?.id).toBe(String(last));
  }
  const stream = await follow(`&last_event_id=${last + 1000}`);
  await vi.waitFor(() => expect(stream.gaps().length).toBe(1), { timeout: 240_000 });
  await create('after-the-gap', 'acme');
  await vi.waitFor(() => expect(stream.lines().map(({ instance }) => instance)).toEqual(['after-the-gap']), {
    timeout: 240_000,
  });
});

test('only known streams can be requested, and open ones are counted', async () => {
  expect((await server.call('GET', '/api/events/stream?with=everything')).status).toBe(422);
  const streams = async () => {
    const { text } = await server.call('GET', '/metrics');
    return Number(/^winterdock_event_streams (\d+)$/m.exec(text)?.[1]);
  };
  await vi.waitFor(async () => expect(await streams()).toBe(0), { timeout: 240_000 });
  await follow();
  await follow();
  expect(await streams()).toBe(2);
});
