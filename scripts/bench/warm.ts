/**
 * Paused processes: what they keep of memory, and the first result of a warm sandbox beside a hot one and the floor.
 */
import { setTimeout } from 'node:timers/promises';
import { must, timed } from './measure.ts';
import { pssOf, workersOf } from './processes.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { execIn, makeSandbox, thermalOf } from './sandboxes.ts';
import { FLOOR, KEY, type Running, startAll, startBare, startWinterdock } from './server.ts';
import { percentileOf, ratioOf } from './statistics.ts';

const POLL_MS = 50;
/** Many times what the pause takes at the shortest setting. */
const GIVE_UP_MS = 10_000;
const EXCLUDES = {
  floor: 'a server that does anything.',
  warm: 'a process whose pages the machine has swapped out meanwhile, or one that was paused for hours.',
  pss: 'what its file keeps in the page cache, or a sandbox that has used Python or JavaScript.',
};

/** Waits until a sandbox is paused. False when that does not happen. */
async function becomesWarm(server: Running, id: string): Promise<boolean> {
  const until = performance.now() + GIVE_UP_MS;
  while (performance.now() < until) {
    if ((await thermalOf(server, id)) === 'warm') return true;
    await setTimeout(POLL_MS);
  }
  return false;
}

/**
 * `rounds` turns of each, and the memory of `count` warm sandboxes. Null when this engine pauses no process: then there
 * is nothing to measure.
 */
export async function measureWarm(rounds: number, count: number): Promise<PartResult | null> {
  const settings = { WB_HOT_TO_WARM: '1', WB_TICK_MS: '200', WB_POOL: '0', WB_MAX_ACTIVE: String(count + 2) };
  const [server, bare] = await startAll([startWinterdock(settings), startBare()]);
  const requireWarm = async (id: string) => {
    if (!(await becomesWarm(server, id))) throw new Error(`${id} did not become warm.`);
  };
  try {
    await makeSandbox(server, 'warm');
    await execIn(server, 'warm', 'cat note');
    if (!(await becomesWarm(server, 'warm'))) return null;
    const found = await roundRobin(rounds, {
      bare: once(() => timed(() => must('POST', bare.url, KEY, '{"command":"true"}'))),
      warm: once(async () => {
        await requireWarm('warm');
        return timed(() => execIn(server, 'warm', 'true'));
      }),
      // The one that was just resumed is hot.
      hot: once(async () => {
        await execIn(server, 'warm', 'true');
        return timed(() => execIn(server, 'warm', 'true'));
      }),
    });
    const others = Array.from({ length: count - 1 }, (_, n) => `other-${n}`);
    for (const id of others) {
      await makeSandbox(server, id);
      await execIn(server, id, 'echo hello > note; cat note');
    }
    for (const id of ['warm', ...others]) await requireWarm(id);
    const pss = workersOf(server.pid).map((pid) => [pssOf(pid)]);
    return {
      series: [
        seriesOf(FLOOR, found.bare, { excludes: EXCLUDES.floor }),
        seriesOf('hot exec of `true`', found.hot, { floor: FLOOR, excludes: EXCLUDES.warm }),
        seriesOf('first exec of a warm sandbox', found.warm, { floor: FLOOR, excludes: EXCLUDES.warm }),
      ],
      figures: [
        figureOf('first exec of a warm sandbox / floor', ratioOf(found.warm, found.bare), {
          unit: '×',
          bar: 'warm: first result over the floor',
          excludes: EXCLUDES.warm,
        }),
        figureOf(`PSS of a warm sandbox, median of ${count}`, percentileOf(pss, 0.5), {
          unit: 'MB',
          bar: 'warm: PSS',
          excludes: EXCLUDES.pss,
        }),
      ],
    };
  } finally {
    await Promise.all([server.stop(), bare.stop()]);
  }
}
