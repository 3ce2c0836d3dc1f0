/** Reads of a sandbox as it was: every reading route with `?at=`, and the moments that there are. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import type { Comparison, Event, Instance, Moment } from '../../contract/schema.ts';
import { connectAgent } from '../../testing/mcp.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let root: string;
let server: TestServer & { clock: FakeClock };
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-past-'));
});
afterEach(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const start = async (settings: Record<string, string> = {}) => {
  server = await startServer({ folder: join(root, 'data'), settings });
};
const startWithReplica = (settings: Record<string, string> = {}) =>
  start({ WB_REPLICA_URL: `file://${join(root, 'bucket')}`, ...settings });
const get = <T>(path: string, options = {}) => server.call<T>('GET', `/api/instances/${path}`, undefined, options);
const post = <T>(path: string, body: object = {}) => server.call<T>('POST', `/api/instances/${path}`, body);
const put = (path: string, text: string) => server.call('PUT', `/api/instances/${path}`, text);
const of = async (id: string) => (await get<Instance>(id)).json;

/** Waits until the replica has everything of a sandbox; returns the second that the API shows. */
const shipped = (id: string): Promise<number> =>
  vi.waitFor(
    async () => {
      const { recovery_point: point } = await of(id);
      expect(point).toMatchObject({ behind_s: 0 });
      return point.at as number;
    },
    { timeout: 240_000, interval: 100 },
  );

const opened = () => readdirSync(join(root, 'data', 'expanded')).filter((name) => name.startsWith('one.'));

test('every reading route says what was there then, of one that is awake, and names the moment that it read', async () => {
  await startWithReplica();
  await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
  await put('one/volumes/workspace/a.txt', 'first');
  await put('one/volumes/workspace/src/gone.txt', 'was here');
  await post('one/exec', {
    command: 'sqlite3 store.db "CREATE TABLE t (x); INSERT INTO t VALUES (1)"; echo x > /tmp/t',
  });
  const then = await shipped('one');
  server.clock.advance(5);
  await put('one/volumes/workspace/a.txt', 'second, and longer');
  await post('one/exec', { command: 'rm -r src; sqlite3 store.db "INSERT INTO t VALUES (2)"; rm /tmp/t' });
  await shipped('one');
  expect((await of('one')).state).toBe('active');

  const past = await get<string>(`one/volumes/workspace/a.txt?at=${then}`);
  expect([past.status, past.text]).toEqual([200, 'first']);
  const moment = Number(past.headers['x-moment']);
  expect(Math.floor(moment)).toBe(then);
  expect((await get(`one/volumes/workspace/a.txt`)).headers['x-moment']).toBeUndefined();
  const read = async <T>(path: string) => {
    const answer = await get<T>(`${path}${path.includes('?') ? '&' : '?'}at=${then}`);
    expect([path, answer.status, Number(answer.headers['x-moment'])]).toEqual([path, 200, moment]);
    return answer.json;
  };
  const volumes = await read<{ volume: string; files: number }[]>('one/volumes');
  expect(volumes.map(({ volume, files }) => [volume, files])).toEqual([
    ['workspace', 3],
    ['memory', 0],
    ['tmp', 1],
  ]);
  const paths = (files: { path: string }[]) => files.map(({ path }) => path);
  expect(paths(await read('one/volumes/workspace'))).toEqual(['/a.txt', '/src/gone.txt', '/store.db']);
  expect(await read('one/folders/workspace?path=/src')).toMatchObject([{ name: 'gone.txt', size: 8 }]);
  expect(await read('one/search?q=gone')).toMatchObject([{ path: '/src/gone.txt' }]);
  expect(await read('one/tables/workspace?path=/store.db')).toMatchObject({ tables: [{ name: 't', row_count: 1 }] });
  expect(await read('one/rows/workspace?path=/store.db&table=t')).toMatchObject({ rows: [[1]] });
  const sql = await server.call<{ rows: unknown[][] }>('POST', `/api/instances/one/query?at=${then}`, {
    sql: "SELECT count(*) FROM vfs WHERE volume = 'workspace'",
  });
  expect([sql.json.rows, Number(sql.headers['x-moment'])]).toEqual([[[3]], moment]);
  const head = await server.call('HEAD', `/api/instances/one/volumes/workspace/a.txt?at=${then}`);
  expect([head.status, head.headers['content-length']]).toEqual([200, '5']);
  const part = await get(`one/volumes/workspace/a.txt?at=${then}`, { headers: { range: 'bytes=1-2' } });
  expect([part.status, part.text]).toEqual([206, 'ir']);
  const etag = String(past.headers.etag);
  const same = await get(`one/volumes/workspace/a.txt?at=${then}`, { headers: { 'if-none-match': etag } });
  expect(same.status).toBe(304);

  const since = await get<Comparison>(`one/compare/workspace?since=${then}`);
  expect(since.json).toMatchObject({ snapshot: null, since: moment, added: 0, removed: 1, changed: 2 });
  const none = await get<Comparison>(`one/compare/workspace?since=${then}&at=${then}`);
  expect(none.json).toMatchObject({ since: moment, added: 0, removed: 0, changed: 0, same: 3 });
  expect((await get(`one/compare/workspace?at=${then}`)).status).toBe(422);
  expect((await get(`one/volumes/workspace/none?at=${then}`)).json).toMatchObject({ code: 'not_found' });
  // One file for all of them.
  expect(opened()).toHaveLength(1);
  expect((await of('one')).state).toBe('active');
});

