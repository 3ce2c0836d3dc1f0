/** Egress of a sandbox whose file has no hash yet. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../client/client.ts';
import { HASHED_AT_FILING_BYTES } from '../../sandboxes/files/filed-hash.ts';
import { type BundleServer, startBundleServer } from '../../testing/bundle-server.ts';
import { TEST_KEY } from '../../testing/server.ts';

let server: BundleServer;
beforeAll(async () => {
  server = await startBundleServer();
});
afterAll(() => server.stop());

/** A sandbox with a file over 8 MiB that fell asleep a moment ago. */
async function justFiled(): Promise<string> {
  const id = await server.sandbox({ 'workspace/large': Buffer.alloc(HASHED_AT_FILING_BYTES, 'large ') });
  expect((await server.call('POST', `/api/instances/${id}/suspend`, {})).status).toBe(200);
  return id;
}

test.each([
  ['a ship', 'POST', '/instances/:id/ship', {}],
  ['a checkout', 'GET', '/instances/:id/checkout', undefined],
  ['a snapshot', 'POST', '/instances/:id/snapshots', {}],
  ['the raw file', 'GET', '/instances/:id/raw', undefined],
  ['a blueprint', 'POST', '/blueprints', { name: 'early', from_instance: ':id' }],
] as const)(
  '%s of it is refused as unverified, says when to come back, and comes then',
  async (_what, method, at, body) => {
    const id = await justFiled();
    const ask = () => {
      const sent = body && JSON.parse(JSON.stringify(body).replace(':id', id));
      return server.call(method, `/api${at.replace(':id', id)}`, sent);
    };
    const refused = await ask();
    expect([refused.status, refused.json.code, refused.headers['retry-after']]).toEqual([409, 'unverified', '1']);
    expect(refused.json.hint).toContain('hashed now');
    await expect.poll(async () => (await ask()).status, { timeout: 240_000 }).toBeLessThan(300);
  },
);

test('what only reads it is answered meanwhile, and a client comes back by itself, with a call that it would not repeat', async () => {
  const id = await justFiled();
  expect((await server.call('GET', `/api/instances/${id}/volumes/workspace?limit=10`)).status).toBe(200);
  const dock = createClient({ url: server.url, key: TEST_KEY });
  const bundle = await dock.shipInstance(id, {});
  expect((await bundle.bytes()).length).toBeGreaterThan(1000);
  expect(await server.linesOf(`instance=${id}&type=bundle.shipped`)).toHaveLength(1);
});
