/** Writes and suspensions of sandboxes whose commits are shipped each second, beside those of one that is not. */
import { setTimeout } from 'node:timers/promises';
import { createAsk, must, timed } from './measure.ts';
import { PLACE_NAMES, PLACES, type Places } from './replica-places.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { execIn, fileUrl, makeSandbox, suspendSandbox } from './sandboxes.ts';
import { KEY, type Running, startAll, startWinterdock, UNLIMITED } from './server.ts';
import { ratioOf, type Slices } from './statistics.ts';

const ID = 'hot';
/** In which the worker that takes the place of the last one is started, and what was filed is checked and shipped. */
const REST_MS = 700;
const EXCLUDES = {
  write: 'a disk that the replica shares with the data folder and keeps busy, or more than one sandbox.',
  suspend: 'a sandbox that has written for a long time without a checkpoint.',
};

export interface HotSizes {
  rounds: number;
  /** Milliseconds of writes in each turn. */
  sliceMs: number;
  suspensions: number;
}

type Found = Record<'without' | keyof typeof PLACES, Slices>;

export async function measureHotReplica(places: Places, { rounds, sliceMs, suspensions }: HotSizes) {
  const settings = { ...UNLIMITED, WB_HOT_TO_WARM: '0', WB_REPLICATE: '1s' };
  const [without, folder, store] = await startAll([
    startWinterdock(settings),
    startWinterdock({ ...settings, ...places.settings('folder', 'hot') }),
    startWinterdock({ ...settings, ...places.settings('store', 'hot') }),
  ]);
  const servers = { without, folder, store };
  const asks = { without: createAsk(), folder: createAsk(), store: createAsk() };
  let written = 0;
  const writes = async (of: keyof typeof servers) => {
    const samples: number[] = [];
    const until = performance.now() + sliceMs;
    do {
      written += 1;
      const body = Buffer.from(`line ${written}\n`);
      samples.push(await timed(() => asks[of]('PUT', fileUrl(servers[of], ID, 'n'), KEY, body)));
    } while (performance.now() < until);
    return samples;
  };
  const suspension = async (of: Running) => {
    written += 1;
    await execIn(of, ID, `echo ${written} >> log`);
    await setTimeout(REST_MS);
    await execIn(of, ID, 'echo again >> log');
    return [await timed(() => suspendSandbox(of, ID))];
  };
  try {
    for (const server of Object.values(servers)) await makeSandbox(server, ID, { mebibytes: 1 });
    const result: PartResult = { series: [], figures: [] };
    const hot = await roundRobin(rounds, {
      without: () => writes('without'),
      folder: () => writes('folder'),
      store: () => writes('store'),
    });
    add(result, 'a hot write', hot, { bar: 'replica: hot write', excludes: EXCLUDES.write });
    const filed = await roundRobin(suspensions, {
      without: () => suspension(without),
      folder: () => suspension(folder),
      store: () => suspension(store),
    });
    add(result, 'a suspension', filed, { bar: 'replica: suspension', excludes: EXCLUDES.suspend });
    await requireShipped(folder);
    await requireShipped(store);
    return result;
  } finally {
    for (const server of Object.values(servers)) await server.stop();
  }
}

/** Throws when nothing was shipped: it would have been measured what is not done. */
async function requireShipped(server: Running): Promise<void> {
  const { body } = await must('GET', `${server.url}/api/instances/${ID}`, KEY);
  const { at } = JSON.parse(body.toString()).recovery_point;
  if (at === null) throw new Error('Nothing was shipped.');
}

function add(
  { series, figures }: PartResult,
  what: string,
  found: Found,
  { bar, excludes }: { bar: 'replica: hot write' | 'replica: suspension'; excludes: string },
): void {
  const floor = `${what}, without a replica`;
  series.push(seriesOf(floor, found.without, { excludes }));
  for (const place of PLACE_NAMES) {
    const estimate = ratioOf(found[place], found.without);
    figures.push(figureOf(`${what} with \`1s\` ${PLACES[place]} / without`, estimate, { unit: '×', bar, excludes }));
    series.push(seriesOf(`${what}, \`1s\` ${PLACES[place]}`, found[place], { floor, excludes }));
  }
}
