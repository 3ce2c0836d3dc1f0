/** First commands of frozen sandboxes, small and large, beside a hot one and the floor, in turn. */
import { setTimeout } from 'node:timers/promises';
import { must, timed } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { execIn, freezeSandbox, makeSandbox, poolReady, SPARE_WORKERS } from './sandboxes.ts';
import { FLOOR, KEY, type Running, startAll, startBare, startWinterdock } from './server.ts';
import { ratioOf } from './statistics.ts';

const EXCLUDES = {
  floor: 'a server that does anything: it parses nothing, asks no registry and starts nothing.',
  hot: 'a command that does work, a second client, or a network.',
  wake: 'a wake that finds no started worker in waiting, or one beside other wakes: that is the burst.',
  second: 'wakes that come faster than workers start: that is the burst.',
};

/** After which the worker that takes the place of the last one starts, and then rehearses. */
const BESIDE_MS = 60;
/** In which the worker that was started in place of the last one is done with its rehearsal. */
const REST_MS = 300;

/** Milliseconds of the first `exec` of a frozen sandbox, over HTTP, with started workers waiting and none starting. */
export async function firstExec(server: Running, id: string): Promise<number> {
  await freezeSandbox(server, id);
  await poolReady(server);
  await setTimeout(REST_MS);
  return timed(() => execIn(server, id, 'true'));
}

/** The same of one that is woken just after another, while a worker starts in place of the other's. */
async function secondExec(server: Running, id: string, other: string): Promise<number> {
  await freezeSandbox(server, id);
  await firstExec(server, other);
  await setTimeout(BESIDE_MS);
  return timed(() => execIn(server, id, 'true'));
}

/** `rounds` turns of each contender; a large sandbox of so many mebibytes. */
export async function measureWakes(size: { rounds: number; largeMebibytes: number }): Promise<PartResult> {
  const [server, bare] = await startAll([startWinterdock({ WB_POOL: String(SPARE_WORKERS) }), startBare()]);
  const large = `${size.largeMebibytes} MB`;
  try {
    await makeSandbox(server, 'hot', { mebibytes: 1 });
    await makeSandbox(server, 'small', { mebibytes: 1 });
    await makeSandbox(server, 'other', { mebibytes: 1 });
    await makeSandbox(server, 'large', { mebibytes: size.largeMebibytes });
    for (const id of ['hot', 'small', 'other', 'large']) await execIn(server, id, 'true');
    const found = await roundRobin(size.rounds, {
      bare: once(() => timed(() => must('POST', bare.url, KEY, '{"command":"true"}'))),
      hot: once(() => timed(() => execIn(server, 'hot', 'true'))),
      small: once(() => firstExec(server, 'small')),
      large: once(() => firstExec(server, 'large')),
      second: once(() => secondExec(server, 'small', 'other')),
    });
    const wake = 'first exec of a frozen sandbox';
    const { floor: excludes } = EXCLUDES;
    return {
      series: [
        seriesOf(FLOOR, found.bare, { excludes }),
        seriesOf('hot exec of `true`', found.hot, { floor: FLOOR, excludes: EXCLUDES.hot }),
        seriesOf('first exec of a frozen 1 MB sandbox', found.small, { floor: FLOOR, excludes: EXCLUDES.wake }),
        seriesOf(`first exec of a frozen ${large} sandbox`, found.large, { floor: FLOOR, excludes: EXCLUDES.wake }),
        seriesOf('the same of 1 MB, just after another wake', found.second, {
          floor: FLOOR,
          excludes: EXCLUDES.second,
        }),
      ],
      figures: [
        figureOf('hot exec / floor', ratioOf(found.hot, found.bare), {
          unit: '×',
          bar: 'wakes: hot exec over the floor',
          excludes: EXCLUDES.hot,
        }),
        figureOf(`${wake} / floor, p50`, ratioOf(found.small, found.bare), {
          unit: '×',
          bar: 'wakes: first exec over the floor, p50',
          excludes: EXCLUDES.wake,
        }),
        figureOf(`p99 of a ${wake} / p50 of the floor`, ratioOf(found.small, found.bare, 0.99), {
          unit: '×',
          bar: 'wakes: first exec over the floor, p99',
          excludes: EXCLUDES.wake,
        }),
        figureOf('a wake just after another / one alone', ratioOf(found.second, found.small), {
          unit: '×',
          bar: 'wakes: after another',
          excludes: EXCLUDES.second,
        }),
        figureOf(`frozen ${large} / frozen 1 MB`, ratioOf(found.large, found.small), {
          unit: '×',
          bar: 'wakes: large over small',
          excludes: 'files that lie on another file system than the live ones, or in an object store.',
        }),
      ],
    };
  } finally {
    await Promise.all([server.stop(), bare.stop()]);
  }
}
