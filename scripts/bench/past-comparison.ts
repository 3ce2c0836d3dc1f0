/** What differs between two moments of a sandbox of many files. */
import { must, timed } from './measure.ts';
import { lastMomentTimes, pastUrl } from './past-moments.ts';
import { type Places, untilShipped } from './replica-places.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { execIn, makeSandbox, suspendSandbox } from './sandboxes.ts';
import { KEY, startWinterdock, UNLIMITED } from './server.ts';
import { percentileOf } from './statistics.ts';

const ID = 'many';
/** Files that one command makes: a loop of the shell has a bound. */
const AT_ONCE = 1000;
/** Every so many of them is another one afterwards. */
const CHANGED = 100;
const EXCLUDES = 'files of more than some bytes, each of which is hashed, or a disk that has to be read.';

export async function measurePastComparison(
  places: Places,
  { files, rounds }: { files: number; rounds: number },
): Promise<PartResult> {
  const settings = places.settings('folder', 'compared');
  const server = await startWinterdock({ ...UNLIMITED, WB_REPLICATE: '1s', ...settings });
  const [first, again]: [number[][], number[][]] = [[], []];
  try {
    await makeSandbox(server, ID);
    const write = async (step: number, text: string) => {
      for (let from = 1; from <= files; from += AT_ONCE * step) {
        const to = Math.min(files, from + AT_ONCE * step - 1);
        const name = '$((n / 100))/$n';
        await execIn(
          server,
          ID,
          `for n in $(seq ${from} ${step} ${to}); do mkdir -p $((n / 100)); echo ${text} $n > ${name}; done`,
        );
      }
    };
    const filed = async (step: number, text: string) => {
      await write(step, text);
      await suspendSandbox(server, ID);
      await untilShipped(server, ID);
      return (await lastMomentTimes(server, ID, 1))[0] ?? 0;
    };
    await filed(1, 'first');
    for (let round = 0; round < rounds; round += 1) {
      // Nobody has looked at either of them.
      const before = await filed(CHANGED, `before ${round}`);
      const now = await filed(CHANGED, `after ${round}`);
      const url = pastUrl(server, ID, `compare/workspace?since=${before / 1000 + 0.0004}&limit=500`, now);
      const compare = async () => {
        const { changed, same } = JSON.parse((await must('GET', url, KEY)).body.toString());
        if (changed === 0 || changed + same !== files + 1) throw new Error(`${changed} changed, ${same} not.`);
      };
      first.push([await timed(compare)]);
      again.push([await timed(compare)]);
    }
  } finally {
    await server.stop();
  }
  const what = `two moments of ${files} files`;
  const floor = `${what} compared, both opened before`;
  return {
    figures: [
      figureOf(`${what}, compared`, percentileOf(first, 0.5), {
        ...{ unit: 'ms', bar: 'past: comparison', excludes: EXCLUDES },
      }),
    ],
    series: [
      seriesOf(floor, again, { excludes: EXCLUDES }),
      seriesOf(`${what} compared, both opened for it`, first, { floor, excludes: EXCLUDES }),
    ],
  };
}
