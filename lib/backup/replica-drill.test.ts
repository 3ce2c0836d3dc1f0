/** The whole way: a real server ships, is killed, loses its disk, and is restored by one command. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { drillReplica } from '../testing/replica-drill.ts';
import { expectWhole, populate, type ServerContent } from './testing/server-content.ts';

vi.setConfig({ testTimeout: 180_000 });

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
