/** The file of a large sandbox made from its replica, beside the same bytes read, hashed and written to the disk. */
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findMoment, restoreMoment } from '../../lib/replication/moments/replica-reader.ts';
import { openObjectStore } from '../../lib/storage/object-store/open-store.ts';
import { connectionTo } from '../../lib/storage/object-store/testing/s3-server.ts';
import { copied } from './copied.ts';
import { timed } from './measure.ts';
import { PLACE_NAMES, PLACES, type PlaceName, type Places, untilShipped } from './replica-places.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { makeSandbox, suspendSandbox } from './sandboxes.ts';
import { startWinterdock, UNLIMITED } from './server.ts';
import { ratioOf } from './statistics.ts';

const ID = 'large';
const BARE = 'bare';
const EXCLUDES = {
  folder: 'a disk that has to be read: the bytes are in memory.',
  store: 'a network: the store is a process of this machine that holds each answer back.',
};

/** Of a sandbox of `mebibytes`, `rounds` times from each place. */
export async function measureReplicaRestore(places: Places, mebibytes: number, rounds: number): Promise<PartResult> {
  const result: PartResult = { series: [], figures: [] };
  for (const place of PLACE_NAMES) await measurePlace(places, place, { mebibytes, rounds, result });
  return result;
}

interface PlaceSizes {
  mebibytes: number;
  rounds: number;
  result: PartResult;
}

async function measurePlace(places: Places, place: PlaceName, { mebibytes, rounds, result }: PlaceSizes) {
  const settings = places.settings(place, 'restore');
  const server = await startWinterdock({ ...UNLIMITED, WB_REPLICATE: '1s', ...settings });
  const store = await openObjectStore(settings.WB_REPLICA_URL ?? '', connectionTo(places.endpoint));
  const target = join(server.folder, 'made.sqlite');
  try {
    await makeSandbox(server, ID, { mebibytes });
    await suspendSandbox(server, ID);
    await untilShipped(server, ID);
    const file = join(server.folder, 'live', ID, 'vfs.sqlite');
    if (place === 'store') await store.upload(BARE, file);
    const found = await roundRobin(rounds, {
      floor: async () => {
        const took = await timed(async () =>
          copied(
            place === 'store' ? await store.open(BARE) : createReadStream(file, { highWaterMark: 2 ** 20 }),
            target,
          ),
        );
        rmSync(target);
        return [took];
      },
      restore: async () => {
        const took = await timed(async () => {
          const moment = await findMoment(store, ID, null, null);
          if (moment === null) throw new Error('The replica has nothing of it.');
          await restoreMoment(store, moment, { target, tmp: join(server.folder, 'brought') });
        });
        rmSync(target);
        return [took];
      },
    });
    const [of, excludes] = [PLACES[place].replace('to', 'from'), EXCLUDES[place]];
    const floor = `${mebibytes} MiB ${of}: read, hashed, written and synced`;
    result.figures.push(
      figureOf(`a restore of ${mebibytes} MiB ${of} / read, hashed, written`, ratioOf(found.restore, found.floor), {
        ...{ unit: '×', bar: 'replica: restore', excludes },
      }),
    );
    result.series.push(
      seriesOf(floor, found.floor, { excludes }),
      seriesOf(`${mebibytes} MiB ${of}: made from its segments`, found.restore, { floor, excludes }),
    );
  } finally {
    await store.close();
    await server.stop();
  }
}
