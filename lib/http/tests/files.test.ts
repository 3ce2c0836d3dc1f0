import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { FileInfo, FolderItem, Instance, VolumeInfo } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const MIB = 1024 * 1024;
let server: TestServer;
let count = 0;
let box = '';

beforeAll(async () => {
  server = await startServer({ settings: { WB_MAX_FILE: String(MIB), WB_MAX_BODY: String(2 * MIB) } });
});
afterAll(() => server.stop());
beforeEach(async () => {
  box = `/api/instances/box-${++count}`;
  await server.call('POST', '/api/instances', { id: `box-${count}`, tenant: 'acme' });
});

const call: TestServer['call'] = (...args) => server.call(...args);
const state = async () => (await call<Instance>('GET', box)).json.state;
const put = (path: string, body: string | Buffer, headers = {}) =>
  call('PUT', `${box}/volumes/${path}`, body, { headers });
const get = (path: string, headers = {}) => call('GET', `${box}/volumes/${path}`, undefined, { headers });

test('a file is new, then replaced, then deleted, and each write has another ETag', async () => {
  const first = await put('workspace/notes/a.txt', 'one');
  expect([first.status, first.headers.location]).toEqual([201, `${box}/volumes/workspace/notes/a.txt`]);
  const second = await put('workspace/notes/a.txt', 'two');
  expect([second.status, second.text]).toEqual([204, '']);
  expect(second.headers.etag).toMatch(/^"v\d+"$/);
  expect(second.headers.etag).not.toBe(first.headers.etag);

  const read = await get('workspace/notes/a.txt');
  expect([read.status, read.text, read.headers.etag]).toEqual([200, 'two', second.headers.etag]);
  // The sandbox's process has a clock of its own, the system's.
  expect(Math.abs(Date.parse(read.headers['last-modified'] ?? '') - Date.now())).toBeLessThan(60_000);

  expect((await call('DELETE', `${box}/volumes/workspace/notes/a.txt`)).status).toBe(204);
  expect((await get('workspace/notes/a.txt')).json.code).toBe('not_found');
  expect((await call('DELETE', `${box}/volumes/workspace/notes/a.txt`)).json.code).toBe('not_found');
  const third = await put('workspace/notes/a.txt', 'three');
  expect(third.status).toBe(201);
  expect([first.headers.etag, second.headers.etag]).not.toContain(third.headers.etag);
});

test('the same path in three volumes is three files, and tmp alone is gone after a sleep', async () => {
  for (const volume of ['workspace', 'memory', 'tmp']) await put(`${volume}/same`, `in ${volume}`);
  for (const volume of ['workspace', 'memory', 'tmp']) expect((await get(`${volume}/same`)).text).toBe(`in ${volume}`);
  await call('POST', `${box}/suspend`);
  await call('POST', `${box}/freeze`);
  expect((await get('tmp/same')).text).toBe('in tmp');
  expect((await call('POST', `${box}/resume`)).json).toMatchObject({ path: 'cold', source: 'cold' });
  expect((await get('workspace/same')).text).toBe('in workspace');
  expect((await get('memory/same')).text).toBe('in memory');
  expect((await get('tmp/same')).status).toBe(404);
});

test('the volumes are always the three, with what they hold and promise', async () => {
  const list = async () => (await call<VolumeInfo[]>('GET', `${box}/volumes`)).json;
  expect(await list()).toEqual([
    { volume: 'workspace', files: 0, bytes: 0, survives_resume: true, ships: true },
    { volume: 'memory', files: 0, bytes: 0, survives_resume: true, ships: false },
    { volume: 'tmp', files: 0, bytes: 0, survives_resume: false, ships: false },
  ]);
  await put('memory/a', '12345');
  expect((await list())[1]).toMatchObject({ volume: 'memory', files: 1, bytes: 5 });
});

