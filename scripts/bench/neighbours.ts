/** What a busy tenant takes from a quiet one: the same calls with and without neighbours that loop, in turns. */
import { setTimeout } from 'node:timers/promises';
import { createCrowd, loopFor } from './crowd.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { execIn, makeSandbox } from './sandboxes.ts';
import { FLOOR, KEY, startAll, startBare, startWinterdock, UNLIMITED } from './server.ts';
import { ratioOf } from './statistics.ts';

const NEIGHBOURS = 8;
/** Some tens of milliseconds of work in the shell, again and again. */
const LOOP = 'i=0; while [ $i -lt 100 ]; do i=$((i+1)); done';
/** Neighbours loop for so long before the calls: whoever takes the processors gives way after two seconds. */
const LEAD_MS = 3000;
const EXCLUDES = {
  floor: 'a server that does anything, or neighbours.',
  quiet: 'sandboxes of the same tenant, which share what their tenant has.',
  busy: 'the first seconds of the loops, neighbours that wait for a disk, or a machine with a processor for each.',
};

/** `rounds` turns of `sliceMs` for each. */
export async function measureNeighbours(rounds: number, sliceMs: number): Promise<PartResult> {
  const [server, bare] = await startAll([startWinterdock(UNLIMITED), startBare()]);
  const neighbours = createCrowd(NEIGHBOURS);
  const quietClient = createCrowd(1);
  const callQuietly = async () =>
    (await loopFor(quietClient, sliceMs, (_, ask) => execIn(server, 'quiet', 'true', ask))).samples;
  try {
    await makeSandbox(server, 'quiet', { tenant: 'quiet' });
    await execIn(server, 'quiet', 'true');
    for (let n = 0; n < NEIGHBOURS; n += 1) {
      await makeSandbox(server, `loop-${n}`, { tenant: 'busy' });
      await execIn(server, `loop-${n}`, LOOP);
    }
    const found = await roundRobin(rounds, {
      bare: async () => (await loopFor(quietClient, sliceMs / 4, (_, ask) => ask('POST', bare.url, KEY, '{}'))).samples,
      quiet: callQuietly,
      busy: async () => {
        const looping = loopFor(neighbours, LEAD_MS + sliceMs, (n, ask) => execIn(server, `loop-${n}`, LOOP, ask));
        await setTimeout(LEAD_MS);
        const [samples] = await Promise.all([callQuietly(), looping]);
        return samples;
      },
    });
    const beside = `hot exec of \`true\` beside ${NEIGHBOURS} busy sandboxes of another tenant`;
    return {
      series: [
        seriesOf(FLOOR, found.bare, { excludes: EXCLUDES.floor }),
        seriesOf('hot exec of `true`, all quiet', found.quiet, { floor: FLOOR, excludes: EXCLUDES.quiet }),
        seriesOf('hot exec of `true`, busy neighbours', found.busy, { floor: FLOOR, excludes: EXCLUDES.busy }),
      ],
      figures: [
        figureOf(`${beside} / quiet`, ratioOf(found.busy, found.quiet), {
          unit: '×',
          bar: 'neighbours: p50',
          excludes: EXCLUDES.busy,
        }),
        figureOf(`p99 of a ${beside} / p50 of quiet`, ratioOf(found.busy, found.quiet, 0.99), {
          unit: '×',
          bar: 'neighbours: p99',
          excludes: EXCLUDES.busy,
        }),
      ],
    };
  } finally {
    await Promise.all([server.stop(), bare.stop()]);
  }
}
