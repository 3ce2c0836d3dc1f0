import { rmSync, statSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isCloudAddress } from '../../base/cloud-address.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import {
  connectionTo,
  type S3Server,
  startS3Server,
  useTestKeys,
} from '../../storage/object-store/testing/s3-server.ts';
import { type WatchedStore, watchedStore } from '../../storage/object-store/watched-store.ts';
import { REQUEST } from '../testing/test-engine.ts';
import { storeStage } from './testing/store-stage.ts';

const at = storeStage();
let server: S3Server;
let objects: ObjectStore;
let forgetKeys: () => void;
beforeAll(async () => {
  forgetKeys = useTestKeys();
  server = await startS3Server();
  objects = await openObjectStore('s3://bucket/of/ours', connectionTo(server.endpoint));
  await objects.put('winterdock.json', Buffer.from(JSON.stringify({ id: 'ours', term: 1 })));
});
afterAll(async () => {
  await objects.close();
  await server.stop();
  forgetKeys();
});

/** As a host uses it. */
function startOn(watched: WatchedStore) {
  return at.start({
    objects: watched.foreground,
    background: watched.background,
    isMissing: (name, signal) => watched.isMissing(name, signal),
  });
}

test('sandboxes rest in a store that speaks S3, wake from it, are read in it and leave nothing there', async () => {
  const watched = watchedStore(objects, { installation: 'ours' });
  await startOn(watched);
  for (const [id, state, kind] of [
    ['cold', 'frozen', 'cold'],
    ['packed', 'archived', 'archive'],
  ] as const) {
    await at.rest(id, state);
    expect(isCloudAddress((await at.rowOf(id)).vfsPath)).toBe(true);
    rmSync(at.copyOf(id, kind));
    expect(await at.dock.get(id, '/kept')).toBe(`of ${id}`);
    expect(statSync(at.copyOf(id, kind)).size).toBeGreaterThan(0);
    rmSync(at.copyOf(id, kind));
    expect((await at.dock.sandboxes.resume(id, REQUEST)).source).toBe('cloud');
    expect(await at.dock.get(id, '/kept', 'memory')).toBe(`of ${id}`);
    await at.dock.sandboxes.runPlan(id, 'deleted', REQUEST);
  }
  at.dock.clock.advance(86_400_000 * 2);
  await at.dock.sandboxes.store?.collect();
  const left: string[] = [];
  for await (const page of objects.list('')) left.push(...page.map(({ name }) => name));
  expect(left).toEqual(['winterdock.json']);
  await at.dock.stop();
  await watched.close();
});