test('looking wakes nothing and stamps nothing, writing wakes', async () => {
  expect((await get('workspace/a')).status).toBe(404);
  expect(await state()).toBe('created');
  await put('workspace/a', 'x');
  expect(await state()).toBe('active');
  await call('POST', `${box}/suspend`);
  const before = (await call<Instance>('GET', box)).json.updated;
  for (const [method, path, body] of [
    ['GET', '/volumes'],
    ['GET', '/volumes/workspace'],
    ['GET', '/volumes/workspace/a'],
    ['HEAD', '/volumes/workspace/a'],
    ['GET', '/search?q=a'],
    ['POST', '/query', { sql: 'SELECT path FROM vfs' }],
    ['GET', '/events'],
  ] as const) {
    expect([path, (await call(method, `${box}${path}`, body)).status]).toEqual([path, 200]);
  }
  expect(await call<Instance>('GET', box)).toMatchObject({ json: { state: 'suspended', updated: before } });
  await put('workspace/b', 'y');
  expect(await state()).toBe('active');
});

test('an archived sandbox is read but refuses a write', async () => {
  await put('workspace/a', 'kept');
  await call('POST', `${box}/archive`);
  expect((await get('workspace/a')).text).toBe('kept');
  for (const refused of [
    await put('workspace/a', 'changed'),
    await call('DELETE', `${box}/volumes/workspace/a`),
    await call('POST', `${box}/volumes/workspace/move`, { from: '/a', to: '/b' }),
    await call('POST', `${box}/exec`, { command: 'true' }),
  ]) {
    expect([refused.status, refused.json.code]).toEqual([409, 'archived']);
  }
  expect(await state()).toBe('archived');
});

test('the rest of a file, as a resumed upload sends it, does not become the whole', async () => {
  await put('workspace/a', 'the whole');
  const rest = await call('PUT', `${box}/volumes/workspace/a`, 'hole', { headers: { 'content-range': 'bytes 5-8/9' } });
  expect([rest.status, rest.json.code, rest.json.errors]).toEqual([
    422,
    'validation',
    [{ path: 'Content-Range', message: 'is not known here' }],
  ]);
  expect((await get('workspace/a')).text).toBe('the whole');
});

test('a listing is in order of path, paged, and narrowed by a prefix', async () => {
  for (const path of ['b/2', 'a', 'b/1', 'c', 'b/3']) await put(`workspace/${path}`, path);
  const list = async (query: string) => {
    const answer = await call<FileInfo[]>('GET', `${box}/volumes/workspace?${query}`);
    return {
      paths: answer.json.map(({ path }) => path),
      next: /^<(.+)>; rel="next"$/.exec(answer.headers.link ?? '')?.[1],
    };
  };
  expect((await list('')).paths).toEqual(['/a', '/b/1', '/b/2', '/b/3', '/c']);
  for (const prefix of ['/b/', 'b/']) {
    expect((await list(`prefix=${prefix}`)).paths).toEqual(['/b/1', '/b/2', '/b/3']);
  }
  const folder = await get('workspace/b');
  expect([folder.status, folder.json.hint]).toEqual([
    404,
    'It is a folder. List what is in it: volumes/workspace?prefix=/b/',
  ]);
  const first = await list('limit=2');
  expect(first.paths).toEqual(['/a', '/b/1']);
  const rest = await call<FileInfo[]>('GET', first.next ?? '');
  expect(rest.json.map(({ path }) => path)).toEqual(['/b/2', '/b/3']);
});

test('a file called move, names with spaces and Unicode, and an empty file are files like others', async () => {
  for (const [path, body] of [
    ['workspace/move', 'm'],
    ['workspace/%20spaced%20name%3F%23', 's'],
    ['workspace/%C3%BCml%C3%A4ut/%E2%98%83', 'u'],
    ['workspace/empty', ''],
    ['workspace/a%2Fb', 'slash'],
  ] as const) {
    expect([path, (await put(path, body)).status]).toEqual([path, 201]);
    const read = await get(path);
    expect([path, read.status, read.text]).toEqual([path, 200, body]);
    expect(read.headers['content-length']).toBe(String(body.length));
  }
  expect((await get('workspace/a/b')).text).toBe('slash');
  expect((await get('workspace/%C3%BCml%C3%A4ut/%E2%98%83')).headers['content-disposition']).toBe(
    "attachment; filename*=UTF-8''%E2%98%83",
  );
});

