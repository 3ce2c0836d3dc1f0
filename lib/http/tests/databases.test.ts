import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database, DatabaseRows, Instance } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let stranger = '';
let viewer = '';
let support = '';
const call: TestServer['call'] = (...args) => server.call(...args);

function databaseBytes(sql: string): Buffer {
  const db = new DatabaseSync(':memory:');
  db.exec(sql);
  const content = Buffer.from(db.serialize());
  db.close();
  return content;
}

const FRUIT = databaseBytes(
  `CREATE TABLE "ap""ples" (sort TEXT, kilos REAL); INSERT INTO "ap""ples" VALUES ('Boskoop', 12.5), ('Elstar', 3), ('Gala', NULL);
   CREATE VIEW heavy AS SELECT sort FROM "ap""ples" WHERE kilos > 10;`,
);

beforeAll(async () => {
  server = await startServer();
  const key = async (role: string, tenant: string) =>
    (await call<{ key: string }>('POST', '/api/keys', { name: `${role} of ${tenant}`, role, tenant })).json.key;
  stranger = await key('tenant', 'globex');
  viewer = await key('viewer', 'acme');
  support = await key('support', 'acme');
  await call('POST', '/api/instances', { id: 'orchard', tenant: 'acme' });
  for (const path of ['workspace/data/fruit.db', 'memory/own.db'])
    expect((await call('PUT', `/api/instances/orchard/volumes/${path}`, FRUIT)).status).toBe(201);
  await call('PUT', '/api/instances/orchard/volumes/workspace/note.txt', 'no database');
});
afterAll(() => server.stop());

const tables = (volume: string, query: string, key?: string) =>
  call<Database>(
    'GET',
    `/api/instances/orchard/tables/${volume}?${query}`,
    undefined,
    key === undefined ? {} : { key },
  );
const rows = (volume: string, query: string, key?: string) =>
  call<DatabaseRows>(
    'GET',
    `/api/instances/orchard/rows/${volume}?${query}`,
    undefined,
    key === undefined ? {} : { key },
  );
const PATH = 'path=/data/fruit.db';
const APPLES = `${PATH}&table=${encodeURIComponent('ap"ples')}`;

test('a database in a volume is read as tables, awake, frozen and archived, and nothing wakes', async () => {
  for (const verb of [null, 'suspend', 'freeze', 'archive']) {
    if (verb !== null)
      expect((await call('POST', `/api/instances/orchard/${verb}`, { reason: 'a test' })).status).toBe(200);
    const before = (await call<Instance>('GET', '/api/instances/orchard')).json.state;
    const listed = await tables('workspace', PATH);
    expect([verb, listed.status, listed.json.total, listed.json.wal]).toEqual([verb, 200, 2, false]);
    expect(listed.json.tables).toMatchObject([
      { name: 'ap"ples', kind: 'table', row_count: 3, more_rows: false, column_count: 2, problem: null },
      { name: 'heavy', kind: 'view', row_count: null, columns: [] },
    ]);
    const first = await rows('workspace', `${APPLES}&limit=2`);
    expect(first.json).toMatchObject({
      offset: 0,
      rows: [
        ['Boskoop', 12.5],
        ['Elstar', 3],
      ],
      next: '2:2',
    });
    const second = await rows('workspace', `${APPLES}&limit=2&cursor=2:2`);
    expect(second.json).toMatchObject({ offset: 2, rows: [['Gala', null]], next: null });
    expect((await rows('workspace', `${PATH}&table=heavy`)).json.rows).toEqual([['Boskoop']]);
    expect((await call<Instance>('GET', '/api/instances/orchard')).json.state).toBe(before);
  }
});

test('what is no table of a database is told apart', async () => {
  for (const [answer, status, code] of [
    [tables('workspace', 'path=/note.txt'), 422, 'validation'],
    [tables('workspace', 'path=/none.db'), 404, 'not_found'],
    [tables('workspace', 'path=/data'), 404, 'not_found'],
    [tables('workspace', `${PATH}&cursor=x`), 422, 'validation'],
    [tables('workspace', ''), 422, 'validation'],
    [tables('nowhere', PATH), 404, 'unknown_volume'],
    [rows('workspace', `${PATH}&table=none`), 404, 'not_found'],
    [rows('workspace', `${PATH}&table=a%00b`), 404, 'not_found'],
    [rows('workspace', PATH), 422, 'validation'],
  ] as const) {
    const { status: told, json } = await answer;
    expect([told, (json as unknown as { code: string }).code]).toEqual([status, code]);
  }
  await call('POST', '/api/instances', { id: 'throwaway', tenant: 'acme', vfs_path: ':memory:' });
  const memory = await call('GET', `/api/instances/throwaway/tables/workspace?${PATH}`);
  expect([memory.status, memory.json.code]).toEqual([409, 'conflict']);
});

test('tables are for whom the file is for, and those of private files are lines of the ledger', async () => {
  for (const key of [stranger, viewer]) {
    const unknown = await call('GET', `/api/instances/never/tables/workspace?${PATH}`, undefined, { key });
    for (const answer of [await tables('workspace', PATH, key), await rows('workspace', APPLES, key)]) {
      expect(answer.status).toBe(key === viewer ? 403 : 404);
      if (key === stranger) expect(unknown.status).toBe(404);
    }
  }
  expect((await tables('workspace', PATH, support)).status).toBe(200);
  for (const answer of [
    await tables('memory', 'path=/own.db', support),
    await rows('memory', 'path=/own.db&table=heavy', support),
  ])
    expect(answer.status).toBe(403);
  const reads = async () => (await call<{ reason: string }[]>('GET', '/api/events?type=private.read&limit=100')).json;
  const before = (await reads()).length;
  expect((await rows('memory', 'path=/own.db&table=heavy')).status).toBe(200);
  const after = await reads();
  expect([after.length - before, after[0]?.reason]).toEqual([1, 'tables of a file']);
});
