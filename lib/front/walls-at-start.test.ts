import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WALLS } from '../base/walls.ts';
import { TEST_KEY } from '../testing/key.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';

const isRoot = process.getuid?.() === 0;
const PLAIN = 61_000;
const PLAIN_USER = isRoot ? ['setpriv', `--reuid=${PLAIN}`, `--regid=${PLAIN}`, '--clear-groups'] : [];

let folder: string;
let server: ServerProcess | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-walls-'));
});

afterEach(async () => {
  await server?.end();
  server = null;
  rmSync(folder, { recursive: true, force: true });
});

/** Settings of a plain user's server, in a folder of theirs. */
function plainUsers(): { folder: string; settings: Record<string, string>; within: string[] } {
  const [data, cache] = [join(folder, 'data'), join(folder, 'cache')];
  chmodSync(folder, 0o755);
  for (const path of [data, cache]) {
    mkdirSync(path);
    if (isRoot) chownSync(path, PLAIN, PLAIN);
  }
  return { folder: data, settings: { WB_CACHE: cache }, within: PLAIN_USER };
}

test('a name of a wall that there is not is refused with those that there are', async () => {
  await expect(spawnServer({ folder, settings: { WB_REQUIRE_WALLS: 'net,uuid' } })).rejects.toThrow('WB_REQUIRE_WALLS');
});

test('a server of a plain user starts and wakes sandboxes, and says which walls are missing', async () => {
  server = await spawnServer(plainUsers());
  const said = await server.call<{ walls: Record<string, boolean> }>('GET', '/readyz');
  expect(said.status).toBe(200);
  const { walls } = said.json;
  expect(Object.keys(walls)).toEqual([...WALLS]);
  expect(walls.uid).toBe(false);
  expect(server.output()).toContain('uid (the server does not run as root)');
  expect((await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).json).toMatchObject({ id: 'a' });
  const ran = await server.call('POST', '/api/instances/a/exec', { command: 'echo walled' });
  expect(ran.json).toMatchObject({ stdout: 'walled\n' });
  const storage = await server.call<{
    walls: { wall: string; missing: string | null }[];
  }>('GET', '/api/settings/storage');
  const { walls: listed } = storage.json;
  expect(Object.fromEntries(listed.map(({ wall, missing }) => [wall, missing === null]))).toEqual(walls);
});

test('without a wall that is required a server does not start, and says which and why', async () => {
  const { settings, ...rest } = plainUsers();
  await expect(spawnServer({ ...rest, settings: { ...settings, WB_REQUIRE_WALLS: 'caps,uid' } })).rejects.toThrow(
    'WB_REQUIRE_WALLS=caps,uid asks for walls that this machine does not give: uid (the server does not run as root). Nothing was started.',
  );
});

test.runIf(isRoot)(
  'root’s server on the folder of another user leaves it to them: they go on with it afterwards',
  async () => {
    const plain = plainUsers();
    server = await spawnServer(plain);
    expect((await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).json).toMatchObject({ id: 'a' });
    await server.call('POST', '/api/instances/a/exec', { command: 'echo mine > a' });
    await server.end();
    server = await spawnServer({ ...plain, within: [] });
    expect(server.output()).toContain(`belongs to user ${PLAIN}, so that sandboxes run as that user`);
    const read = { command: 'cat a' };
    expect((await server.call('POST', '/api/instances/a/exec', read)).json).toMatchObject({ stdout: 'mine\n' });
    await server.end();
    server = await spawnServer(plain);
    expect((await server.call('POST', '/api/instances/a/exec', read)).json).toMatchObject({ stdout: 'mine\n' });
  },
);

/** What is root's in a folder of another user, but for caches, which each user has of their own. */
function rootsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.startsWith('cache/') && lstatSync(join(folder, name)).uid === 0,
  );
}

