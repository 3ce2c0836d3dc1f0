import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createClient } from '../../client/client.ts';
import { TEST_KEY } from '../../testing/key.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let root: string;
let server: TestServer;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-repeated-'));
  server = await startServer({ folder: join(root, 'data') });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
});
afterEach(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const under = (key: string) => ({ headers: { 'idempotency-key': key } });
const exec = (script: string, key: string, id = 'a') =>
  server.call('POST', `/api/instances/${id}/exec`, { command: script }, under(key));
const text = async (name: string, id = 'a') =>
  (await server.call('GET', `/api/instances/${id}/volumes/workspace/${name}`)).text;

test('a request that is sent again under its key is carried out once, and answered as before', async () => {
  const [first, beside] = await Promise.all([exec('echo x >> f; date +%N', '1'), exec('echo x >> f; date +%N', '1')]);
  const again = await exec('echo x >> f; date +%N', '1');
  expect(first.status).toBe(200);
  expect([beside.json, again.json]).toEqual([first.json, first.json]);
  expect([first, again].map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true']);
  expect(await text('f')).toBe('x\n');
  await exec('echo x >> f; date +%N', '2');
  expect(await text('f')).toBe('x\nx\n');
  // A failure is an answer too.
  const taken = () => server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' }, under('3'));
  expect([(await taken()).status, (await taken()).headers['idempotent-replayed']]).toEqual([409, undefined]);
});

test('a key is for one request of one sender, and for no stream', async () => {
  await exec('echo x >> f', '1');
  expect((await exec('echo y >> f', '1')).json).toMatchObject({ code: 'conflict' });
  for (const key of ['a b', 'é', 'k'.repeat(256)]) {
    expect([key, (await exec('echo y >> f', key)).json]).toMatchObject([key, { code: 'validation' }]);
  }
  const put = await server.call('PUT', '/api/instances/a/volumes/workspace/g', 'one', under('1'));
  expect(put.json).toMatchObject({ code: 'conflict' });
  const stream = await server.call(...(['POST', '/api/instances/a/exec', { command: 'echo y >> f' }] as const), {
    headers: { 'idempotency-key': '4', accept: 'text/event-stream' },
  });
  expect(stream.json).toMatchObject({ code: 'validation' });
  expect(await text('f')).toBe('x\n');
});

test('a request under a key goes on when its connection is lost, and is found again', async () => {
  const lost = new AbortController();
  const dock = createClient({ url: server.url, key: TEST_KEY });
  const options = { idempotencyKey: 'lost', retries: 0 };
  const call = dock.execInInstance(
    'a',
    { command: 'echo begun > f; sleep 1; echo ended >> f; echo done' },
    {
      ...options,
      signal: lost.signal,
    },
  );
  await vi.waitFor(async () => expect(await text('f')).toContain('begun'), { timeout: 240_000 });
  lost.abort(new Error('cut'));
  await expect(call).rejects.toThrow('cut');
  const found = await dock.execInInstance(
    'a',
    { command: 'echo begun > f; sleep 1; echo ended >> f; echo done' },
    options,
  );
  expect(found.stdout).toBe('done\n');
  expect(await text('f')).toBe('begun\nended\n');
});

test('what was committed here alone is found under its key once the replica has it', async () => {
  await server.stop();
  const bucket = join(root, 'bucket');
  server = await startServer({ folder: join(root, 'data'), settings: { WB_REPLICA_URL: `file://${bucket}` } });
  await server.call('POST', '/api/instances', { id: 's', tenant: 'acme', replicate: 'sync' });
  await exec('echo x >> f; cat f', '1', 's');
  renameSync(bucket, `${bucket}-away`);
  const late = await exec('echo y >> f; cat f', '2', 's');
  expect([late.status, late.json]).toMatchObject([503, { code: 'not_replicated', committed: 'local' }]);
  renameSync(`${bucket}-away`, bucket);
  const dock = createClient({ url: server.url, key: TEST_KEY, retries: 20 });
  const found = await dock.execInInstance('s', { command: 'echo y >> f; cat f' }, { idempotencyKey: '2' });
  expect(found.stdout).toBe('x\ny\n');
  expect(await text('f', 's')).toBe('x\ny\n');
});
