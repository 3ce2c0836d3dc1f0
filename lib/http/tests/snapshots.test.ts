import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '../../auth/caller.ts';
import type { InstanceId } from '../../base/ids.ts';
import {
  type Comparison,
  type Instance,
  type Lineage,
  lineageSchema,
  type Snapshot,
  snapshotSchema,
} from '../../contract/schema.ts';
import { filesIn } from '../../testing/files-in.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const call: TestServer['call'] = (...args) => server.call(...args);
const put = (id: string, path: string, text: string, volume = 'workspace') =>
  call('PUT', `/api/instances/${id}/volumes/${volume}${path}`, text);
const text = async (id: string, path: string, volume = 'workspace') => {
  const got = await call('GET', `/api/instances/${id}/volumes/${volume}${path}`);
  return got.status === 200 ? got.text : got.status;
};
const instance = async (id: string) => (await call<Instance>('GET', `/api/instances/${id}`)).json;
const take = (id: string, body: unknown = {}) => call<Snapshot>('POST', `/api/instances/${id}/snapshots`, body);
const restore = (id: string, body: unknown = {}) => call<Instance[]>('POST', `/api/snapshots/${id}/restore`, body);
const fileOf = ({ hash }: Pick<Snapshot, 'hash'>) =>
  join(server.folder, 'snapshots', `${hash.replace('sha256:', '')}.sqlite`);

/** A sandbox with a file in each volume, active. */
async function sandbox(id: string, extra = {}): Promise<void> {
  expect((await call('POST', '/api/instances', { id, tenant: 'acme', ...extra })).status).toBe(201);
  await put(id, '/work.txt', `the work of ${id}`);
  await put(id, '/note.txt', `the memory of ${id}`, 'memory');
  await put(id, '/scratch.txt', `the scratch of ${id}`, 'tmp');
}

test('a snapshot is taken in every state without waking anything, and equal content is one read-only file', async () => {
  const kept = () => filesIn(server.folder).filter((path) => path.startsWith('snapshots/')).length;
  const before = kept();
  await sandbox('states');
  const first = await take('states', { tag: 'first' });
  expect(first.status).toBe(201);
  expect(snapshotSchema.strict().parse(first.json)).toMatchObject({
    tenant: 'acme',
    tag: 'first',
    source: 'states',
    volumes: ['workspace', 'memory'],
    actor: 'key:admin',
    instances: 0,
  });
  expect(first.headers.location).toBe(`/api/snapshots/${first.json.id}`);
  expect(first.json.contents).toContainEqual({ volume: 'tmp', files: 0, bytes: 0 });
  expect((await instance('states')).state).toBe('active');
  const all = [first.json];
  for (const verb of ['suspend', 'freeze', 'archive']) {
    await call('POST', `/api/instances/states/${verb}`);
    const resting = await instance('states');
    all.push((await take('states')).json);
    expect(await instance('states')).toEqual(resting);
  }
  expect(new Set(all.map(({ hash }) => hash)).size).toBe(1);
  expect(new Set(all.map(({ id }) => id)).size).toBe(4);
  expect(kept()).toBe(before + 1);
  const stat = statSync(fileOf(first.json));
  expect([stat.mode & 0o777, stat.size]).toEqual([0o400, first.json.bytes]);
  expect(readFileSync(fileOf(first.json)).includes('the scratch')).toBe(false);

  const listed = await call<Snapshot[]>('GET', '/api/snapshots?source=states&limit=3');
  expect(listed.json.map(({ id }) => id)).toHaveLength(3);
  const next = /<([^>]+)>/.exec(listed.headers.link ?? '')?.[1] ?? '';
  const rest = await call<Snapshot[]>('GET', next);
  expect([...listed.json, ...rest.json].map(({ id }) => id).sort()).toEqual(all.map(({ id }) => id).sort());
  expect((await call<Snapshot[]>('GET', '/api/snapshots?tag=first')).json).toEqual([first.json]);
  expect((await call<Snapshot[]>('GET', '/api/snapshots?tenant=globex')).json).toEqual([]);
  expect((await call('GET', `/api/snapshots/${first.json.id}`)).json).toEqual(first.json);
});