test('bytes come back as they went in, and never as a page of this origin', async () => {
  const bytes = Buffer.from(Array.from({ length: 4096 }, (_, index) => index % 256));
  await put('workspace/page.html', bytes);
  const read = await get('workspace/page.html');
  expect(read.bytes.equals(bytes)).toBe(true);
  expect(read.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': "attachment; filename*=UTF-8''page.html",
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'; .*frame-ancestors 'none'/),
  });
  for (const [name, type] of [
    ['a.svg', 'application/octet-stream'],
    ['a.js', 'application/octet-stream'],
    ['a.TXT', 'text/plain; charset=utf-8'],
    ['a.png', 'image/png'],
    ['constructor', 'application/octet-stream'],
    ['a.__proto__', 'application/octet-stream'],
  ] as const) {
    await put(`workspace/${name}`, 'x');
    expect([name, (await get(`workspace/${name}`)).headers['content-type']]).toEqual([name, type]);
  }
});

test('ranges', async () => {
  await put('workspace/digits', '0123456789');
  const range = async (value: string, headers = {}) => {
    const { status, text, headers: got } = await get('workspace/digits', { range: value, ...headers });
    return [status, status === 416 ? '' : text, got['content-range']];
  };
  expect(await range('bytes=2-4')).toEqual([206, '234', 'bytes 2-4/10']);
  expect(await range('bytes=7-')).toEqual([206, '789', 'bytes 7-9/10']);
  expect(await range('bytes=-2')).toEqual([206, '89', 'bytes 8-9/10']);
  expect(await range('bytes=5-500')).toEqual([206, '56789', 'bytes 5-9/10']);
  expect(await range('bytes=10-')).toEqual([416, '', 'bytes */10']);
  expect(await range('bytes=0-1,4-5')).toEqual([200, '0123456789', undefined]);
  const { etag = '' } = (await get('workspace/digits')).headers;
  expect(await range('bytes=0-0', { 'if-range': etag })).toEqual([206, '0', 'bytes 0-0/10']);
  expect(await range('bytes=0-0', { 'if-range': '"v999"' })).toEqual([200, '0123456789', undefined]);
});

test('conditional reads', async () => {
  await put('workspace/a', 'one');
  const { etag = '', 'last-modified': modified = '' } = (await get('workspace/a')).headers;
  const ask = async (headers: Record<string, string>) => (await get('workspace/a', headers)).status;
  expect(await ask({ 'if-none-match': etag })).toBe(304);
  expect(await ask({ 'if-none-match': `W/${etag}, "x"` })).toBe(304);
  expect(await ask({ 'if-none-match': '*' })).toBe(304);
  expect(await ask({ 'if-none-match': '"v999"' })).toBe(200);
  expect(await ask({ 'if-modified-since': modified })).toBe(304);
  expect(await ask({ 'if-match': etag })).toBe(200);
  expect(await ask({ 'if-match': '"v999"' })).toBe(412);
  await put('workspace/a', 'two');
  expect(await ask({ 'if-none-match': etag })).toBe(200);
  expect(await ask({ 'if-match': etag })).toBe(412);
  const notModified = await get('workspace/a', { 'if-none-match': '*' });
  expect([notModified.text, notModified.headers.etag]).toEqual(['', (await get('workspace/a')).headers.etag]);
});

