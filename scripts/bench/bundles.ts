/**
 * Bundles of a large sandbox beside a plain copy of its file in the same run: shipped, inspected, imported, checked
 * out, and what they cost the server.
 */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import { figures, must, timed } from './measure.ts';
import type { PartResult } from './result.ts';
import { KEY, startWinterdock } from './server.ts';
import { download, longestSilence, peakOf, upload } from './watch.ts';

const MIB = 1024 * 1024;
const MB = 1e6;
const FILE_MIB = 50;

/** Half noise and half text that deflates, as work is. */
function content(): Buffer {
  const text = Buffer.from('the work of a week, line by line, again and again\n'.repeat((FILE_MIB * MIB) / 2 / 50));
  return Buffer.concat([randomBytes((FILE_MIB * MIB) / 2), text]);
}

/** Measures with one sandbox of `mebibytes`, `rounds` times each. */
export async function measureBundles(mebibytes: number, rounds: number): Promise<PartResult> {
  const server = await startWinterdock({ WB_POOL: '2' });
  const api = `${server.url}/api`;
  const samples: Record<string, number[]> = {};
  const add = (what: string, took: number) => {
    samples[what] = [...(samples[what] ?? []), took];
  };
  let growth = 0;
  let silence = 0;
  try {
    await must('POST', `${api}/instances`, KEY, JSON.stringify({ id: 'large', tenant: 'bench' }));
    for (let n = 0; n < mebibytes / FILE_MIB; n += 1) {
      await must('PUT', `${api}/instances/large/volumes/workspace/data-${n}`, KEY, content());
    }
    await must('POST', `${api}/instances/large/suspend`, KEY, '{}');
    const live = join(server.folder, 'live', 'large', 'vfs.sqlite');
    const bytes = statSync(live).size;
    const peak = peakOf(server.pid);
    const zip = join(server.folder, 'bundle.zip');
    const tree = join(server.folder, 'tree.tar.gz');

    /** Times `work` and adds what the server's memory grew by. */
    const sample = async (what: string, work: () => Promise<unknown>) => {
      const before = peak.reset();
      add(
        what,
        await timed(async () => {
          silence = Math.max(silence, await longestSilence(server.url, work));
        }),
      );
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
      add('cp and fsync of its file', copied);
      rmSync(target);
      await sample('a ship', () => download('POST', `${api}/instances/large/ship`, zip));
      await sample('an inspection', () => upload(`${api}/bundles/inspect`, zip, 200));
      await sample('an import', () => upload(`${api}/instances/import?tenant=round-${round}`, zip));
      await sample('a checkout', () => download('GET', `${api}/instances/large/checkout`, tree));
    }
    const size = `${mebibytes} MB`;
    const speeds = Object.entries(samples).map(([what, found]) => ({
      what: `${what}, ${size}`,
      measured: bytes / MB / (figures(found).p50 / 1000),
      limit: null,
      unit: 'MB/s',
    }));
    return {
      rows: Object.entries(samples).map(([what, found]) => ({ what: `${what}, ${size}`, figures: figures(found) })),
      bars: [
        ...speeds,
        {
          what: `growth of the server’s memory during bundles, ${size}`,
          measured: growth / MB,
          limit: 100,
          unit: 'MB',
        },
        { what: `longest wait for another answer during bundles, ${size}`, measured: silence, limit: null, unit: 'ms' },
      ],
    };
  } finally {
    await server.stop();
  }
}
