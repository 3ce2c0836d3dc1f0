/** Hundreds of hot sandboxes at the same time: all are asked at once and answer, and what they take of memory. */
import { setTimeout } from 'node:timers/promises';
import { createCrowd, workThrough } from './crowd.ts';
import { pssOf, workersOf } from './processes.ts';
import { figureOf, type PartResult, seriesOf, single } from './result.ts';
import { execIn, makeSandbox, NOTE, thermalOf } from './sandboxes.ts';
import { startWinterdock, UNLIMITED } from './server.ts';
import { estimateOf, percentileOf } from './statistics.ts';

/** Sandboxes that are made at the same time: more would only wait for the processors. */
const MAKERS = 2;
const SETTLE_MS = 10_000;
const MEBIBYTES_PER_GIBIBYTE = 1024;
const EXCLUDES = {
  asked: 'work: each runs one `cat`, and the clients take a part of the same processors.',
  memory: 'what their files keep in the page cache, and Python or JavaScript in use.',
};

/** `count` hot sandboxes, asked all at once `rounds` times. Throws when one is refused, wrong or no longer hot. */
export async function measureDensity(count: number, rounds: number, settleMs = SETTLE_MS): Promise<PartResult> {
  const server = await startWinterdock({
    ...UNLIMITED,
    WB_POOL: '0',
    WB_MAX_ACTIVE: String(count),
    WB_HOT_TO_WARM: '0',
    WB_IDLE_TO_SUSPEND: '86400',
  });
  const ids = Array.from({ length: count }, (_, n) => `hot-${n}`);
  try {
    await workThrough(createCrowd(MAKERS), ids, async (id) => {
      await makeSandbox(server, id);
      await execIn(server, id, 'cat note');
    });
    await setTimeout(settleMs);
    const crowd = createCrowd(count);
    const slices: number[][] = [];
    const totals: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const { samples, totalMs } = await workThrough(crowd, ids, async (id, ask) => {
        const note = await execIn(server, id, 'cat note', ask);
        if (note !== NOTE) throw new Error(`${id} said ${JSON.stringify(note)}`);
      });
      slices.push(samples);
      totals.push(totalMs / 1000);
    }
    for (const id of ids) {
      const thermal = await thermalOf(server, id);
      if (thermal !== 'hot') throw new Error(`${id} is ${thermal}`);
    }
    const pss = workersOf(server.pid).map((pid) => pssOf(pid));
    if (pss.length !== count) throw new Error(`${pss.length} processes instead of ${count}`);
    const samplesOfPss = pss.map((one) => [one]);
    const total = pss.reduce((sum, one) => sum + one, 0) / MEBIBYTES_PER_GIBIBYTE;
    return {
      series: [seriesOf(`${count} hot sandboxes asked at once`, slices, { excludes: EXCLUDES.asked })],
      figures: [
        figureOf('hot at the same time, all answered', single(count), { unit: 'sandboxes', excludes: EXCLUDES.asked }),
        figureOf('all answered after', estimateOf(totals), { unit: 's', excludes: EXCLUDES.asked }),
        figureOf('PSS of all of them', single(total), { unit: 'GB', excludes: EXCLUDES.memory }),
        figureOf('PSS of one, median', percentileOf(samplesOfPss, 0.5), { unit: 'MB', excludes: EXCLUDES.memory }),
      ],
    };
  } finally {
    await server.stop();
  }
}
