/** Proportional set size of the processes of hot sandboxes that have each run a command, in MB (10^6 bytes). */
import { readFileSync } from 'node:fs';
import { figures, must } from './measure.ts';
import type { PartResult } from './result.ts';
import { KEY, startWinterdock } from './server.ts';

const HOT = 20;
const LIMIT_MB = 27;
const MB_PER_KIB = 1.024e-3;

export async function measureMemory(): Promise<PartResult> {
  const server = await startWinterdock({ WB_POOL: '0' });
  const api = `${server.url}/api/instances`;
  try {
    for (let n = 0; n < HOT; n += 1) {
      await must('POST', api, KEY, JSON.stringify({ id: `hot-${n}`, tenant: 'bench' }));
      await must('POST', `${api}/hot-${n}/exec`, KEY, JSON.stringify({ command: 'echo hello > note; cat note' }));
    }
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim().split(' ');
    const workers = children.filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').match(/\/worker\.(?:ts|cjs)\0/),
    );
    if (workers.length !== HOT) throw new Error(`${workers.length} workers instead of ${HOT}`);
    const pss = workers.map(
      (pid) => Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) * MB_PER_KIB,
    );
    return {
      rows: [],
      bars: [
        {
          what: `PSS of the largest of ${HOT} hot sandboxes`,
          measured: Math.max(...pss),
          limit: LIMIT_MB,
          unit: 'MB',
        },
        { what: 'PSS of a hot sandbox, median', measured: figures(pss).p50, limit: null, unit: 'MB' },
      ],
    };
  } finally {
    await server.stop();
  }
}
