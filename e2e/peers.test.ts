/** Problems that users of other systems report, as tests of this one. Tests of single parts are beside the parts. */
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { FakeClock } from '../lib/base/clock.ts';
import { startServer, type TestServer } from '../lib/testing/server.ts';

// Many wakes each, on a machine that may be busy.

let server: TestServer & { clock: FakeClock };

const THREE_PLACES = { WB_MAX_ACTIVE: '3' };

beforeEach(async () => {
  server = await startServer({ settings: THREE_PLACES });
});
afterEach(() => server.stop());

const create = (id: string, extra: Record<string, unknown> = {}) =>
  server.call('POST', '/api/instances', { id, tenant: 'acme', ...extra });
const verb = (id: string, name: string, body: Record<string, unknown> = {}) =>
  server.call('POST', `/api/instances/${id}/${name}`, body);
const exec = (id: string, command: string, extra: Record<string, unknown> = {}) =>
  verb(id, 'exec', { command, ...extra });

test('sandboxes that wake together, in any order, each find their own workspace and no other', async () => {
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

test('environment, directory and input of one call end with it', async () => {
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

test('a call beside a running stream waits for it and interrupts nothing', async () => {
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
  const numbers = [...text.matchAll(/line (\d+)/g)].map((match) => Number(match[1]));
  expect(numbers).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));
  expect(text).toContain('event: exit');
});

test('ten concurrent wakes for three places are all served in turn, and three stay awake', async () => {
  await server.stop();
  // On a busy machine the last one waits longer than a wake waits by default.
  server = await startServer({ settings: { ...THREE_PLACES, WB_WAKE_WAIT_MS: '100000' } });
  const ids = Array.from({ length: 10 }, (_, n) => `s-${n}`);
  for (const id of ids) await create(id);
  const answers = await Promise.all(ids.map((id) => exec(id, 'echo served')));
  expect(answers.map(({ status, json }) => [status, json.stdout])).toEqual(ids.map(() => [200, 'served\n']));
  for (const { headers } of answers) expect(headers['server-timing']).toMatch(/^wait;dur=.*run;dur=/);
  expect((await server.call('GET', '/api/instances?state=active')).json).toHaveLength(3);
});

test('where all places are kept hot, one more is refused and told when to come back', async () => {
  const kept = ['kept-0', 'kept-1', 'kept-2'];
  for (const id of kept) {
    await create(id, { keep_hot: true });
    expect((await exec(id, 'true')).status).toBe(200);
  }
  await create('more');
  const { status, json, headers } = await exec('more', 'true');
  expect([status, json.code]).toEqual([503, 'capacity']);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
});

test('sleeping sandboxes are listed like awake ones, whatever suspended them', async () => {
  for (const id of ['created', 'active', 'by-hand', 'by-ladder', 'frozen', 'archived']) await create(id);
  for (const id of ['by-hand', 'frozen', 'archived']) await exec(id, 'true').then(() => verb(id, 'suspend'));
  for (const id of ['frozen', 'archived']) await verb(id, 'freeze');
  await verb('archived', 'archive');
  await exec('by-ladder', 'true');
  server.clock.advance(15 * 60);
  await server.host.sandboxes.tick();
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

test('a sandbox that the ladder filed is as complete as one that a person filed, and every state has a way back', async () => {
  for (const id of ['by-hand', 'by-ladder']) {
    await create(id);
    await exec(id, 'mkdir -p deep/er; for i in $(seq 50); do echo $i > deep/er/$i; done; echo m > /memory/m');
  }
  await verb('by-hand', 'suspend');
  server.clock.advance(15 * 60);
  await server.host.sandboxes.tick();
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

test('a link that leads out of its volume, or out of the sandbox, gives nothing away, awake and asleep', async () => {
  await create('a');
  const links = {
    leak: '/memory/secret',
    host: '/etc/passwd',
    registry: '../../../../registry.sqlite',
    other: '../../b/vfs.sqlite',
  };
  const made = Object.entries(links).map(([name, target]) => `ln -s ${target} ${name}`);
  await exec('a', ['echo the-secret > /memory/secret', 'ln -s /memory within', ...made, 'echo kept > note'].join('; '));
  const files = '/api/instances/a/volumes/workspace';
  for (const way of ['', 'suspend', 'freeze', 'archive']) {
    if (way === 'archive') await exec('a', 'true');
    if (way !== '') expect((await verb('a', way)).status).toBe(200);
    for (const path of [...Object.keys(links), 'within/secret']) {
      expect([way, path, (await server.call('GET', `${files}/${path}`)).status]).toEqual([way, path, 404]);
    }
    expect((await server.call('GET', files)).json).toMatchObject([{ path: '/note' }]);
    expect((await server.call('GET', '/api/instances/a/search?volume=workspace&in=content&q=the-secret')).json).toEqual(
      [],
    );
  }
});

test('a fault, its reason and its way out outlive a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await server.stop();
  server = await startServer({ folder });
  await create('a');
  await exec('a', 'echo kept > note');
  await verb('a', 'suspend');
  const file = join(folder, 'live', 'a', 'vfs.sqlite');
  renameSync(file, `${file}.away`);
  expect(await exec('a', 'true')).toMatchObject({ status: 409, json: { code: 'missing_file' } });
  const before = (await server.call('GET', '/api/instances/a')).json;
  await server.stop();
  server = await startServer({ folder });
  const after = (await server.call('GET', '/api/instances/a')).json;
  expect([after.state, after.fault, after.fault_reason]).toEqual(['suspended', 'missing', before.fault_reason]);
  expect((await exec('a', 'true')).status).toBe(409);
  renameSync(`${file}.away`, file);
  expect((await verb('a', 'resume', { force: true })).status).toBe(200);
  expect((await exec('a', 'cat note')).json.stdout).toBe('kept\n');
});
