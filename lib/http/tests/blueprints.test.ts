import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '../../auth/caller.ts';
import type { InstanceId } from '../../base/ids.ts';
import { type Blueprint, blueprintSchema, type Instance } from '../../contract/schema.ts';
import { filesIn } from '../../testing/files-in.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let scratch: string;
beforeAll(async () => {
  server = await startServer();
  scratch = mkdtempSync(join(tmpdir(), 'winterdock-blueprints-'));
});
afterAll(async () => {
  await server.stop();
  rmSync(scratch, { recursive: true, force: true });
});

const call: TestServer['call'] = (...args) => server.call(...args);
const put = (id: string, path: string, text: string, volume = 'workspace') =>
  call('PUT', `/api/instances/${id}/volumes/${volume}${path}`, text);
const text = async (id: string, path: string, volume = 'workspace') => {
  const got = await call('GET', `/api/instances/${id}/volumes/${volume}${path}`);
  return got.status === 200 ? got.text : got.status;
};
const exec = async (id: string, command: string) =>
  (await call<{ stdout: string }>('POST', `/api/instances/${id}/exec`, { command })).json.stdout;
const clone = (name: string, body: unknown) => call<Instance[]>('POST', `/api/blueprints/${name}/clone`, body);
const fileOf = ({ hash }: Pick<Blueprint, 'hash'>) =>
  join(server.folder, 'blueprints', `${hash.replace('sha256:', '')}.sqlite`);
const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** A blueprint of a sandbox with a seed in its workspace and secrets elsewhere. */
async function base(name: string, seed = 'the seed'): Promise<Blueprint> {
  await call('POST', '/api/instances', { id: `origin-of-${name}`, tenant: 'acme' });
  await put(`origin-of-${name}`, '/seed', seed);
  await put(`origin-of-${name}`, '/secret', 'the memory', 'memory');
  await put(`origin-of-${name}`, '/secret', 'the scratch', 'tmp');
  const made = await call<Blueprint>('POST', '/api/blueprints', { name, from_instance: `origin-of-${name}` });
  expect(made.status).toBe(201);
  return made.json;
}

test('clones of a base have its seed, a row, a tenant and their lineage, and never a sibling’s writes', async () => {
  const blueprint = await base('base');
  expect(blueprintSchema.strict().parse(blueprint)).toMatchObject({
    name: 'base',
    tenant: 'acme',
    source: 'origin-of-base',
    volumes: ['workspace'],
    instances: 0,
  });
  expect(readFileSync(fileOf(blueprint)).includes('the memory')).toBe(false);
  expect(statSync(fileOf(blueprint)).mode & 0o227).toBe(0);

  const [one] = (await clone('base', { tenant: 'tenant-a', name: 'one' })).json;
  const [two] = (await clone('base', { tenant: 'tenant-b', name: 'two' })).json;
  for (const [made, tenant] of [
    [one, 'tenant-a'],
    [two, 'tenant-b'],
  ] as const) {
    expect(made).toMatchObject({
      tenant,
      state: 'created',
      lineage: { blueprint: 'base', snapshot: null, parent: null },
    });
  }
  const [a, b] = [one?.id ?? '', two?.id ?? ''];
  expect(await text(a, '/seed')).toBe('the seed');
  expect((await call('POST', `/api/instances/${a}/resume`)).json).toMatchObject({ path: 'cold', source: 'blueprint' });
  expect(await exec(a, 'cat seed; echo mine > own; echo overwritten > seed')).toBe('the seed');
  expect(await exec(b, 'cat seed; ls')).toBe('the seedseed\n');
  expect(await exec(a, 'cat seed own')).toBe('overwritten\nmine\n');
  expect(await text('origin-of-base', '/seed')).toBe('the seed');
  expect((await call<Blueprint>('GET', '/api/blueprints/base')).json).toEqual({ ...blueprint, instances: 2 });
  expect((await call<Blueprint[]>('GET', '/api/blueprints')).json.map(({ name }) => name)).toContain('base');
  const lineage = (await call('GET', '/api/blueprints/base/lineage')).json;
  expect(lineage.edges).toEqual([a, b].map((id) => ({ from: 'blueprint:base', to: `instance:${id}` })));
});