test('a snapshot under constant writes is of one moment, and the writes go on', async () => {
  await sandbox('busy');
  let writing = true;
  let written = 0;
  let answered = 0;
  const writer = (async () => {
    while (writing) {
      written += 1;
      const done = await call('POST', '/api/instances/busy/exec', {
        command: `{ echo ${written} > a; echo ${written} > /memory/b; }`,
      });
      expect(done.json.exit_code).toBe(0);
      answered += 1;
    }
  })();
  const taken: Snapshot[] = [];
  for (let n = 0; n < 5; n += 1) {
    taken.push((await take('busy')).json);
    // The first to be answered may be in the snapshot already; the second began after it.
    const before = answered;
    await expect.poll(() => answered).toBeGreaterThan(before + 1);
  }
  writing = false;
  await writer;
  for (const { id } of taken) {
    const [made] = (await restore(id)).json;
    expect(await text(made?.id ?? '', '/a')).toBe(await text(made?.id ?? '', '/b', 'memory'));
  }
  expect(new Set(taken.map(({ hash }) => hash)).size).toBe(5);
});

test('a restored sandbox costs its row, is read from its snapshot, and is on its own from its first resume', async () => {
  await sandbox('origin', { policy: 'minimal' });
  const snapshot = (await take('origin')).json;
  const before = filesIn(server.folder);
  const made = await restore(snapshot.id, { count: 3, name: 'copy' });
  expect(made.status).toBe(201);
  expect(made.json.map(({ name }) => name)).toEqual(['copy-1', 'copy-2', 'copy-3']);
  for (const one of made.json) {
    expect(one).toMatchObject({
      tenant: 'acme',
      state: 'created',
      thermal: 'cold',
      policy: 'minimal',
      bytes: snapshot.bytes,
      vfs_path: `snapshots/${snapshot.hash.replace('sha256:', '')}.sqlite`,
      lineage: { blueprint: null, snapshot: snapshot.id, parent: 'origin' },
    });
  }
  const [a, b, c] = made.json.map(({ id }) => id) as [InstanceId, InstanceId, InstanceId];
  expect([await text(a, '/work.txt'), await text(a, '/note.txt', 'memory')]).toEqual([
    'the work of origin',
    'the memory of origin',
  ]);
  expect(await text(a, '/scratch.txt', 'tmp')).toBe(404);
  expect((await call('GET', `/api/instances/${a}/search?q=work&in=name`)).json).toEqual([
    { volume: 'workspace', path: '/work.txt' },
  ]);
  expect(
    (await call('POST', `/api/instances/${a}/query`, { sql: 'SELECT volume, path FROM vfs ORDER BY 1' })).json.rows,
  ).toEqual([
    ['memory', '/note.txt'],
    ['workspace', '/work.txt'],
  ]);
  expect((await call('POST', `/api/instances/${a}/query`, { sql: 'DELETE FROM vfs' })).status).toBe(422);
  const volumes = (await call('GET', `/api/instances/${a}/volumes`)).json as unknown as {
    volume: string;
    files: number;
  }[];
  expect(volumes.map(({ volume, files }) => `${volume} ${files}`)).toEqual(['workspace 1', 'memory 1', 'tmp 0']);
  expect((await instance(a)).state).toBe('created');
  expect(filesIn(server.folder)).toEqual(before);

  await put(a, '/work.txt', 'changed by a');
  const resumed = await call('POST', `/api/instances/${b}/resume`);
  expect(resumed.json).toMatchObject({ path: 'cold', source: 'snapshot', vfs_path: `live/${b}/vfs.sqlite` });
  expect(await text(b, '/work.txt')).toBe('the work of origin');
  await put('origin', '/work.txt', 'changed by the origin');
  expect(await Promise.all([a, b, c, 'origin'].map((id) => text(id, '/work.txt')))).toEqual([
    'changed by a',
    'the work of origin',
    'the work of origin',
    'changed by the origin',
  ]);
  const again = (await take(c)).json;
  expect(again.hash).toBe(snapshot.hash);

  const lineage = (await call<Lineage>('GET', `/api/snapshots/${snapshot.id}/lineage`)).json;
  lineageSchema.strict().parse(lineage);
  expect(lineage.edges).toEqual([
    { from: 'instance:origin', to: `snapshot:${snapshot.id}` },
    ...[a, b, c].map((id) => ({ from: `snapshot:${snapshot.id}`, to: `instance:${id}` })),
    { from: `instance:${c}`, to: `snapshot:${again.id}` },
  ]);
  const disk = Object.fromEntries(lineage.nodes.map(({ id, disk_bytes: bytes }) => [id, bytes]));
  expect(disk[c]).toBe(0);
  expect(disk[a]).toBeGreaterThan(0);
  const ofC = (await call<Lineage>('GET', `/api/instances/${c}/lineage`)).json;
  expect(ofC.nodes.map(({ id }) => id)).toEqual(['origin', snapshot.id, c, again.id]);
});