test('conditional writes change nothing when their condition fails', async () => {
  const created = await put('workspace/a', 'one', { 'if-none-match': '*' });
  expect(created.status).toBe(201);
  const { etag = '' } = created.headers;
  expect((await put('workspace/a', 'two', { 'if-none-match': '*' })).json.code).toBe('precondition_failed');
  expect((await put('workspace/a', 'two', { 'if-match': '"v999"' })).status).toBe(412);
  expect((await put('workspace/none', 'x', { 'if-match': '*' })).status).toBe(412);
  expect((await put('workspace/a', 'two', { 'if-match': '"not-ours"' })).status).toBe(412);
  expect((await get('workspace/a')).text).toBe('one');
  expect((await put('workspace/a', 'two', { 'if-match': etag })).status).toBe(204);
  const remove = (tag: string) =>
    call('DELETE', `${box}/volumes/workspace/a`, undefined, { headers: { 'if-match': tag } });
  expect((await remove(etag)).status).toBe(412);
  expect((await remove((await get('workspace/a')).headers.etag ?? '')).status).toBe(204);
});

test('HEAD tells what GET would, without the bytes', async () => {
  await put('workspace/a.txt', 'twelve bytes');
  const head = await call('HEAD', `${box}/volumes/workspace/a.txt`);
  const read = await get('workspace/a.txt');
  expect([head.status, head.bytes.length]).toEqual([200, 0]);
  for (const name of ['content-length', 'content-type', 'etag', 'last-modified', 'accept-ranges']) {
    expect([name, head.headers[name]]).toEqual([name, read.headers[name]]);
  }
  expect((await call('HEAD', `${box}/volumes/workspace/none`)).status).toBe(404);
});

test('a file moves within its volume', async () => {
  await put('memory/from', 'moved');
  expect((await call('POST', `${box}/volumes/memory/move`, { from: '/from', to: '/deep/to' })).status).toBe(204);
  expect((await get('memory/deep/to')).text).toBe('moved');
  expect((await get('memory/from')).status).toBe(404);
  expect((await call('POST', `${box}/volumes/memory/move`, { from: '/none', to: '/x' })).json.code).toBe('not_found');
  expect((await call('POST', `${box}/volumes/memory/move`, { from: '/deep/to', to: '../x' })).json.code).toBe(
    'validation',
  );
});

test('a file over the limit is refused and nothing of it is kept', async () => {
  const refused = await put('workspace/big', Buffer.alloc(MIB + 1));
  expect([refused.status, refused.json.code]).toEqual([413, 'too_large']);
  expect((await get('workspace/big')).status).toBe(404);
  expect((await put('workspace/fits', Buffer.alloc(MIB, 7))).status).toBe(201);
  expect((await get('workspace/fits')).bytes.equals(Buffer.alloc(MIB, 7))).toBe(true);
});

test('search finds names and contents', async () => {
  await put('workspace/plan.md', 'first line\nthe needle is here\n');
  await put('memory/needle.txt', 'other');
  const hits = async (query: string) => (await call<{ path: string }[]>('GET', `${box}/search?${query}`)).json;
  expect(await hits('q=needle')).toEqual([expect.objectContaining({ volume: 'memory', path: '/needle.txt' })]);
  expect(await hits('q=needle&in=content')).toEqual([
    expect.objectContaining({
      volume: 'workspace',
      path: '/plan.md',
      line: 2,
      text: expect.stringContaining('needle'),
    }),
  ]);
  expect(await hits('q=needle&volume=workspace')).toEqual([]);
  for (let n = 0; n < 3; n++) await put(`workspace/many-${n}`, '');
  const cut = await call('GET', `${box}/search?q=many&limit=2`);
  expect(cut.headers['x-truncated']).toBe('true');
});

