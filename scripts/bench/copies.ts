/**
 * Copies of a large sandbox beside a plain copy of its file in the same run: taken, restored, uploaded, and what they
 * cost the server's memory and attention.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import { must, timed } from './measure.ts';
import { figureOf, type PartResult, seriesOf, single } from './result.ts';
import { KEY, startWinterdock } from './server.ts';
import { estimateOf, percentile } from './statistics.ts';
import { longestSilence, peakOf, upload } from './watch.ts';

const MIB = 1024 * 1024;
const MB = 1e6;
const FILE_MIB = 50;
const CLONES = 100;
const MOST_CLONES = 1000;
const FLOOR = 'cp and fsync of its file';
const EXCLUDES = 'a copy to another file system, a sandbox of many small files, or two copies at the same time.';

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
  /** The longest waits during restores of many. */
  const waits: number[] = [];
  try {
    await post('/instances', { id: 'large', tenant: 'bench' });
    for (let n = 0; n < mebibytes / FILE_MIB; n += 1) {
      const size = Math.min(FILE_MIB, mebibytes - n * FILE_MIB);
      await must('PUT', `${api}/instances/large/volumes/workspace/data-${n}`, KEY, randomBytes(size * MIB));
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
      samples[FLOOR] = [...(samples[FLOOR] ?? []), copied];
      await sample(`a restore of ${CLONES}`, () => post(`/snapshots/${snapshot}/restore`, { count: CLONES }));
      const many = `a restore of ${MOST_CLONES}`;
      const restoring = await timed(async () => {
        waits.push(
          await longestSilence(server.url, () => post(`/snapshots/${snapshot}/restore`, { count: MOST_CLONES })),
        );
      });
      samples[many] = [...(samples[many] ?? []), restoring];
      const [clone] = await post(`/snapshots/${snapshot}/restore`);
      await sample('the first resume of a clone', () => post(`/instances/${clone.id}/resume`));
      await post(`/instances/${clone.id}/archive`);
      await must('DELETE', `${api}/instances/${clone.id}`, KEY);
      await sample('a blueprint from an upload', () => upload(`${api}/blueprints?name=round-${round}`, target));
      await must('DELETE', `${api}/blueprints/round-${round}`, KEY);
      rmSync(target);
    }
    const size = `${mebibytes} MB`;
    const floor = `${FLOOR}, ${size}`;
    const restored = samples[`a restore of ${CLONES}`] ?? [];
    const speeds = Object.entries(samples).filter(([what]) => !what.startsWith('a restore'));
    return {
      series: Object.entries(samples).map(([what, found]) =>
        seriesOf(
          `${what}, ${size}`,
          found.map((took) => [took]),
          { floor: what === FLOOR ? null : floor, excludes: EXCLUDES },
        ),
      ),
      figures: [
        ...speeds.map(([what, found]) =>
          figureOf(`${what}, ${size}`, single(bytes / MB / (percentile(found, 0.5) / 1000)), {
            unit: 'MB/s',
            excludes: EXCLUDES,
          }),
        ),
        figureOf(`${CLONES} sandboxes from a snapshot of ${size}`, estimateOf(restored.map((ms) => ms / 1000)), {
          unit: 's',
          bar: 'copies: a hundred clones',
          excludes: 'the first wake of each clone, which brings its file.',
        }),
        figureOf(`longest wait for another answer during a restore of ${MOST_CLONES}`, estimateOf(waits), {
          unit: 'ms',
          bar: 'copies: wait during a restore',
          excludes: 'silences that fall between two questions.',
        }),
        figureOf(`growth of the server’s memory during them, ${size}`, single(growth / MB), {
          unit: 'MB',
          bar: 'copies: growth',
          excludes: 'memory of workers and readers, or of the page cache.',
        }),
        figureOf(`longest wait for another answer during them, ${size}`, single(silence), {
          unit: 'ms',
          excludes: 'silences that fall between two questions.',
        }),
      ],
    };
  } finally {
    await server.stop();
  }
}
