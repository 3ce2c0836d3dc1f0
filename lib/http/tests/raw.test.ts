import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Event } from '../../contract/schema.ts';
import { plant } from '../../testing/faulted.ts';
import { filesIn } from '../../testing/files-in.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let whole: string;
beforeAll(async () => {
  server = await startServer({ settings: { WB_POOL: '0' } });
  await server.call('POST', '/api/instances', { id: 'model', tenant: 'acme' });
  await server.call('PUT', '/api/instances/model/volumes/memory/kept', 'the memory');
  await server.call('POST', '/api/instances/model/suspend');
  whole = join(server.folder, 'whole.sqlite');
  copyFileSync(join(server.folder, 'live/model/vfs.sqlite'), whole);
});
afterAll(() => server.stop());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const raw = (id: string, query = '') => server.call('GET', `/api/instances/${id}/raw${query}`);

test.each(['suspended', 'frozen', 'archived'] as const)(
  'the damaged file of a sandbox that is %s comes byte for byte, with its size and hash',
  async (state) => {
    const { id, path } = await plant(server.host, whole, { id: `raw-${state}`, state, fault: 'corrupt' });
    const bytes = readFileSync(path);
    const got = await raw(id, '?reason=for%20the%20lab');
    expect(got.status).toBe(200);
    expect(got.bytes.equals(bytes)).toBe(true);
    expect(got.headers).toMatchObject({
      'content-length': String(bytes.byteLength),
      'content-digest': `sha-256=:${sha256(bytes).toString('base64')}:`,
      'x-sha256': sha256(bytes).toString('hex'),
      'x-log-bytes': '0',
      'content-disposition': `attachment; filename="${id}.sqlite${state === 'archived' ? '.zst' : ''}"`,
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    const { json: lines } = await server.call<Event[]>('GET', `/api/instances/${id}/events?limit=2`);
    expect(lines.map(({ type }) => type)).toEqual(['private.read', 'raw.sent']);
    expect(lines[1]?.reason).toMatch(/^for the lab \(.*sha256:[0-9a-f]{64}\)$/);
  },
);

test('an archived file comes compressed, as it lies', async () => {
  const { id } = await plant(server.host, whole, { id: 'packed', state: 'archived', fault: null });
  expect(zstdDecompressSync((await raw(id)).bytes).equals(readFileSync(whole))).toBe(true);
});

test('a log beside the file is announced and can be downloaded too', async () => {
  const { id, path } = await plant(server.host, whole, { id: 'logged', state: 'suspended', fault: 'corrupt' });
  expect((await raw(id, '?part=log')).status).toBe(404);
  writeFileSync(`${path}-wal`, 'a log');
  expect((await raw(id)).headers['x-log-bytes']).toBe('5');
  const log = await raw(id, '?part=log');
  expect([log.text, log.headers['content-disposition']]).toEqual(['a log', 'attachment; filename="logged.sqlite-wal"']);
});

test('what has no file to give says why, in words that help', async () => {
  await server.call('POST', '/api/instances', { id: 'awake', tenant: 'acme' });
  expect((await raw('awake')).json).toMatchObject({ status: 409, code: 'conflict', hint: 'Resume it once first.' });
  await server.call('POST', '/api/instances/awake/resume');
  expect((await raw('awake')).json).toMatchObject({ status: 409, code: 'conflict' });
  const missing = await plant(server.host, whole, { id: 'missing', state: 'frozen', fault: 'missing' });
  expect((await raw(missing.id)).json).toMatchObject({ status: 409, code: 'missing_file' });
  expect((await raw('nobody')).status).toBe(404);
});

test('only admins and operators may download it: a damaged file may contain foreign data', async () => {
  await plant(server.host, whole, { id: 'guarded', state: 'frozen', fault: 'corrupt' });
  const answers: Record<string, number> = {};
  for (const role of ['admin', 'operator', 'support', 'viewer', 'tenant']) {
    const key = await server.call<{ key: string }>('POST', '/api/keys', {
      name: role,
      role,
      ...(role === 'tenant' ? { tenant: 'acme' } : {}),
    });
    const got = await server.call('GET', '/api/instances/guarded/raw', undefined, { key: key.json.key });
    answers[role] = got.status;
  }
  expect(answers).toEqual({ admin: 200, operator: 200, support: 403, viewer: 403, tenant: 403 });
});

test('nothing of it stays', async () => {
  await expect.poll(() => filesIn(join(server.folder, 'bundles'))).toEqual([]);
});
