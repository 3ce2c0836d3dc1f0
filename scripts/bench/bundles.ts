/**
 * Bundles of a large sandbox beside a plain copy of its file in the same run: shipped, inspected, imported, checked
 * out, and what they cost the server.
 */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { BarName } from './bars.ts';
import { must, timed } from './measure.ts';
import { cpuOfTree } from './processes.ts';
import { figureOf, type PartResult, seriesOf, single } from './result.ts';
import { KEY, startWinterdock } from './server.ts';
import { percentile } from './statistics.ts';
import { download, longestSilence, peakOf, upload } from './watch.ts';

const MIB = 1024 * 1024;
const MB = 1e6;
const FILE_MIB = 50;
const FLOOR = 'cp and fsync of its file';
const EXCLUDES = 'a network, a sandbox of many small files, or content that is all noise or all text.';

/** The bars of what the server and its processes take of processor time. */
const CPU_BARS: Record<string, BarName> = {
  'a ship': 'bundles: CPU of a ship',
  'an import': 'bundles: CPU of an import',
};

/** Half noise and half text that deflates, as work is. */
function content(mebibytes: number): Buffer {
  const half = (mebibytes * MIB) / 2;
  const text = Buffer.from('the work of a week, line by line, again and again\n'.repeat(half / 50));
  return Buffer.concat([randomBytes(half), text]);
}

/** Measures with one sandbox of `mebibytes`, `rounds` times each. */
export async function measureBundles(mebibytes: number, rounds: number): Promise<PartResult> {
  const server = await startWinterdock({ WB_POOL: '2' });
  const api = `${server.url}/api`;
  const samples: Record<string, number[]> = {};
  const add = (what: string, took: number) => {
    samples[what] = [...(samples[what] ?? []), took];
  };
  /** Processor time of the server and its processes, in milliseconds. */
  const work: Record<string, number[]> = {};
  let growth = 0;
  let silence = 0;
  try {
    await must('POST', `${api}/instances`, KEY, JSON.stringify({ id: 'large', tenant: 'bench' }));
    for (let n = 0; n < mebibytes / FILE_MIB; n += 1) {
      await must(
        'PUT',
        `${api}/instances/large/volumes/workspace/data-${n}`,
        KEY,
        content(Math.min(FILE_MIB, mebibytes - n * FILE_MIB)),
      );
    }
    await must('POST', `${api}/instances/large/suspend`, KEY, '{}');
    const live = join(server.folder, 'live', 'large', 'vfs.sqlite');
    const bytes = statSync(live).size;
    const peak = peakOf(server.pid);
    const zip = join(server.folder, 'bundle.zip');
    const tree = join(server.folder, 'tree.tar.gz');

    /** Times `work` and adds what the server's memory grew by. */
    const sample = async (what: string, act: () => Promise<unknown>) => {
      const before = peak.reset();
      const cpuBefore = cpuOfTree(server.pid);
      add(
        what,
        await timed(async () => {
          silence = Math.max(silence, await longestSilence(server.url, act));
        }),
      );
      work[what] = [...(work[what] ?? []), cpuOfTree(server.pid) - cpuBefore];
      growth = Math.max(growth, peak.read() - before);
    };

    for (let round = 0; round < rounds; round += 1) {
      const target = join(server.folder, 'copied');
      const copied = await timed(async () => {
        await copyFile(live, target);
        const handle = await open(target);
        await handle.sync();
        await handle.close();
      });
      add(FLOOR, copied);
      rmSync(target);
      await sample('a ship', () => download('POST', `${api}/instances/large/ship`, zip));
      await sample('an inspection', () => upload(`${api}/bundles/inspect`, zip, 200));
      await sample('an import', () => upload(`${api}/instances/import?tenant=round-${round}`, zip));
      await sample('a checkout', () => download('GET', `${api}/instances/large/checkout`, tree));
    }
    const size = `${mebibytes} MB`;
    const floor = `${FLOOR}, ${size}`;
    return {
      series: Object.entries(samples).map(([what, found]) =>
        seriesOf(
          `${what}, ${size}`,
          found.map((took) => [took]),
          { floor: what === FLOOR ? null : floor, excludes: EXCLUDES },
        ),
      ),
      figures: [
        ...Object.entries(samples).map(([what, found]) =>
          figureOf(`${what}, ${size}`, single(bytes / MB / (percentile(found, 0.5) / 1000)), {
            unit: 'MB/s',
            excludes: EXCLUDES,
          }),
        ),
        ...Object.entries(work).map(([what, found]) =>
          figureOf(`processor time of ${what}, ${size}`, single(percentile(found, 0.5) / (bytes / MB)), {
            unit: 'ms for each MB',
            ...(CPU_BARS[what] === undefined ? {} : { bar: CPU_BARS[what] }),
            excludes: EXCLUDES,
          }),
        ),
        figureOf(`growth of the server’s memory during bundles, ${size}`, single(growth / MB), {
          unit: 'MB',
          bar: 'bundles: growth',
          excludes: 'memory of workers and readers, or of the page cache.',
        }),
        figureOf(`longest wait for another answer during bundles, ${size}`, single(silence), {
          unit: 'ms',
          excludes: 'silences that fall between two questions.',
        }),
      ],
    };
  } finally {
    await server.stop();
  }
}
