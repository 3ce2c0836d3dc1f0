import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { markedStore } from './marked-store.ts';
import { openObjectStore } from './open-store.ts';
import { watchedStore } from './watched-store.ts';

const CONNECTION = { endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} };

test('an upload into a bucket without the marker of the installation does not count, nor what is found there', async () => {
  const root = mkdtempSync(join(tmpdir(), 'winterdock-marked-'));
  const bucket = join(root, 'bucket');
  const store = await openObjectStore(`file://${bucket}`, CONNECTION);
  writeFileSync(join(bucket, 'winterdock.json'), JSON.stringify({ id: 'ours', term: 1 }));
  const watched = watchedStore(store, { installation: 'ours' });
  onTestFinished(async () => {
    await watched.close();
    rmSync(root, { recursive: true, force: true });
  });
  const marked = markedStore(watched.foreground, watched);
  const file = join(root, 'file');
  writeFileSync(file, 'bytes');
  expect(await marked.upload('a/one', file)).toMatchObject({ bytes: 5 });
  expect(await marked.head('a/one')).toMatchObject({ bytes: 5 });
  renameSync(join(bucket, 'winterdock.json'), join(root, 'kept'));
  await expect(marked.upload('a/two', file)).rejects.toMatchObject({ code: 'storage_unavailable' });
  await expect(marked.head('a/one')).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(existsSync(join(bucket, 'a/one'))).toBe(true);
  writeFileSync(join(bucket, 'winterdock.json'), readFileSync(join(root, 'kept')));
  await watched.check();
  expect(await marked.head('a/one')).toMatchObject({ bytes: 5 });
});
