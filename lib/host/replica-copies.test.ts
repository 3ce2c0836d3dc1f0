import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { copyInReplica } from '../backup/replica-extras.ts';
import { createLogger } from '../base/log.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { connectionTo } from '../storage/object-store/testing/s3-server.ts';
import { filesIn } from '../testing/files-in.ts';
import { startServer } from '../testing/server.ts';
import { ReplicaCopies } from './replica-copies.ts';

const DAY_SECONDS = 86_400;

test('the file of a deleted snapshot leaves the replica once no kept moment of the registry needs it, and no other does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-copies-'));
  const { call, host, clock, stop } = await startServer();
  const store = await openObjectStore(pathToFileURL(join(folder, 'store')).href, connectionTo(''));
  try {
    const taken: { id: string; hash: string }[] = [];
    for (const id of ['kept', 'gone', 'again']) {
      await call('POST', '/api/instances', { id, tenant: 'acme' });
      await call('PUT', `/api/instances/${id}/volumes/workspace/what`, id);
      const { json } = await call<{ id: string; hash: string }>('POST', `/api/instances/${id}/snapshots`, {});
      taken.push({ id: json.id, hash: json.hash.replace('sha256:', '') });
      await store.put(copyInReplica('snapshot', json.hash.replace('sha256:', '')), Buffer.from(id));
    }
    const [kept, gone, again] = taken.map(({ hash }) => copyInReplica('snapshot', hash));
    const forgotten: string[] = [];
    const notes = join(folder, 'replica', 'notes.json');
    const made = () =>
      new ReplicaCopies({
        ...{ store, registry: host.registry, clock, log: createLogger('silent'), notes },
        keepMs: 7 * DAY_SECONDS * 1000,
        forget: (name) => forgotten.push(name),
      });
    const there = () => filesIn(join(folder, 'store')).filter((name) => name.startsWith('replica/'));
    expect(await made().run()).toBe(0);
    for (const { id } of taken.slice(1)) expect((await call('DELETE', `/api/snapshots/${id}`)).status).toBe(204);
    expect(await made().run()).toBe(0);
    clock.advance(8 * DAY_SECONDS);
    // The same bytes are kept once more: their time begins anew when they are not needed again.
    const anew = await call<{ id: string }>('POST', '/api/instances/again/snapshots', {});
    expect(await made().run()).toBe(0);
    await call('DELETE', `/api/snapshots/${anew.json.id}`);
    clock.advance(2 * DAY_SECONDS);
    expect(await made().run()).toBe(1);
    expect(there()).toEqual([kept, again].toSorted());
    expect(forgotten).toEqual([gone]);
    // Without its notes it only waits once more.
    writeFileSync(notes, '{"half');
    clock.advance(8 * DAY_SECONDS);
    expect(await made().run()).toBe(0);
    expect(await made().removeUnneeded(() => false)).toBe(1);
    expect(there()).toEqual([kept]);
  } finally {
    await store.close();
    await stop();
    rmSync(folder, { recursive: true });
  }
});
