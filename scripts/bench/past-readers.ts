/** Memory of the server and its readers while many read at the same time, each a moment of its own. */
import { setTimeout } from 'node:timers/promises';
import { readersOf } from '../../lib/vfs/testing/proc.ts';
import { createCrowd } from './crowd.ts';
import { lastMomentTimes, makeMoments, pastUrl } from './past-moments.ts';
import { pssOf } from './processes.ts';
import type { Places } from './replica-places.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { makeSandbox, suspendSandbox } from './sandboxes.ts';
import { KEY, type Running, startWinterdock, UNLIMITED } from './server.ts';
import { ratioOf } from './statistics.ts';

/** Sandboxes, each of a tenant of its own: what may wait for one tenant has a bound. */
const TENANTS = 10;
const MEBIBYTES = 2;
/** Room for so many opened moments: nobody finds the one that was opened in another turn. */
const CACHED = 8;
const LOOK_MS = 20;
const MIB = 1024 * 1024;
const EXCLUDES = 'the page cache, in which the opened moments are; what is read takes some mebibytes each.';

export async function measurePastReaders(
  places: Places,
  { few, many, rounds }: { few: number; many: number; rounds: number },
): Promise<PartResult> {
  const settings = {
    ...places.settings('folder', 'readers'),
    WB_MOMENTS_CACHE: String(CACHED * (MEBIBYTES + 1) * MIB),
  };
  const server = await startWinterdock({ ...UNLIMITED, WB_REPLICATE: '1s', WB_POOL: '0', ...settings });
  try {
    const ids = Array.from({ length: TENANTS }, (_, n) => `of-${n}`);
    for (const id of ids) await makeSandbox(server, id, { mebibytes: MEBIBYTES, tenant: id });
    const each = Math.ceil(many / TENANTS);
    await makeMoments(server, ids, each);
    for (const id of ids) await suspendSandbox(server, id);
    const times = await Promise.all(ids.map((id) => lastMomentTimes(server, id, each)));
    // Neighbours are of different tenants.
    const urls = Array.from({ length: each }, (_, n) =>
      ids.map((id, of) => pastUrl(server, id, 'volumes/workspace/data-0', times[of]?.[n] ?? 0)),
    ).flat();
    const crowd = createCrowd(many);
    const reading = async (count: number) => [
      await mostMemory(server, () =>
        Promise.all(urls.slice(0, count).map((url, reader) => crowd[reader]?.('GET', url, KEY))),
      ),
    ];
    const found = await roundRobin(rounds, { few: () => reading(few), many: () => reading(many) });
    const what = (readers: number) => `memory (PSS) of the server and its readers while ${readers} read moments`;
    const more = { unit: 'MB', excludes: EXCLUDES };
    return {
      figures: [
        figureOf(`memory while ${many} read different moments / while ${few} do`, ratioOf(found.many, found.few), {
          ...{ unit: '×', bar: 'past: memory of many readers', excludes: EXCLUDES },
        }),
      ],
      series: [seriesOf(what(few), found.few, more), seriesOf(what(many), found.many, { ...more, floor: what(few) })],
    };
  } finally {
    await server.stop();
  }
}

/** The most that the server and its readers take together while `work` runs. */
async function mostMemory(server: Running, work: () => Promise<unknown>): Promise<number> {
  let [most, isDone] = [0, false];
  const working = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    most = Math.max(
      most,
      [server.pid, ...readersOf(server.pid)].reduce((sum, pid) => sum + pssNow(pid), 0),
    );
    await setTimeout(LOOK_MS);
  }
  await working;
  return most;
}

/** Nothing of one that has ended meanwhile. */
function pssNow(pid: number): number {
  try {
    return pssOf(pid);
  } catch {
    return 0;
  }
}
