import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { parseRetention } from '../base/replica-retention.ts';
import { Cutter } from '../replication/log/cutter.ts';
import { newSeries, segmentName } from '../replication/names/replica-names.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { connectionTo } from '../storage/object-store/testing/s3-server.ts';
import { filesIn } from '../testing/files-in.ts';
import { startServer } from '../testing/server.ts';
import { ReplicaRetention } from './replica-retention.ts';

const DAY_MS = 86_400_000;

test('a round removes what no kept moment needs, of every sandbox, and the last state of none that is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-retention-'));
  const { call, host, stop } = await startServer();
  const store = await openObjectStore(pathToFileURL(folder).href, connectionTo(''));
  const cutter = new Cutter();
  const now = Date.now();
  try {
    await call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
    for (const id of ['a', 'unknown', '_registry']) {
      for (const days of [20, 10, 9]) {
        const series = newSeries(1, now - days * DAY_MS);
        await store.put(segmentName({ id, series, level: 9, min: 1, max: 1 }), Buffer.from('base'));
      }
    }
    const round = (text: string) => {
      const keeps = parseRetention(text);
      if (keeps === null) throw new Error(text);
      const parts = { store, registry: host.registry, clock: systemClock, log: createLogger('silent'), cutter };
      return new ReplicaRetention({
        ...parts,
        keeps,
        tmp: join(folder, 'tmp'),
        levels: { add: () => undefined },
      }).run();
    };
    expect(await round('228h')).toBe(3);
    expect(await round('7d')).toBe(3);
    expect(filesIn(folder).filter((name) => name.startsWith('replica/'))).toHaveLength(3);
  } finally {
    await cutter.close();
    await store.close();
    await stop();
    rmSync(folder, { recursive: true });
  }
});
