/**
 * First commands of frozen sandboxes, small and large, beside a hot one and a bare server, in turn; and wakes as fast
 * as they come.
 */
import { randomBytes } from 'node:crypto';
import { alternate, must, timed } from './measure.ts';
import type { Bar, PartResult } from './result.ts';
import { KEY, type Running, startBare, startWinterdock } from './server.ts';

const MIB = 1024 * 1024;
const FILE_MIB = 50;
const POOL = 2;
const AT_ONCE = 4;
const TRUE = JSON.stringify({ command: 'true' });

const at = (server: Running, path: string) => `${server.url}/api/instances${path}`;

/** Waits until the pool is full: what is measured is a wake, not the start of the worker after it. */
async function poolReady(server: Running): Promise<void> {
  for (;;) {
    const { body } = await must('GET', `${server.url}/metrics`, KEY);
    if (Number(/^winterdock_pool_ready (\d+)/m.exec(body.toString())?.[1] ?? 0) >= POOL) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function makeSandbox(server: Running, id: string, mebibytes: number): Promise<void> {
  await must('POST', at(server, ''), KEY, JSON.stringify({ id, tenant: 'bench' }));
  for (let written = 0, n = 0; written < mebibytes; n += 1) {
    const size = Math.min(FILE_MIB, mebibytes - written);
    await must('PUT', at(server, `/${id}/volumes/workspace/data-${n}`), KEY, randomBytes(size * MIB));
    written += size;
  }
}

async function freeze(server: Running, id: string): Promise<void> {
  await must('POST', at(server, `/${id}/suspend`), KEY, '{}');
  await must('POST', at(server, `/${id}/freeze`), KEY, '{}');
}

/** Milliseconds of the first `exec` of a frozen sandbox, over HTTP, with a started worker waiting. */
async function firstExec(server: Running, id: string): Promise<number> {
  await freeze(server, id);
  await poolReady(server);
  return timed(() => must('POST', at(server, `/${id}/exec`), KEY, TRUE));
}

/** `rounds` of each contender, a large sandbox of so many mebibytes, `sustained` wakes one after another. */
export async function measureWakes(size: {
  rounds: number;
  largeMebibytes: number;
  sustained: number;
}): Promise<PartResult> {
  const [server, bare] = await Promise.all([startWinterdock({ WB_POOL: String(POOL) }), startBare()]);
  const large = `${size.largeMebibytes} MB`;
  try {
    await makeSandbox(server, 'hot', 1);
    await makeSandbox(server, 'small', 1);
    await makeSandbox(server, 'large', size.largeMebibytes);
    for (const id of ['hot', 'small', 'large']) await must('POST', at(server, `/${id}/exec`), KEY, TRUE);
    const found = await alternate(size.rounds, {
      bare: () => timed(() => must('POST', bare.url, KEY, TRUE)),
      hot: () => timed(() => must('POST', at(server, '/hot/exec'), KEY, TRUE)),
      small: () => firstExec(server, 'small'),
      large: () => firstExec(server, 'large'),
    });
    const times = (what: string, measured: number, limit: number): Bar => ({ what, measured, limit, unit: '×' });
    return {
      rows: [
        { what: 'bare Node HTTP + one fsync', figures: found.bare },
        { what: 'hot exec of `true`', figures: found.hot },
        { what: 'first exec of a frozen 1 MB sandbox', figures: found.small },
        { what: `first exec of a frozen ${large} sandbox`, figures: found.large },
      ],
      bars: [
        times('hot exec / bare HTTP + fsync', found.hot.p50 / found.bare.p50, 3),
        times('first exec of a frozen sandbox / hot exec', found.small.p50 / found.hot.p50, 3),
        times(`frozen ${large} / frozen 1 MB`, found.large.p50 / found.small.p50, 1.3),
        await measureSustained(server, size.sustained),
      ],
    };
  } finally {
    await Promise.all([server.stop(), bare.stop()]);
  }
}

/** Wakes as fast as they come, four at a time, each with a worker of its own: bounded by starting processes. */
async function measureSustained(server: Running, count: number): Promise<Bar> {
  const ids = Array.from({ length: count }, (_, n) => `wake-${n}`);
  for (const id of ids) {
    await makeSandbox(server, id, 0);
    await must('POST', at(server, `/${id}/exec`), KEY, TRUE);
    await freeze(server, id);
  }
  await poolReady(server);
  const waiting = [...ids];
  const took = await timed(() =>
    Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
          await must('POST', at(server, `/${id}/exec`), KEY, TRUE);
          await must('POST', at(server, `/${id}/suspend`), KEY, '{}');
        }
      }),
    ),
  );
  const measured = ids.length / (took / 1000);
  return { what: 'sustained wakes, first exec and suspension each', measured, limit: null, unit: '/s' };
}
