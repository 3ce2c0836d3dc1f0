import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import type { Instance } from '../../contract/schema.ts';
import { intent } from '../../registry/testing/fixtures.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer & { clock: FakeClock };

const ids = async (query: string) => {
  const answer = await server.call<Instance[]>('GET', `/api/instances?${query}`);
  expect([query, answer.status]).toEqual([query, 200]);
  return answer.json.map(({ id }) => id).sort();
};

beforeAll(async () => {
  server = await startServer();
  for (const [id, extra] of [
    ['alpha', { name: 'Alpha one', labels: { team: 'core', tier: 'gold:1' } }],
    ['beta', { name: 'Beta', labels: { team: 'core' } }],
    ['gamma', { tenant: 'other', labels: { team: 'edge' } }],
    ['delta', { name: 'Delta' }],
  ] as const) {
    await server.call('POST', '/api/instances', { id, tenant: 'acme', ...extra });
    server.clock.advance(1);
  }
  await server.call('POST', '/api/instances/alpha/resume');
  await server.call('POST', '/api/instances/beta/resume');
  await server.call('POST', '/api/instances/beta/suspend');
});
afterAll(() => server.stop());

test.each([
  ['', ['alpha', 'beta', 'delta', 'gamma']],
  ['tenant=acme', ['alpha', 'beta', 'delta']],
  ['tenant=nobody', []],
  ['state=created', ['delta', 'gamma']],
  ['state=active', ['alpha']],
  ['thermal=hot', ['alpha']],
  ['thermal=warm', []],
  ['thermal=cold', ['beta', 'delta', 'gamma']],
  ['thermal=cold&state=suspended', ['beta']],
  ['thermal=cold&state=active', []],
  ['thermal=hot&state=suspended', []],
  ['fault=corrupt', []],
  ['name=Beta', ['beta']],
  ['label=team:core', ['alpha', 'beta']],
  ['label=tier:gold:1', ['alpha']],
  ['label=team:core&state=suspended', ['beta']],
  ['q=alp', ['alpha']],
  ['q=other', ['gamma']],
  ['q=lph', ['alpha']],
  ['q=pha%20on', ['alpha']],
  ['q=ta%20or', []],
  ['q=%20', ['alpha', 'beta', 'delta', 'gamma']],
])('the filter "%s" finds what it says', async (query, expected) => {
  expect(await ids(query)).toEqual(expected);
});

test('since and until bound the last activity, both inclusive', async () => {
  const all = (await server.call<Instance[]>('GET', '/api/instances?sort=-updated')).json;
  const times = all.map(({ updated }) => updated);
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  expect(last).toBeGreaterThan(first);
  const within = (from: number, to: number) =>
    all
      .filter(({ updated }) => updated >= from && updated <= to)
      .map(({ id }) => id)
      .sort();
  expect(await ids(`since=${first + 1}`)).toEqual(within(first + 1, last));
  expect(await ids(`until=${first}`)).toEqual(within(first, first));
  expect(await ids(`since=${last}&until=${last}&tenant=acme`)).toEqual(within(last, last));
  expect(await ids(`since=${last + 1}`)).toEqual([]);
});

test('idle_over and idle_under bound how long nothing has used it, both inclusive', async () => {
  const all = (await server.call<Instance[]>('GET', '/api/instances?sort=-updated')).json;
  const idleFor = (id: string) => all.find((one) => one.id === id)?.idle_seconds ?? expect.fail(`no ${id}`);
  const [longest, next] = [idleFor(all[0]?.id ?? ''), idleFor(all[1]?.id ?? '')];
  expect(longest).toBeGreaterThan(next);
  const over = (seconds: number) => all.filter(({ idle_seconds: idle }) => idle >= seconds).map(({ id }) => id);
  expect(await ids(`idle_over=${longest}`)).toEqual(over(longest));
  expect(await ids(`idle_over=${longest + 1}`)).toEqual([]);
  expect(await ids(`idle_under=${longest - 1}&idle_over=${next}`)).toEqual(
    all
      .filter(({ idle_seconds: idle }) => idle >= next && idle < longest)
      .map(({ id }) => id)
      .sort(),
  );
  // With a moment too, the narrower bound holds.
  expect(await ids(`idle_over=${next}&since=${all[1]?.updated}`)).not.toContain(all[0]?.id);
  expect(await ids('idle_over=3155760000')).toEqual([]);
});

