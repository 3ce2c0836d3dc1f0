/** Memory of the processes of hot sandboxes, before their first command and after it, beside a bare Node child. */

import { setTimeout } from 'node:timers/promises';
import { must } from './measure.ts';
import { killChild, pssOf, startBareChild, workersOf } from './processes.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { execIn, resume } from './sandboxes.ts';
import { KEY, startWinterdock } from './server.ts';
import { percentileOf } from './statistics.ts';

const FLOOR = 'a bare Node child';
/** V8 gives back memory some seconds after the last work; before that it depends on when each process worked. */
const SETTLE_MS = 10_000;
const EXCLUDES = {
  floor: 'what anything but an empty program takes.',
  hot: 'the seconds after a command (some 2 MB more), Python, JavaScript or large files in use, or the page cache.',
};

/** PSS of `count` hot sandboxes that have settled, and of a tenth as many bare children, all at the same time. */
export async function measureMemory(count: number, settleMs = SETTLE_MS): Promise<PartResult> {
  const server = await startWinterdock({ WB_POOL: '0', WB_MAX_ACTIVE: String(count + 1), WB_HOT_TO_WARM: '0' });
  const bare = await Promise.all(Array.from({ length: Math.ceil(count / 10) }, startBareChild));
  const ids = Array.from({ length: count }, (_, n) => `hot-${n}`);
  const settled = async () => {
    await setTimeout(settleMs);
    const found = workersOf(server.pid);
    if (found.length !== count) throw new Error(`${found.length} workers instead of ${count}`);
    return found.map(pssOf);
  };
  try {
    for (const id of ids) {
      await must('POST', `${server.url}/api/instances`, KEY, JSON.stringify({ id, tenant: 'bench' }));
      await resume(server, id);
    }
    const unused = (await settled()).map((pss) => [pss]);
    for (const id of ids) await execIn(server, id, 'echo hello > note; cat note');
    const used = (await settled()).map((pss) => [pss]);
    const floor = bare.map(({ pid }) => [pssOf(pid)]);
    const options = { unit: 'MB', floor: FLOOR, excludes: EXCLUDES.hot };
    return {
      series: [
        seriesOf(FLOOR, floor, { unit: 'MB', excludes: EXCLUDES.floor }),
        seriesOf(`PSS of ${count} hot sandboxes before their first command`, unused, options),
        seriesOf(`PSS of ${count} hot sandboxes with the shell in use`, used, options),
      ],
      figures: [
        figureOf('PSS of a hot sandbox, median', percentileOf(used, 0.5), {
          unit: 'MB',
          bar: 'memory: PSS in use',
          excludes: EXCLUDES.hot,
        }),
        figureOf('PSS of a hot sandbox before its first command, median', percentileOf(unused, 0.5), {
          unit: 'MB',
          bar: 'memory: PSS before use',
          excludes: EXCLUDES.hot,
        }),
        figureOf('PSS of the largest of them', percentileOf(used, 1), { unit: 'MB', excludes: EXCLUDES.hot }),
      ],
    };
  } finally {
    await Promise.all(bare.map(killChild));
    await server.stop();
  }
}