test('a hundred clones that all write leave the base unchanged', async () => {
  const blueprint = await base('hundred');
  const file = fileOf(blueprint);
  const before = [sha256(file), statSync(file, { bigint: true }).mtimeNs, statSync(file).ino];
  const clones = (await clone('hundred', { tenant: 'acme', count: 100, name: 'clone' })).json;
  expect(clones.length).toBe(100);
  const waiting = clones.map(({ id }, index) => ({ id, index }));
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        expect((await put(next.id, '/seed', `written by ${next.index}`)).status).toBe(204);
        await call('POST', `/api/instances/${next.id}/suspend`);
      }
    }),
  );
  expect([sha256(file), statSync(file, { bigint: true }).mtimeNs, statSync(file).ino]).toEqual(before);
  for (const [index, { id }] of clones.entries()) expect(await text(id, '/seed')).toBe(`written by ${index}`);
  expect(await text((await clone('hundred', { tenant: 'acme' })).json[0]?.id ?? '', '/seed')).toBe('the seed');
});

test('a deleted base takes nothing from its clones, and its name is free for another', async () => {
  const blueprint = await base('gone');
  const [early, late] = (await clone('gone', { tenant: 'acme', count: 2 })).json.map(({ id }) => id) as [
    InstanceId,
    InstanceId,
  ];
  await call('POST', `/api/instances/${early}/resume`);
  expect((await call('DELETE', '/api/blueprints/gone')).status).toBe(204);
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/clone'],
  ] as const) {
    const body = method === 'POST' ? { tenant: 'acme' } : undefined;
    expect((await call(method, `/api/blueprints/gone${path}`, body)).status).toBe(404);
  }
  expect(existsSync(fileOf(blueprint))).toBe(true);
  await put('origin-of-gone', '/seed', 'another seed');
  await call('POST', '/api/blueprints', { name: 'gone', from_instance: 'origin-of-gone' });
  expect([await text(early, '/seed'), await text(late, '/seed')]).toEqual(['the seed', 'the seed']);
  expect(await text((await clone('gone', { tenant: 'acme' })).json[0]?.id ?? '', '/seed')).toBe('another seed');
  await put(late, '/own', 'x');
  await expect.poll(() => existsSync(fileOf(blueprint))).toBe(false);
  expect(await text(late, '/seed')).toBe('the seed');
});

/** The bytes of an SQLite file that `sql` makes. */
function database(name: string, sql: string): Buffer {
  const path = join(scratch, name);
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
  return readFileSync(path);
}

const TABLE =
  'CREATE TABLE vfs (volume TEXT NOT NULL, path TEXT NOT NULL, content BLOB, mtime INTEGER, PRIMARY KEY(volume, path));';
const ROWS = `INSERT INTO vfs VALUES ('workspace', '/seed', 'handed in', 7), ('memory', '/m', 'known', 8), ('tmp', '/t', 'scratch', 9);`;

test('a base is made of an uploaded file, in the seed’s format too, and what it says of its tmp is left behind', async () => {
  const made = await call<Blueprint>('POST', '/api/blueprints?name=uploaded', database('seed.sqlite', TABLE + ROWS));
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({ name: 'uploaded', tenant: null, source: null, volumes: ['workspace', 'memory'] });
  const [{ id = '' } = {}] = (await clone('uploaded', { tenant: 'acme' })).json;
  expect([await text(id, '/seed'), await text(id, '/m', 'memory'), await text(id, '/t', 'tmp')]).toEqual([
    'handed in',
    'known',
    404,
  ]);
  expect(await exec(id, 'cat seed; echo more >> seed; cat seed')).toBe('handed inhanded inmore\n');
});

test('a base is made of a bundle too, of what it ships and nothing else', async () => {
  await base('bundled');
  const bundle = await call('POST', '/api/instances/origin-of-bundled/ship', {});
  const made = await call<Blueprint>('POST', '/api/blueprints?name=of-a-bundle', bundle.bytes);
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({ name: 'of-a-bundle', source: null, volumes: ['workspace'] });
  const [{ id = '' } = {}] = (await clone('of-a-bundle', { tenant: 'acme' })).json;
  expect([await text(id, '/seed'), await text(id, '/secret', 'memory')]).toEqual(['the seed', 404]);
  const cut = bundle.bytes.subarray(0, bundle.bytes.length - 50);
  expect((await call('POST', '/api/blueprints?name=of-half', cut)).status).toBe(422);
});