test('moments are listed, of each state and of a deleted sandbox, and each opens; the past of a deleted one does not', async () => {
  await startWithReplica();
  await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
  expect((await get<Moment[]>('one/moments')).json).toEqual([]);
  const seconds: number[] = [];
  for (const verb of ['resume', 'suspend', 'freeze', 'archive', 'revive']) {
    if (verb === 'resume' || verb === 'revive') await post(`one/${verb}`, { reason: 'a test' });
    if (verb === 'resume' || verb === 'revive') await put('one/volumes/workspace/a', verb);
    else expect([verb, (await post(`one/${verb}`)).status]).toEqual([verb, 200]);
    seconds.push(await shipped('one'));
    const listed = (await get<Moment[]>('one/moments')).json;
    expect(listed.map(({ time_ms: ms }) => ms)).toEqual(listed.map(({ time_ms: ms }) => ms).sort((a, b) => b - a));
    for (const { time_ms: ms } of listed) {
      const read = await get(`one/volumes/workspace?at=${ms / 1000 + 0.0004}`);
      expect([verb, read.status, read.headers['x-moment']]).toEqual([verb, 200, String(ms / 1000)]);
    }
    server.clock.advance(10);
  }
  const all = (await get<Moment[]>('one/moments')).json;
  expect(all.filter(({ kind }) => kind === 'filing').length).toBeGreaterThan(0);
  expect(all.every(({ grain_s: grain }) => grain === 1)).toBe(true);
  const [first = 0] = seconds;
  const near = (await get<Moment[]>(`one/moments?around=${first}&limit=1`)).json;
  expect(near.map(({ time_ms: ms }) => Math.floor(ms / 1000))).toEqual([first]);

  for (const path of ['one/moments', 'one/volumes']) {
    const [name, time] = path.endsWith('moments') ? ['around', first - 60] : ['at', first - 60];
    const gone = await get<{ code: string; oldest: number }>(`${path}?${name}=${time}`);
    expect([gone.status, gone.json.code, Math.floor(gone.json.oldest)]).toEqual([410, 'moment_gone', first]);
    const { oldest } = gone.json;
    expect((await get(`one/volumes?at=${oldest + 0.0004}`)).headers['x-moment']).toBe(String(oldest));
  }
  expect(opened().length).toBeGreaterThan(0);
  await post('one/archive');
  expect((await server.call('DELETE', '/api/instances/one')).status).toBe(204);
  expect(opened()).toEqual([]);
  expect((await get(`one/volumes?at=${first}`)).json).toMatchObject({ code: 'gone' });
  expect((await get<Moment[]>('one/moments')).json.length).toBe(all.length);
});

