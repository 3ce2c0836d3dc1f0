/** What users of other systems report, as tests of this one. Those of the single parts are beside the parts. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FakeClock } from '../lib/clock.ts';
import { startServer, type TestServer } from '../lib/testing/server.ts';

// Many wakes each, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

let server: TestServer & { clock: FakeClock };

beforeEach(async () => {
  server = await startServer({ settings: { WB_MAX_ACTIVE: '3' } });
});
afterEach(() => server.stop());

const create = (id: string, extra: Record<string, unknown> = {}) =>
  server.call('POST', '/api/instances', { id, tenant: 'acme', ...extra });
const verb = (id: string, name: string, body: Record<string, unknown> = {}) =>
  server.call('POST', `/api/instances/${id}/${name}`, body);
const exec = (id: string, command: string, extra: Record<string, unknown> = {}) =>
  verb(id, 'exec', { command, ...extra });

test('sandboxes that wake together, in any order, each find their own workspace and nobody else’s', async () => {
  const ids = ['one', 'two', 'three'];
  for (const id of ids) {
    await create(id);
    await exec(id, `echo ${id} > whose; echo ${id} > only-${id}`);
  }
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(ids.map((id) => verb(id, 'suspend')));
    if (round % 2 === 0) await Promise.all(ids.map((id) => verb(id, 'freeze')));
    ids.reverse();
    const found = await Promise.all(ids.map((id) => exec(id, 'cat whose; ls')));
    expect(found.map(({ json }) => json.stdout)).toEqual(ids.map((id) => `${id}\nonly-${id}\nwhose\n`));
    expect(found.map(({ json }) => json.woke)).toEqual(['cold', 'cold', 'cold']);
  }
});

test('what one call was given as environment, directory and input is gone with it', async () => {
  await create('a');
  await create('b');
  const given = { env: { SECRET: 'of-one-call' }, cwd: '/tmp', stdin: 'typed' };
  expect((await exec('a', 'export SECRET; cd /memory; cat', given)).json.stdout).toBe('typed');
  for (const id of ['a', 'b']) {
    const { stdout } = (await exec(id, 'echo "[$SECRET]"; pwd; cat; env')).json;
    expect(String(stdout)).toMatch(/^\[\]\n\/workspace\n/);
    expect(String(stdout)).not.toContain('of-one-call');
    expect(String(stdout)).not.toContain('typed');
  }
});

test('a call beside a running stream waits for it and cuts nothing of it', async () => {
  await create('a');
  const stream = server.call(
    'POST',
    '/api/instances/a/exec',
    { command: 'for i in $(seq 40); do echo "line $i"; sleep 0.02; done' },
    { headers: { accept: 'text/event-stream' } },
  );
  const beside = await Promise.all([exec('a', 'echo beside'), exec('a', 'echo again')]);
  expect(beside.map(({ json }) => json.stdout)).toEqual(['beside\n', 'again\n']);
  const { text } = await stream;
  const said = [...text.matchAll(/line (\d+)/g)].map((match) => Number(match[1]));
  expect(said).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));
  expect(text).toContain('event: exit');
});

test('ten that ask at once for three places get three, and the others are told when to come back', async () => {
  const ids = Array.from({ length: 10 }, (_, n) => `s-${n}`);
  for (const id of ids) await create(id);
  const answers = await Promise.all(ids.map((id) => exec(id, 'true')));
  const served = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 503);
  expect([served.length, refused.length]).toEqual([3, 7]);
  for (const { json, headers } of refused) {
    expect(json.code).toBe('capacity');
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }
  expect((await server.call('GET', '/api/instances?state=active')).json).toHaveLength(3);
});

test('the sleeping are listed like the awake, whatever put them to sleep', async () => {
  for (const id of ['created', 'active', 'by-hand', 'by-ladder', 'frozen', 'archived']) await create(id);
  for (const id of ['by-hand', 'frozen', 'archived']) await exec(id, 'true').then(() => verb(id, 'suspend'));
  for (const id of ['frozen', 'archived']) await verb(id, 'freeze');
  await verb('archived', 'archive');
  await exec('by-ladder', 'true');
  server.clock.advance(15 * 60);
  await server.host.sessions.tick();
  await exec('active', 'true');
  const { json } = await server.call<{ id: string; state: string }[]>('GET', '/api/instances?sort=name');
  expect(Object.fromEntries(json.map(({ id, state }) => [id, state]))).toEqual({
    created: 'created',
    active: 'active',
    'by-hand': 'suspended',
    'by-ladder': 'suspended',
    frozen: 'frozen',
    archived: 'archived',
  });
});

test('what the ladder put to sleep is as whole as what a person did, and every state has a way back', async () => {
  for (const id of ['by-hand', 'by-ladder']) {
    await create(id);
    await exec(id, 'mkdir -p deep/er; for i in $(seq 50); do echo $i > deep/er/$i; done; echo m > /memory/m');
  }
  await verb('by-hand', 'suspend');
  server.clock.advance(15 * 60);
  await server.host.sessions.tick();
  const look = 'cat deep/er/*; cat /memory/m';
  const [first, second] = [await exec('by-hand', look), await exec('by-ladder', look)];
  expect(first.json.stdout).toBe(second.json.stdout);
  expect(String(first.json.stdout).trim().split('\n')).toHaveLength(51);
  await verb('by-hand', 'suspend');
  await verb('by-hand', 'freeze');
  await verb('by-hand', 'archive');
  expect((await verb('by-hand', 'revive')).status).toBe(200);
  expect((await exec('by-hand', look)).json.stdout).toBe(second.json.stdout);
});