test('SQL reads across volumes and reaches nothing else', async () => {
  await put('workspace/a', 'one');
  await put('memory/b', 'two');
  const query = (sql: string, params?: unknown) => call('POST', `${box}/query`, { sql, params });
  expect((await query('SELECT volume, path, CAST(content AS TEXT) AS text FROM vfs ORDER BY path')).json).toEqual({
    columns: ['volume', 'path', 'text'],
    rows: [
      ['workspace', '/a', 'one'],
      ['memory', '/b', 'two'],
    ],
    truncated: false,
  });
  expect((await query('SELECT path FROM vfs WHERE volume = ?', ['memory'])).json.rows).toEqual([['/b']]);
  expect((await query('SELECT path FROM vfs WHERE volume = :v', { v: 'memory' })).json.rows).toEqual([['/b']]);
  expect((await query('SELECT content FROM vfs WHERE path = ?', ['/a'])).json.rows).toEqual([['one']]);
  expect((await query("SELECT x'00ff' AS bytes, 9007199254740993 AS large, NULL AS none")).json.rows).toEqual([
    [{ base64: 'AP8=' }, '9007199254740993', null],
  ]);
  for (const sql of [
    'DELETE FROM vfs',
    "INSERT INTO vfs VALUES ('tmp','/x','',0)",
    'DROP TABLE vfs',
    "ATTACH '/etc/passwd' AS x",
    "ATTACH ':memory:' AS x",
    'PRAGMA writable_schema = 1',
    "SELECT load_extension('x')",
    "SELECT writefile('/tmp/x', 'y')",
    "VACUUM INTO '/tmp/stolen.sqlite'",
    'SELECT 1; DELETE FROM vfs',
    'BEGIN EXCLUSIVE',
    'nonsense',
  ]) {
    const answer = await query(sql);
    expect([sql, answer.status]).toEqual([sql, 422]);
  }
  expect((await get('workspace/a')).text).toBe('one');
});

test('a folder is made, listed page by page, moved and deleted, and an empty one is there in every state', async () => {
  const folder = (path: string, more = '') =>
    call<FolderItem[]>('GET', `${box}/folders/workspace?path=${encodeURIComponent(path)}${more}`);
  const names = async (path: string) => (await folder(path)).json.map(({ name, kind }) => `${kind} ${name}`);
  const make = (path: string) => call('POST', `${box}/folders/workspace`, { path });
  expect((await make('/notes/empty')).status).toBe(204);
  expect((await make('/notes/empty')).json.code).toBe('conflict');
  await put('workspace/notes/a.txt', 'one');
  await put('workspace/notes/deep/b.txt', 'two');
  expect((await make('/notes/a.txt/below')).json.code).toBe('conflict');

  const first = await folder('/notes', '&limit=2');
  expect([first.json.map(({ name }) => name), first.headers['x-total-count']]).toEqual([['deep', 'empty'], '3']);
  const next = /<([^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? '';
  expect((await call<FolderItem[]>('GET', next)).json).toMatchObject([{ name: 'a.txt', kind: 'file', size: 3 }]);

  const all = ['dir deep', 'dir empty', 'file a.txt'];
  for (const verb of ['suspend', 'freeze', 'resume', 'archive']) {
    await call('POST', `${box}/${verb}`);
    const before = await state();
    expect([verb, await names('/notes'), await names('/notes/empty')]).toEqual([verb, all, []]);
    expect((await folder('/nothing')).json).toMatchObject({ code: 'not_found' });
    expect(await state()).toBe(before);
  }
  expect((await make('/more')).json.code).toBe('archived');

  await call('POST', `${box}/revive`);
  expect((await call('POST', `${box}/volumes/workspace/move`, { from: '/notes', to: '/filed/notes' })).status).toBe(
    204,
  );
  expect(await names('/')).toEqual(['dir filed']);
  const remove = (path: string, more = '') => call('DELETE', `${box}/folders/workspace?path=${path}${more}`);
  expect((await remove('/filed/notes/a.txt', '&recursive=true')).json.code).toBe('conflict');
  expect((await remove('/filed/notes')).json.code).toBe('conflict');
  expect((await remove('/filed/nothing', '&recursive=true')).json.code).toBe('not_found');
  expect((await remove('/filed/notes/empty')).status).toBe(204);
  expect((await remove('/filed', '&recursive=true')).status).toBe(204);
  expect((await remove('/', '&recursive=true')).json.code).toBe('conflict');
  expect(await names('/')).toEqual([]);
});