test('who may not read a sandbox now may not read its past, and a read of its memory is a line of the ledger', async () => {
  await startWithReplica();
  await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
  await put('one/volumes/memory/secret', 'then');
  const then = await shipped('one');
  const keyOf = async (role: string, tenant?: string) =>
    (await server.call<{ key: string }>('POST', '/api/keys', { name: role, role, tenant })).json.key;
  const [viewer, support] = [await keyOf('viewer'), await keyOf('support')];
  const [own, other] = [await keyOf('tenant', 'acme'), await keyOf('tenant', 'globex')];
  const as = async (key: string, path: string) => (await get<{ code?: string }>(path, { key })).json.code ?? 'done';
  const paths = [`one/volumes?at=${then}`, `one/volumes/memory/secret?at=${then}`, 'one/moments'];
  const told = async (key: string) => Promise.all(paths.map((path) => as(key, path)));
  expect(await told(viewer)).toEqual(['forbidden', 'forbidden', 'forbidden']);
  expect(await told(support)).toEqual(['done', 'forbidden', 'done']);
  expect(await told(other)).toEqual(['not_found', 'not_found', 'not_found']);
  expect(await told(own)).toEqual(['done', 'done', 'done']);
  // As of an unknown one, whatever the time.
  expect((await get(`one/volumes?at=${then}`, { key: other })).json).toEqual({
    ...(await get<object>(`none/volumes?at=${then}`, { key: other })).json,
    ...{ detail: expect.stringContaining('one'), request_id: expect.any(String) },
  });
  expect(await as(other, `one/compare/workspace?since=${then}`)).toBe('not_found');
  expect((await get(`one/search?q=secret&at=${then}`, { key: support })).json).toEqual([]);
  const lines = (await get<Event[]>('one/events?type=private.read')).json.map(({ reason }) => reason);
  expect(lines).toContain(
    `a file, as of ${new Date(Number((await get(paths[0] ?? '')).headers['x-moment']) * 1000).toISOString()}`,
  );
});

test('what is no time, no number and no route of reads is refused, and a server without a replica says so', async () => {
  await startWithReplica();
  await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
  await put('one/volumes/workspace/a', 'x');
  await shipped('one');
  const wrong = [
    '',
    '0',
    '-1',
    'NaN',
    'Infinity',
    '1e400',
    'yesterday',
    '99999999999999',
    '%00',
    '2026-11-21',
    '[1]',
    '1;2',
  ];
  for (const value of wrong) {
    for (const path of [
      `one/volumes?at=${value}`,
      `one/moments?around=${value}`,
      `one/compare/workspace?since=${value}`,
    ]) {
      expect([path, (await get<{ code: string }>(path)).json.code]).toEqual([path, 'validation']);
    }
  }
  for (const limit of ['', '0', '-5', '501', '1.5', 'all', '1e9']) {
    expect([limit, (await get<{ code: string }>(`one/moments?limit=${limit}`)).json.code]).toEqual([
      limit,
      'validation',
    ]);
  }
  expect((await get('one/volumes?at=1&at=2')).json).toMatchObject({ code: 'validation' });
  expect((await put('one/volumes/workspace/a?at=1800000000', 'y')).json).toMatchObject({ code: 'validation' });
  expect((await get('one?at=1800000000')).json).toMatchObject({ code: 'validation' });
  expect((await get('one/volumes?at=253402300799')).status).toBe(200);
  expect((await get('none/volumes?at=1800000000')).json).toMatchObject({ code: 'not_found' });
  expect((await get('none/moments')).json).toMatchObject({ code: 'not_found' });
  expect(await (await get('one/volumes/workspace/a')).text).toBe('x');
  await server.stop();
  await start();
  for (const path of ['one/volumes?at=1800000000', 'one/moments', 'one/compare/workspace?since=1800000000']) {
    const none = await get<{ code: string; detail: string }>(path);
    expect([none.json.code, none.json.detail]).toEqual(['conflict', 'This server has no replica.']);
  }
  expect((await get('one/volumes')).status).toBe(200);
});

