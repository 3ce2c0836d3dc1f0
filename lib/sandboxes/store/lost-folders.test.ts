import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { stampOf } from '../../storage/files.ts';
import { instanceId } from '../../testing/plain-ids.ts';
import { livePath } from '../engine.ts';
import { fileRecord } from '../files/file-verification.ts';
import { liveFile, REQUEST, startTestEngine, type TestEngine } from '../testing/test-engine.ts';
import { folderStore } from './testing/folder-store.ts';

/** Where sandboxes are when the folders go, how many of each, and the folder that alone has their newest bytes. */
const KINDS = {
  created: { n: 4, only: null },
  suspended: { n: 20, only: 'live' },
  /** Frozen once, and asleep in the live drawer since, with something newer. */
  newer: { n: 16, only: 'live' },
  /** Awake when the server was killed, with something newer than what is stored. */
  awake: { n: 4, only: 'live' },
  frozen: { n: 20, only: null },
  /** Frozen while the store was away. */
  queued: { n: 8, only: 'cold' },
  archived: { n: 16, only: null },
  /** Archived while the store was away, which has the file as it was frozen. */
  repacked: { n: 4, only: null },
  /** Brought near, and not used. */
  prefetched: { n: 8, only: null },
} as const;
type Kind = keyof typeof KINDS;
const ALL = Object.entries(KINDS).flatMap(([kind, { n }]) =>
  Array.from({ length: n }, (_, nth) => ({ kind: kind as Kind, id: `${kind}-${nth}` })),
);
const FOLDERS = ['live', 'cold', 'archive'] as const;

let template: string;

async function engineOn(folder: string, ack: 'stored' | 'queued' = 'stored'): Promise<TestEngine> {
  const objects = await folderStore(join(folder, 'bucket'));
  return startTestEngine({ dataFolder: join(folder, 'data'), store: { objects, ack } });
}

/** A sandbox at rest in the live drawer, by a copy of another one's file. */
async function settle(dock: TestEngine, id: string): Promise<void> {
  const file = liveFile(dock, id);
  mkdirSync(dirname(file));
  copyFileSync(liveFile(dock, 'first'), file);
  const stamp = stampOf(file);
  if (stamp === null) throw new Error('The copy is not there.');
  await dock.create(id, { vfsPath: livePath(instanceId(id)), file: fileRecord(stamp), bytes: stamp.size });
  await dock.sandboxes.runPlan(id, 'suspended', REQUEST);
}

beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), 'winterdock-lost-folders-'));
  let dock = await engineOn(template);
  dock.sandboxes.start();
  await dock.create('first');
  await dock.put('first', '/kept', 'kept');
  await dock.sandboxes.suspend('first', REQUEST);
  const of = (...kinds: Kind[]) => ALL.filter(({ kind }) => kinds.includes(kind)).map(({ id }) => id);
  for (const id of of('created')) await dock.create(id);
  for (const { id, kind } of ALL) if (kind !== 'created') await settle(dock, id);
  for (const id of of('newer', 'awake', 'frozen', 'archived', 'repacked', 'prefetched')) {
    await dock.sandboxes.freeze(id, REQUEST);
  }
  for (const id of of('archived')) await dock.sandboxes.archive(id, REQUEST);
  for (const id of of('newer')) {
    await dock.put(id, '/newer', 'newer');
    await dock.sandboxes.suspend(id, REQUEST);
  }
  for (const id of of('prefetched')) await dock.sandboxes.prefetch(id, REQUEST);
  await dock.stop();
  // Without `start` nothing is uploaded.
  dock = await engineOn(template, 'queued');
  for (const id of of('queued')) await dock.sandboxes.freeze(id, REQUEST);
  for (const id of of('repacked')) await dock.sandboxes.archive(id, REQUEST);
  for (const id of of('awake')) await dock.put(id, '/newer', 'newer');
  await dock.abandon();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

/** Whether the store alone has all of it. */
function isStored(kind: Kind, gone: readonly string[]): boolean {
  const { only } = KINDS[kind];
  return only === null || !gone.includes(only);
}

describe.each([...FOLDERS.map((name) => [name]), [...FOLDERS]])(
  'a hundred sandboxes whose folder %s is gone',
  (...gone) => {
    let folder: string;
    let dock: TestEngine;
    beforeAll(async () => {
      folder = `${template}-${gone.join('-')}`;
      cpSync(template, folder, { recursive: true, preserveTimestamps: true });
      for (const name of gone) {
        expect(existsSync(join(folder, 'data', name))).toBe(true);
        rmSync(join(folder, 'data', name), { recursive: true });
      }
      dock = await engineOn(folder);
    });
    afterAll(async () => {
      await dock.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    test('what was stored is whole, and of the rest it is said what is missing and since when', async () => {
      expect(ALL).toHaveLength(100);
      for (const { id, kind } of ALL) {
        if (kind === 'created') continue;
        const row = await dock.registry.instances.get(id);
        if (isStored(kind, gone)) {
          expect([id, await dock.get(id, '/kept')]).toEqual([id, 'kept']);
          expect([id, (await dock.registry.instances.get(id))?.fault]).toEqual([id, null]);
          if (kind === 'newer' || kind === 'awake') expect([id, await dock.get(id, '/newer')]).toEqual([id, 'newer']);
          continue;
        }
        await expect(dock.get(id, '/kept'), id).rejects.toMatchObject({ code: 'missing_file' });
        await expect(dock.sandboxes.resume(id, REQUEST), id).rejects.toMatchObject({ code: 'missing_file' });
        expect(await dock.registry.instances.get(id)).toMatchObject({ id, fault: 'missing', stored: row?.stored });
        const { rows } = await dock.registry.ledger.page({ instance: id, type: 'fault.raised' }, 5);
        expect(rows.map(({ reason, timeMs }) => [reason, timeMs])).toEqual([['missing', dock.clock.now()]]);
        if (kind === 'newer' || kind === 'awake') expect(row?.stored?.at).toEqual(expect.any(Number));
        else expect([id, row?.stored]).toEqual([id, null]);
      }
    });

    test('all that the store has wakes, the newest of it where that is asked for by name', async () => {
      for (const { id, kind } of ALL.filter((_, nth) => nth % 8 === 0)) {
        if (!isStored(kind, gone) && kind !== 'newer' && kind !== 'awake') continue;
        const fromStored = !isStored(kind, gone);
        await dock.sandboxes.resume(id, REQUEST, { fromStored });
        expect([id, await dock.run(id, 'cat kept')]).toEqual([id, kind === 'created' ? expect.any(String) : 'kept']);
        await dock.sandboxes.suspend(id, REQUEST);
        expect([id, (await dock.registry.instances.get(id))?.fault]).toEqual([id, null]);
      }
    });

    test('what was not uploaded yet is, where it is there', async () => {
      dock.sandboxes.start();
      const left = gone.includes('cold') ? KINDS.queued.n : 0;
      await vi.waitFor(async () => expect((await dock.registry.instances.uploadBacklog()).n).toBe(left), 240_000);
    });
  },
);