test('due_since and due_until bound the next automatic move, both inclusive', async () => {
  const all = (await server.call<Instance[]>('GET', '/api/instances')).json;
  const alpha = all.find(({ id }) => id === 'alpha')?.next?.at ?? expect.fail('alpha is not due');
  expect(await ids(`due_until=${alpha}`)).toEqual(['alpha']);
  expect(await ids(`due_until=${alpha - 1}`)).toEqual([]);
  expect(await ids(`due_since=${alpha + 1}`)).toEqual(['beta']);
  expect(await ids(`due_since=${alpha}&due_until=${alpha + 100_000}&state=suspended`)).toEqual(['beta']);
});

test('an interrupted operation is stuck after a minute, and settled on request', async () => {
  const { host, clock, call } = server;
  const row = (await host.registry.instances.get('gamma')) ?? expect.fail('no gamma');
  await host.registry.instances.begin('gamma', intent(row, { startedMs: clock.now() }));
  expect(await ids('pending=any')).toEqual(['gamma']);
  expect(await ids('pending=stuck')).toEqual([]);
  clock.advance(60);
  expect(await ids('pending=stuck')).toEqual(['gamma']);
  const seen = (await call<Instance>('GET', '/api/instances/gamma')).json;
  const since = Math.floor(clock.now() / 1000) - 60;
  expect(seen).toMatchObject({ pending: 'resume', pending_since: since, interrupted: true, next: null });
  const settled = await call<Instance>('POST', '/api/instances/gamma/settle');
  expect([settled.status, settled.json.pending, settled.json.interrupted]).toEqual([200, null, false]);
  expect(await ids('pending=any')).toEqual([]);
});

test('sorts run both ways', async () => {
  const order = async (sort: string) =>
    (await server.call<Instance[]>('GET', `/api/instances?sort=${sort}`)).json.map(({ id }) => id);
  expect(await order('created')).toEqual(['delta', 'gamma', 'beta', 'alpha']);
  expect(await order('-created')).toEqual(['alpha', 'beta', 'gamma', 'delta']);
  expect((await order('name')).filter((id) => id !== 'gamma')).toEqual(['alpha', 'beta', 'delta']);
  expect((await order('-name')).filter((id) => id !== 'gamma')).toEqual(['delta', 'beta', 'alpha']);
});

test('pages follow each other by their Link until the last, at the requested address', async () => {
  for (const prefix of ['/api', '']) {
    const seen: string[] = [];
    let path: string | undefined = `${prefix}/instances?limit=3&sort=-created`;
    for (let pages = 0; path !== undefined && pages < 5; pages++) {
      const page: { json: Instance[]; headers: Record<string, string> } = await server.call<Instance[]>('GET', path);
      seen.push(...page.json.map(({ id }) => id));
      expect(page.headers['x-total-count']).toBe('4');
      const link: string | undefined = page.headers.link;
      path = link === undefined ? undefined : /^<(.+)>; rel="next"$/.exec(link)?.[1];
      if (link !== undefined) expect(path).toMatch(new RegExp(`^${prefix}/instances\\?limit=3&sort=-created&cursor=`));
    }
    expect(seen).toEqual(['alpha', 'beta', 'gamma', 'delta']);
  }
});

test.each([
  'limit=0',
  'limit=501',
  'limit=x',
  'state=asleep',
  'thermal=hotter',
  'label=plain',
  'pending=yes',
  'due_until=soon',
  'idle_over=1h',
  'idle_under=-1',
  'sort=size',
  'cursor=%00',
  'tenant=A',
  'colour=red',
])('the query "%s" is refused', async (query) => {
  const answer = await server.call('GET', `/api/instances?${query}`);
  expect([answer.status, answer.json.code]).toEqual([422, 'validation']);
});