test('a hundred who read different moments at once, and one moment at once, stay within the room that there is', async () => {
  const most = 400_000;
  await startWithReplica({ WB_MOMENTS_CACHE: String(most) });
  await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
  const seconds: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    await put('one/volumes/workspace/a', `${round} `.repeat(4000));
    seconds.push(await shipped('one'));
    server.clock.advance(3);
  }
  const bytes = () => opened().reduce((sum, name) => sum + statSync(join(root, 'data', 'expanded', name)).size, 0);
  let largest = 0;
  const watching = setInterval(() => {
    largest = Math.max(largest, bytes());
  }, 5);
  try {
    const asked = Array.from({ length: 100 }, (_, at) => at % seconds.length);
    const read = await Promise.all(asked.map((at) => get(`one/volumes/workspace/a?at=${seconds[at]}`)));
    expect(read.map(({ text }) => text.split(' ')[0])).toEqual(asked.map(String));
  } finally {
    clearInterval(watching);
  }
  expect(largest).toBeGreaterThan(0);
  expect(largest).toBeLessThanOrEqual(most);
  await server.stop();
  expect(existsSync(join(root, 'data', 'expanded')) ? opened() : []).toEqual([]);
  await startWithReplica({ WB_MOMENTS_CACHE: '1000' });
  const large = await get<{ code: string; limit: number }>(`one/volumes?at=${seconds[0]}`);
  expect([large.status, large.json.code, large.json.limit]).toEqual([413, 'too_large', 1000]);
});

test('an agent finds the moments of its sandbox and reads what was there, with the tools that read', async () => {
  await startWithReplica();
  await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
  await put('one/volumes/workspace/a', 'first');
  await shipped('one');
  server.clock.advance(5);
  await put('one/volumes/workspace/a', 'second');
  await put('one/volumes/workspace/b', 'new');
  await shipped('one');
  const { key } = (
    await server.call<{ key: string }>('POST', '/api/keys', { name: 'a', role: 'tenant', tenant: 'acme' })
  ).json;
  const agent = await connectAgent(server.url, { key });
  try {
    const { facts } = await agent.call('list_moments', { id: 'one' });
    const moments = facts.moments as { at: number; kind: string }[];
    const { at } = moments.at(-1) ?? {};
    // Three digits of a second are a moment, and no more of it is asked for.
    const then = { id: 'one', at: (at ?? 0) + 0.5 };
    expect((await agent.call('read_file', { ...then, path: 'a' })).texts).toEqual(['first']);
    expect((await agent.call('read_file', { id: 'one', path: 'a' })).texts).toEqual(['second']);
    expect((await agent.call('list_files', then)).facts).toMatchObject({ items: [{ name: 'a' }] });
    expect((await agent.call('search_files', { ...then, q: 'b' })).facts).toMatchObject({ hits: [] });
    const counted = await agent.call('query_files', { ...then, sql: 'SELECT count(*) FROM vfs' });
    expect(counted.facts).toMatchObject({ rows: [[1]] });
    const gone = await agent.call('read_file', { id: 'one', path: 'a', at: 5 });
    expect([gone.isError, gone.problem.code]).toEqual([true, 'moment_gone']);
    for (const wrong of [-1, 1e300, 'now']) {
      expect((await agent.call('read_file', { id: 'one', path: 'a', at: wrong })).problem.code).toBe('validation');
    }
  } finally {
    await agent.close();
  }
});