test.runIf(isRoot)(
  'what root’s server makes in the folder of another user is theirs, from the first start on',
  async () => {
    const plain = plainUsers();
    server = await spawnServer({ ...plain, within: [] });
    const to = <Answer = object>(path: string, body?: object) => server?.call<Answer>('POST', `/api${path}`, body);
    for (const id of ['a', 'b', 'c']) {
      await to('/instances', { id, tenant: 'acme' });
      await to(`/instances/${id}/exec`, { command: `echo ${id} > f` });
      await to(`/instances/${id}/suspend`);
    }
    for (const id of ['b', 'c']) await to(`/instances/${id}/freeze`);
    await to('/instances/c/archive');
    const snapshot = (await to<{ id: string }>('/instances/b/snapshots', {}))?.json.id;
    expect((await to('/blueprints', { name: 'bp', from_instance: 'a' }))?.status).toBe(201);
    const restored = (await to<{ id: string }[]>(`/snapshots/${snapshot}/restore`, {}))?.json;
    const d = restored?.[0]?.id ?? '';
    await to(`/instances/${d}/exec`, { command: 'true' });
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    const bundle = await fetch(`${server.url}/api/instances/b/ship`, { method: 'POST', headers });
    const sent = { method: 'POST', headers, body: await bundle.arrayBuffer() };
    expect((await fetch(`${server.url}/api/instances/import?id=e&tenant=acme`, sent)).status).toBe(201);
    expect(rootsIn(plain.folder)).toEqual([]);
    await server.end();
    expect(rootsIn(plain.folder)).toEqual([]);
    server = await spawnServer(plain);
    expect(server.output()).not.toMatch(/not what was signed/);
    await to('/instances/c/revive', {});
    for (const [id, was] of Object.entries({ a: 'a', b: 'b', c: 'c', [d]: 'b', e: 'b' })) {
      expect((await to(`/instances/${id}/exec`, { command: 'cat f; echo more >> f' }))?.json).toMatchObject({
        stdout: `${was}\n`,
      });
    }
  },
);

test.runIf(isRoot)(
  'after a start root’s server reads what rests in its drawers, also in one that is a link, and hashes what it files',
  async () => {
    const data = join(folder, 'data');
    chmodSync(folder, 0o755);
    mkdirSync(data);
    server = await spawnServer({ folder: data });
    const call: ServerProcess['call'] = (...args) => (server as ServerProcess).call(...args);
    const verb = async (id: string, name: string, body: object = {}) => {
      const answer = await call('POST', `/api/instances/${id}/${name}`, body);
      expect([id, name, answer.status, answer.text]).toEqual([id, name, 200, expect.any(String)]);
      return answer;
    };
    for (const id of ['suspended', 'frozen']) {
      expect((await call('POST', '/api/instances', { id, tenant: 'acme' })).status).toBe(201);
      await verb(id, 'exec', { command: `echo ${id} > n` });
      await verb(id, 'suspend');
      // From its second wake on it is shown to who reads for its tenant.
      await verb(id, 'exec', { command: 'true' });
      await verb(id, 'suspend');
    }
    await verb('frozen', 'freeze');
    await server.end();
    // On a larger disk.
    renameSync(join(data, 'cold'), join(folder, 'cold'));
    symlinkSync(join(folder, 'cold'), join(data, 'cold'));
    server = await spawnServer({ folder: data });
    for (const id of ['suspended', 'frozen'])
      expect((await call('GET', `/api/instances/${id}/volumes/workspace/n`)).text).toBe(`${id}\n`);
    for (const id of ['suspended', 'frozen']) {
      await verb(id, 'exec', { command: 'true' });
      await verb(id, 'suspend');
      await verb(id, 'ship');
      await verb(id, 'freeze');
      expect((await call('GET', `/api/instances/${id}/volumes/workspace/n`)).text).toBe(`${id}\n`);
      await verb(id, 'archive');
    }
    expect(server.output()).not.toContain('without its hash');
  },
);
