/**
 * Copies of a large sandbox beside a plain copy of its file in the same run: taken, restored, uploaded, and what they
 * cost the server's memory and attention.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import { figures, must, timed } from './measure.ts';
import type { PartResult } from './result.ts';
import { KEY, startWinterdock } from './server.ts';
import { longestSilence, peakOf, upload } from './watch.ts';

const MIB = 1024 * 1024;
const MB = 1e6;
const FILE_MIB = 50;
const CLONES = 100;

/** Measures with one sandbox of `mebibytes`, `rounds` times each. */
export async function measureCopies(mebibytes: number, rounds: number): Promise<PartResult> {
  const settings = { WB_POOL: '2' };
  let server = await startWinterdock(settings);
  let api = `${server.url}/api`;
  const post = async (path: string, body: unknown = {}) =>
    JSON.parse((await must('POST', `${api}${path}`, KEY, JSON.stringify(body))).body.toString());
  const samples: Record<string, number[]> = {};
  let growth = 0;
  let silence = 0;
  try {
    await post('/instances', { id: 'large', tenant: 'bench' });
    for (let n = 0; n < mebibytes / FILE_MIB; n += 1) {
      await must('PUT', `${api}/instances/large/volumes/workspace/data-${n}`, KEY, randomBytes(FILE_MIB * MIB));
    }
    // What filling it took of memory is not to hide what copies take.
    await server.stop({ keep: true });
    server = await startWinterdock(settings, server.folder);
    api = `${server.url}/api`;
    const live = join(server.folder, 'live', 'large', 'vfs.sqlite');
    const bytes = statSync(live).size;
    await post('/instances/large/resume');
    const peak = peakOf(server.pid);

    /** Times `work` and adds what the server's memory grew by. */
    const sample = async (what: string, work: () => Promise<unknown>) => {
      const before = peak.reset();
      const took = await timed(async () => {
        silence = Math.max(silence, await longestSilence(server.url, work));
      });
      growth = Math.max(growth, peak.read() - before);
      samples[what] = [...(samples[what] ?? []), took];
    };

    for (let round = 0; round < rounds; round += 1) {
      await must('PUT', `${api}/instances/large/volumes/workspace/round`, KEY, Buffer.from(String(round)));
      let snapshot = '';
      await sample('a snapshot of a running sandbox', async () => {
        ({ id: snapshot } = await post('/instances/large/snapshots'));
      });
      const name = readdirSync(join(server.folder, 'snapshots')).find((one) => one.endsWith('.sqlite')) ?? '';
      const file = join(server.folder, 'snapshots', name);
      const target = join(server.folder, 'copied');
      const copied = await timed(async () => {
        await copyFile(file, target);
        const handle = await open(target);
        await handle.sync();
        await handle.close();
      });
      samples['cp and fsync of its file'] = [...(samples['cp and fsync of its file'] ?? []), copied];
      await sample(`a restore of ${CLONES}`, () => post(`/snapshots/${snapshot}/restore`, { count: CLONES }));
      const [clone] = await post(`/snapshots/${snapshot}/restore`);
      await sample('the first resume of a clone', () => post(`/instances/${clone.id}/resume`));
      await post(`/instances/${clone.id}/archive`);
      await must('DELETE', `${api}/instances/${clone.id}`, KEY);
      await sample('a blueprint from an upload', () => upload(`${api}/blueprints?name=round-${round}`, target));
      await must('DELETE', `${api}/blueprints/round-${round}`, KEY);
      rmSync(target);
    }
    const size = `${mebibytes} MB`;
    const medians = Object.fromEntries(Object.entries(samples).map(([what, found]) => [what, figures(found).p50]));
    const restored = medians[`a restore of ${CLONES}`] ?? Number.NaN;
    const speeds = Object.entries(medians).filter(([what]) => !what.startsWith('a restore'));
    return {
      rows: Object.entries(samples).map(([what, found]) => ({ what: `${what}, ${size}`, figures: figures(found) })),
      bars: [
        ...speeds.map(([what, took]) => ({
          what: `${what}, ${size}`,
          measured: bytes / MB / (took / 1000),
          limit: null,
          unit: 'MB/s',
        })),
        { what: `${CLONES} sandboxes from a snapshot of ${size}`, measured: restored / 1000, limit: 2, unit: 's' },
        { what: `growth of the server’s memory during them, ${size}`, measured: growth / MB, limit: 100, unit: 'MB' },
        { what: `longest wait for another answer during them, ${size}`, measured: silence, limit: null, unit: 'ms' },
      ],
    };
  } finally {
    await server.stop();
  }
}