test('a thousand are made in one call; a name that is taken, and none is', async () => {
  await sandbox('many');
  const { id } = (await take('many')).json;
  await call('POST', '/api/instances', { tenant: 'acme', name: 'n-500' });
  const count = async () => (await call('GET', '/api/instances?state=created&limit=1')).headers['x-total-count'];
  const before = [await count(), filesIn(server.folder)];
  const lines = async () => (await call<unknown[]>('GET', '/api/events?type=instance.created&limit=1')).json[0];
  const line = await lines();
  const refused = await restore(id, { count: 1000, name: 'n' });
  expect([refused.status, (refused.json as unknown as { code: string }).code]).toEqual([409, 'conflict']);
  expect([await count(), filesIn(server.folder)]).toEqual(before);
  expect(await lines()).toEqual(line);

  const made = await restore(id, { count: 1000, name: 'm', tenant: 'globex' });
  expect(made.status).toBe(201);
  expect(made.json.length).toBe(1000);
  expect(made.json[999]).toMatchObject({ name: 'm-1000', tenant: 'globex' });
  expect(new Set(made.json.map((one) => one.id)).size).toBe(1000);
  expect(filesIn(server.folder)).toEqual(before[1]);
  expect(await text(made.json[731]?.id ?? '', '/work.txt')).toBe('the work of many');
  expect((await call('GET', '/api/events?type=snapshot.restored&limit=1')).json).toMatchObject([
    { instance: null, tenant: 'globex', reason: `1000 made from the snapshot ${id}` },
  ]);
  expect((await call<Snapshot>('GET', `/api/snapshots/${id}`)).json.instances).toBe(1000);
});

test('a snapshot outlives its source, and its file outlives the snapshot while a clone needs it', async () => {
  await sandbox('mortal');
  const snapshot = (await take('mortal')).json;
  await call('POST', '/api/instances/mortal/archive');
  expect((await call('DELETE', '/api/instances/mortal')).status).toBe(204);
  expect((await take('mortal')).status).toBe(410);
  const [one, two] = (await restore(snapshot.id, { count: 2 })).json.map((made) => made.id) as [InstanceId, InstanceId];
  const twin = (await take(one)).json;
  expect(twin.hash).toBe(snapshot.hash);

  expect((await call('DELETE', `/api/snapshots/${snapshot.id}`)).status).toBe(204);
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/restore'],
  ] as const) {
    expect((await call(method, `/api/snapshots/${snapshot.id}${path}`)).status).toBe(404);
  }
  expect(existsSync(fileOf(snapshot))).toBe(true);
  expect((await call('DELETE', `/api/snapshots/${twin.id}`)).status).toBe(204);
  expect(await text(one, '/work.txt')).toBe('the work of mortal');
  expect(await call('POST', `/api/instances/${one}/resume`)).toMatchObject({ json: { source: 'snapshot' } });
  expect(existsSync(fileOf(snapshot))).toBe(true);
  expect(await text(two, '/note.txt', 'memory')).toBe('the memory of mortal');
  await put(two, '/work.txt', 'its own');
  await expect.poll(() => existsSync(fileOf(snapshot))).toBe(false);
  expect([await text(one, '/work.txt'), await text(two, '/work.txt')]).toEqual(['the work of mortal', 'its own']);
  const lineage = (await call<Lineage>('GET', `/api/instances/${two}/lineage`)).json;
  expect(lineage.nodes.map(({ id, deleted }) => [id, deleted])).toEqual([
    ['mortal', true],
    [snapshot.id, true],
    [two, false],
  ]);
});

