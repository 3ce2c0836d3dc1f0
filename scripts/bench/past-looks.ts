/** The first folder of a large sandbox as it was, beside its bytes alone; and the next one, when its file is there. */
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openObjectStore } from '../../lib/storage/object-store/open-store.ts';
import { connectionTo } from '../../lib/storage/object-store/testing/s3-server.ts';
import type { BarName } from './bars.ts';
import { copied } from './copied.ts';
import { must, timed } from './measure.ts';
import { lastMomentTimes, makeMoments, pastUrl } from './past-moments.ts';
import { PLACE_NAMES, PLACES, type PlaceName, type Places, untilShipped } from './replica-places.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { makeSandbox, suspendSandbox } from './sandboxes.ts';
import { KEY, startWinterdock, UNLIMITED } from './server.ts';
import { percentileOf, ratioOf } from './statistics.ts';

const ID = 'large';
const BARE = 'bare';
const FOLDER = 'folders/workspace?path=/&limit=100';
/** Of the moments that were opened: the next one has to make room, as on a server that is used. */
const CACHED = 3;
const MIB = 1024 * 1024;
const EXCLUDES = {
  folder: 'a disk that has to be read, or hours of commits: the bytes are in memory, and the chain is short.',
  store: 'a network, or hours of commits: the store is a process of this machine that holds each answer back.',
};

interface LookSizes {
  mebibytes: number;
  rounds: number;
}

/** Each look is at another moment of a sandbox of `mebibytes`. */
export async function measurePastLooks(places: Places, sizes: LookSizes): Promise<PartResult> {
  const result: PartResult = { series: [], figures: [] };
  for (const place of PLACE_NAMES) await measurePlace(places, place, sizes, result);
  return result;
}

async function measurePlace(
  places: Places,
  place: PlaceName,
  { mebibytes, rounds }: LookSizes,
  { series, figures }: PartResult,
): Promise<void> {
  const settings = places.settings(place, 'past');
  const cache = { WB_MOMENTS_CACHE: String(CACHED * (mebibytes + 8) * MIB) };
  const server = await startWinterdock({ ...UNLIMITED, WB_REPLICATE: '1s', ...cache, ...settings });
  const store = await openObjectStore(settings.WB_REPLICA_URL ?? '', connectionTo(places.endpoint));
  const target = join(server.folder, 'made.sqlite');
  try {
    await makeSandbox(server, ID, { mebibytes });
    await suspendSandbox(server, ID);
    await untilShipped(server, ID);
    const file = join(server.folder, 'live', ID, 'vfs.sqlite');
    if (place === 'store') await store.upload(BARE, file);
    await makeMoments(server, [ID], rounds + 1);
    const left = (await lastMomentTimes(server, ID, rounds + 1)).values();
    let last = 0;
    const look = (timeMs: number) => timed(() => must('GET', pastUrl(server, ID, FOLDER, timeMs), KEY));
    const again: number[][] = [];
    const found = await roundRobin(rounds, {
      floor: async () => {
        const from = place === 'store' ? await store.open(BARE) : createReadStream(file, { highWaterMark: MIB });
        const took = await timed(() => copied(from, target, { durable: false }));
        rmSync(target);
        return [took];
      },
      first: async (round) => {
        last = left.next().value ?? 0;
        const took = await look(last);
        const second = await look(last);
        if (round >= 0) again.push([second]);
        return [took];
      },
    });
    const [of, excludes] = [PLACES[place].replace('to', 'from'), EXCLUDES[place]];
    const floor = `${mebibytes} MiB ${of}: read, hashed and written`;
    const first = `the first folder as of an hour ago, ${mebibytes} MiB ${of}`;
    const bars: Record<PlaceName, [BarName, string]> = {
      folder: ['past: first folder', 'ms'],
      store: ['past: first folder over a download', '×'],
    };
    const [bar, unit] = bars[place];
    figures.push(
      figureOf(
        place === 'folder' ? first : `${first} / read, hashed and written`,
        place === 'folder' ? percentileOf(found.first, 0.5) : ratioOf(found.first, found.floor),
        { unit, bar, excludes },
      ),
      figureOf(`the same folder once more, ${mebibytes} MiB ${of}`, percentileOf(again, 0.5), {
        ...{ unit: 'ms', bar: 'past: second look', excludes },
      }),
    );
    series.push(
      seriesOf(floor, found.floor, { excludes }),
      seriesOf(`${first}: made and listed`, found.first, { floor, excludes }),
      seriesOf(`${first}: listed once more`, again, { floor, excludes }),
    );
  } finally {
    await store.close();
    await server.stop();
  }
}
