/** The past in a store that is a server, where what several sandboxes commit lies in bundles; and while it is away. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { Instance, Moment } from '../../contract/schema.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import {
  connectionTo,
  type S3Server,
  startS3Server,
  useTestKeys,
} from '../../storage/object-store/testing/s3-server.ts';
import { startServer } from '../../testing/server.ts';

const URL = 's3://bucket/past';
const ROUNDS = 6;
const IDS = ['a', 'b', 'c'];

let forgetKeys: () => void;
let store: S3Server;
beforeAll(async () => {
  forgetKeys = useTestKeys();
  store = await startS3Server();
});
afterAll(async () => {
  await store.stop();
  forgetKeys();
});

test('what lies in bundles is read at its second, and what is open is read while the store is away', async () => {
  const root = mkdtempSync(join(tmpdir(), 'winterdock-past-store-'));
  const server = await startServer({
    folder: root,
    clock: systemClock,
    settings: {
      ...{ WB_REPLICA_URL: URL, WB_STORE_ENDPOINT: store.endpoint, WB_STORE_REGION: 'us-east-1' },
      // For the processes that bring what lies by itself.
      ...connectionTo(store.endpoint).credentials,
    },
  });
  const objects = await openObjectStore(URL, connectionTo(store.endpoint));
  try {
    for (const id of IDS) await server.call('POST', '/api/instances', { id, tenant: 'acme' });
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all(
        IDS.map((id) => server.call('PUT', `/api/instances/${id}/volumes/workspace/f`, `${id} ${round}`)),
      );
      await vi.waitFor(
        async () => {
          for (const id of IDS) {
            const { json } = await server.call<Instance>('GET', `/api/instances/${id}`);
            expect(json.recovery_point).toMatchObject({ behind_s: 0 });
          }
        },
        { timeout: 240_000, interval: 100 },
      );
      times.push(Date.now() / 1000);
      await setTimeout(50);
    }
    let bundles = 0;
    for await (const page of objects.list('bundles/acme/')) bundles += page.length;
    expect(bundles).toBeGreaterThan(0);
    const read = (id: string, time: number) =>
      server.call<{ code?: string }>('GET', `/api/instances/${id}/volumes/workspace/f?at=${time}`);
    for (const id of IDS) {
      for (const [round, time] of times.entries()) {
        const { text, headers } = await read(id, time);
        expect([id, round, text]).toEqual([id, round, `${id} ${round}`]);
        expect(Number(headers['x-moment'])).toBeLessThanOrEqual(time);
      }
      const { json: moments } = await server.call<Moment[]>('GET', `/api/instances/${id}/moments`);
      expect(moments.length).toBeGreaterThanOrEqual(ROUNDS);
      expect(moments.every(({ grain_s: grain }) => grain <= 600)).toBe(true);
    }
    await store.stop();
    const [first = 0] = times;
    expect((await read('a', first)).text).toBe('a 0');
    const away = await read('a', first + 0.0123);
    expect([away.status, away.json.code]).toEqual([503, 'storage_unavailable']);
    expect((await read('a', times.at(-1) ?? 0)).text).toBe(`a ${ROUNDS - 1}`);
    expect((await server.call('GET', '/api/instances/a/volumes/workspace/f')).text).toBe(`a ${ROUNDS - 1}`);
  } finally {
    await server.stop();
    await objects.close();
    rmSync(root, { recursive: true, force: true });
  }
});