test('what cannot be is refused with the contract’s errors and leaves no file', async () => {
  await sandbox('strict');
  const { id, ...snapshot } = (await take('strict')).json;
  await call('POST', '/api/instances', { id: 'in-memory', tenant: 'acme', vfs_path: ':memory:' });
  await call('POST', '/api/instances/in-memory/resume');
  await call('POST', '/api/instances/strict/suspend');
  const before = filesIn(server.folder);
  const refusals: [string, string, unknown, number][] = [
    ['POST', '/api/instances/nobody/snapshots', {}, 404],
    ['POST', '/api/instances/in-memory/snapshots', {}, 409],
    ['POST', '/api/instances/strict/snapshots', { tag: '' }, 422],
    ['POST', '/api/instances/strict/snapshots', { tag: 'a\nb' }, 422],
    ['POST', '/api/instances/strict/snapshots', { volume: 'tmp' }, 422],
    ['POST', `/api/snapshots/${id}/restore`, { count: 0 }, 422],
    ['POST', `/api/snapshots/${id}/restore`, { count: 1001 }, 422],
    ['POST', `/api/snapshots/${id}/restore`, { count: 1.5 }, 422],
    ['POST', `/api/snapshots/${id}/restore`, { tenant: 'Not A Tenant' }, 422],
    ['POST', '/api/snapshots/snap-0000000000/restore', {}, 404],
    ['DELETE', '/api/snapshots/snap-0000000000', undefined, 404],
    ['GET', '/api/snapshots/snap-0000000000/lineage', undefined, 404],
    ['GET', '/api/snapshots?cursor=nonsense', undefined, 422],
    ['GET', '/api/snapshots?colour=red', undefined, 422],
    ['PUT', `/api/snapshots/${id}`, {}, 405],
  ];
  for (const [method, path, body, status] of refusals) {
    expect([method, path, body, (await call(method, path, body)).status]).toEqual([method, path, body, status]);
  }
  const live = join(server.folder, 'live', 'strict', 'vfs.sqlite');
  const sound = readFileSync(live);
  writeFileSync(live, Buffer.concat([sound.subarray(0, 5000), Buffer.alloc(sound.length - 5000, 7)]));
  const damaged = await take('strict');
  expect([damaged.status, (damaged.json as unknown as { code: string }).code]).toEqual([409, 'corrupt']);
  writeFileSync(live, sound);
  expect(filesIn(server.folder)).toEqual(before);

  const file = fileOf(snapshot);
  const bytes = readFileSync(file);
  chmodSync(file, 0o600);
  writeFileSync(file, Buffer.concat([bytes.subarray(0, -1), Buffer.from([1])]));
  const rotten = await restore(id);
  expect([rotten.status, (rotten.json as unknown as { code: string }).code]).toEqual([409, 'corrupt']);
  await call('POST', '/api/instances/strict/resume');
  expect((await take('strict')).json.hash).toBe(snapshot.hash);
  expect(readFileSync(file).equals(bytes)).toBe(true);
  expect((await restore(id)).status).toBe(201);
});

test('start resumes what was restored in the background, with its progress in the ledger', async () => {
  await sandbox('starter');
  const { id } = (await take('starter')).json;
  const made = (await restore(id, { count: 6, start: true })).json;
  expect(made.every(({ state }) => state === 'created')).toBe(true);
  await expect
    .poll(async () => (await call<{ reason: string }[]>('GET', '/api/events?type=start.done')).json[0]?.reason, {
      timeout: 240_000,
    })
    .toBe(`6 of 6 started from the snapshot ${id}`);
  for (const one of made) {
    expect((await instance(one.id)).state).toBe('active');
    await call('POST', `/api/instances/${one.id}/suspend`);
  }
  expect((await call<unknown[]>('GET', '/api/events?type=start.progress')).json.length).toBeGreaterThan(0);
});

