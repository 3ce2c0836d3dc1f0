/** The whole way: a real server ships, is killed, loses its disk, and is restored by one command. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { numbersOf } from '../replication/testing/history.ts';
import { DAY, DRAWN_BY, partOf } from '../testing/draw.ts';
import { DRILL_STORES, openDrillStore } from '../testing/drill-stores.ts';
import { drillReplica } from '../testing/replica-drill.ts';
import { expectWhole, populate, type ServerContent } from './testing/server-content.ts';

const root = mkdtempSync(join(tmpdir(), 'winterdock-drill-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('a server that is killed while it is written to, and loses its disk, comes back with every state and every sandbox', async () => {
  let world: ServerContent | null = null;
  const report = await drillReplica({
    folder: root,
    seconds: 6,
    clients: 3,
    async populate(server) {
      world = await populate(server);
    },
    async prove(server) {
      if (world !== null) await expectWhole(server, world);
    },
  });
  expect(report.wrong).toEqual([]);
  expect(report.doctor).toMatchObject({ isClean: true });
  expect(report.answered).toBeGreaterThan(0);
  expect(report.lost).toBeLessThan(report.answered);
});

const FAR = DRILL_STORES.filter((name) => name !== 'folder');
for (const name of partOf(FAR, FAR.length, DAY)) {
  test(`the same from a store of the kind \`${name}\``, async () => {
    const store = await openDrillStore(name, numbersOf(DAY));
    if (store === null) throw new Error('There is no store.');
    const { settings, calm, stop } = store;
    try {
      const folder = join(root, name);
      const options = { folder, url: settings.WB_REPLICA_URL ?? '', settings, seconds: 2, clients: 2, killed: calm };
      const report = await drillReplica(options);
      expect(report.wrong, DRAWN_BY).toEqual([]);
      expect(report.doctor).toMatchObject({ isClean: true });
      expect(report.answered).toBeGreaterThan(0);
    } finally {
      await stop();
    }
  });
}

test('a server whose answers wait for the replica loses none of them with its disk', async () => {
  const folder = join(root, 'sync');
  const report = await drillReplica({ folder, seconds: 6, clients: 4, settings: { WB_REPLICATE: 'sync' } });
  expect(report).toMatchObject({ wrong: [], lost: 0, lagMs: 0, doctor: { isClean: true } });
  expect(report.answered).toBeGreaterThan(4);
});