test('a file that is not a sound sandbox is refused, and leaves neither a file nor a row', async () => {
  await base('taken');
  const good = database('good.sqlite', TABLE + ROWS);
  const large = database(
    'large.sqlite',
    `${TABLE} WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 300)
     INSERT INTO vfs SELECT 'workspace', '/' || x, randomblob(4000), 1 FROM n`,
  );
  const uploads: [string, Buffer | string, number, string][] = [
    ['nothing', '', 422, 'validation'],
    ['text', 'this is not a database'.repeat(100), 422, 'validation'],
    ['an archive', Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(500)]), 422, 'validation'],
    ['half a file', large.subarray(0, 600_000), 422, 'validation'],
    [
      'garbage inside',
      Buffer.concat([large.subarray(0, 8192), Buffer.alloc(large.length - 8192, 0xff)]),
      422,
      'validation',
    ],
    ['another database', database('other.sqlite', 'CREATE TABLE things (x)'), 422, 'validation'],
    ['another shape', database('shape.sqlite', 'CREATE TABLE vfs (volume, path, content, mtime)'), 422, 'validation'],
    [
      'a trigger',
      database('trigger.sqlite', `${TABLE + ROWS} CREATE TRIGGER t AFTER INSERT ON vfs BEGIN DELETE FROM vfs; END`),
      422,
      'validation',
    ],
    ['a view', database('view.sqlite', `${TABLE} CREATE VIEW v AS SELECT * FROM vfs`), 422, 'validation'],
    [
      'a fourth volume',
      database('fourth.sqlite', `${TABLE} INSERT INTO vfs VALUES ('etc', '/a', 'x', 1)`),
      422,
      'validation',
    ],
    ['UTF-16', database('utf16.sqlite', `PRAGMA encoding = 'UTF-16'; ${TABLE}`), 422, 'validation'],
  ];
  const before = filesIn(server.folder);
  const known = (await call<Blueprint[]>('GET', '/api/blueprints')).json;
  for (const [what, body, status, code] of uploads) {
    const refused = await call('POST', '/api/blueprints?name=wrong', body);
    expect([what, refused.status, refused.json.code]).toEqual([what, status, code]);
    expect(refused.text).not.toContain(server.folder);
  }
  const refusals: [string, string, unknown, number][] = [
    ['POST', '/api/blueprints?name=taken', good, 409],
    ['POST', '/api/blueprints?name=Not%20A%20Name', good, 422],
    ['POST', '/api/blueprints', { name: 'taken', from_instance: 'origin-of-taken' }, 409],
    ['POST', '/api/blueprints', { name: 'x', from_instance: 'nobody' }, 404],
    ['POST', '/api/blueprints', { name: 'x' }, 422],
    ['POST', '/api/blueprints', '{', 400],
    ['POST', '/api/blueprints/taken/clone', {}, 422],
    ['POST', '/api/blueprints/taken/clone', { tenant: 'acme', count: 1001 }, 422],
    ['POST', '/api/blueprints/nothing/clone', { tenant: 'acme' }, 404],
    ['DELETE', '/api/blueprints/nothing', undefined, 404],
  ];
  for (const [method, path, body, status] of refusals) {
    expect([path, (await call(method, path, body)).status]).toEqual([path, status]);
  }
  expect(filesIn(server.folder)).toEqual(before);
  expect((await call<Blueprint[]>('GET', '/api/blueprints')).json).toEqual(known);
});

test('a tenant may clone a base, and neither make one nor learn whose work it is', async () => {
  await base('shared');
  const { operations } = server.host;
  const tenant: Caller = {
    actor: 'key:t',
    via: 'api',
    requestId: 'r',
    role: 'tenant',
    tenants: ['globex'],
    address: null,
    session: null,
  };
  expect(await operations.getBlueprint(tenant, 'shared')).toMatchObject({ tenant: null, source: null });
  expect(await operations.cloneBlueprint(tenant, 'shared', { tenant: 'globex' })).toHaveLength(1);
  await expect(operations.cloneBlueprint(tenant, 'shared', { tenant: 'acme' })).rejects.toMatchObject({
    code: 'forbidden',
  });
  await expect(
    operations.createBlueprint(tenant, { name: 'own', from_instance: 'origin-of-shared' }),
  ).rejects.toMatchObject({ code: 'forbidden' });
  await expect(operations.deleteBlueprint(tenant, 'shared')).rejects.toMatchObject({ code: 'forbidden' });
  const limited = { ...tenant, role: 'operator' as const };
  await expect(
    operations.createBlueprint(limited, { name: 'own', from_instance: 'origin-of-shared' }),
  ).rejects.toMatchObject({ code: 'not_found' });
});