test('another tenant’s copies are not found', async () => {
  await sandbox('private');
  const { id } = (await take('private')).json;
  const { operations } = server.host;
  const stranger: Caller = {
    actor: 'key:globex',
    via: 'api',
    requestId: 'r',
    role: 'tenant',
    tenants: ['globex'],
    address: null,
    session: null,
  };
  const query = { limit: 100 };
  for (const attempt of [
    () => operations.takeSnapshot(stranger, 'private', {}),
    () => operations.getSnapshot(stranger, id),
    () => operations.deleteSnapshot(stranger, id),
    () => operations.restoreSnapshot(stranger, id, {}),
    () => operations.snapshotLineage(stranger, id),
    () => operations.instanceLineage(stranger, 'private'),
  ]) {
    await expect(attempt()).rejects.toMatchObject({ code: 'not_found' });
  }
  expect((await operations.listSnapshots(stranger, query)).items).toEqual([]);
  const own = { ...stranger, tenants: ['acme'] };
  expect((await operations.listSnapshots(own, query)).items.some((snapshot) => snapshot.id === id)).toBe(true);
  await expect(operations.restoreSnapshot(own, id, { tenant: 'globex' })).rejects.toMatchObject({ code: 'forbidden' });
  const both = { ...stranger, tenants: ['acme', 'initech'] };
  expect((await operations.listSnapshots(both, { ...query, source: 'private' })).items).toHaveLength(1);
});

test('a volume is compared with a snapshot, asleep or awake, and nothing wakes', async () => {
  await sandbox('compared');
  for (const [path, content] of [
    ['/same', 'as it was'],
    ['/edited', 'one'],
    ['/gone', 'x'],
    ['/a%20b%20%C3%A9', '1'],
  ] as const)
    await put('compared', path, content);
  const { id } = (await take('compared')).json;
  const at = (volume: string, more = '') => `/api/instances/compared/compare/${volume}?snapshot=${id}${more}`;
  expect((await call<Comparison>('GET', at('workspace'))).json).toMatchObject({ added: 0, changed: 0, same: 5 });
  await put('compared', '/edited', 'two');
  await put('compared', '/same', 'as it was');
  await put('compared', '/new', 'fresh');
  await call('DELETE', '/api/instances/compared/volumes/workspace/gone');
  const awake = await call<Comparison>('GET', at('workspace'));
  expect(awake.json).toMatchObject({ snapshot: id, volume: 'workspace', added: 1, removed: 1, changed: 1, same: 3 });
  expect(awake.json.changes.map(({ path, change, before, now }) => [path, change, before?.size, now?.size])).toEqual([
    ['/edited', 'changed', 3, 3],
    ['/gone', 'removed', 1, undefined],
    ['/new', 'added', undefined, 5],
  ]);
  await call('POST', '/api/instances/compared/suspend', {});
  await call('POST', '/api/instances/compared/freeze', {});
  expect((await call<Comparison>('GET', at('workspace'))).json).toEqual(awake.json);
  expect((await call<Comparison>('GET', at('workspace', '&limit=1'))).json).toMatchObject({
    changed: 1,
    added: 1,
    changes: [{ path: '/edited' }],
  });
  expect((await call<Comparison>('GET', at('memory'))).json).toMatchObject({ same: 1, changes: [] });
  expect((await instance('compared')).state).toBe('frozen');
  const reads = await call<{ reason: string }[]>('GET', '/api/events?type=private.read&limit=1');
  expect(reads.json[0]?.reason).toBe('a comparison with a snapshot');

  await call('POST', '/api/instances', { id: 'of-others', tenant: 'globex' });
  await call('PUT', '/api/instances/of-others/volumes/workspace/a', 'b');
  const foreign = (await take('of-others')).json.id;
  for (const other of [foreign, 'snap-unknown']) {
    const refused = await call('GET', `/api/instances/compared/compare/workspace?snapshot=${other}`);
    expect([refused.status, refused.json]).toMatchObject([404, { code: 'not_found' }]);
  }
});
