/**
 * A stop and a start of the whole server, then the first call to what was there before, beside workerd and the floor.
 */
import { must, timed } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { exec, makeSandbox, NOTE } from './sandboxes.ts';
import { KEY, startAll, startBare, startWinterdock } from './server.ts';
import { ratioOf, type Slices } from './statistics.ts';
import { readEvicted, startWorkerd } from './workerd.ts';

const FLOOR = 'bare Node HTTP: start';
const FLOOR_FIRST = 'bare Node HTTP: first answer';
const EXCLUDES = {
  floor: 'a server that opens anything.',
  start: 'a registry of a million rows, a crash that left work to reconcile, or the console.',
  theirStart: 'a registry, an access check or started workers: it opens nothing before the first request.',
  first: 'many that come at once after a restart: that is the burst.',
};

/** `rounds` restarts of each. */
export async function measureRestarts(rounds: number): Promise<PartResult> {
  let [server, workerd] = await startAll([startWinterdock(), startWorkerd()]);
  /** The first answers of each, in the turns of the restarts. */
  const first: Record<'ours' | 'theirs' | 'bare', number[][]> = { ours: [], theirs: [], bare: [] };
  const note = (name: keyof typeof first, round: number, took: number) => {
    if (round >= 0) first[name].push([took]);
  };
  try {
    await makeSandbox(server, 'before');
    await must('PUT', `${workerd.url}/before`, '', Buffer.from(NOTE));
    const found: Record<'ours' | 'theirs' | 'bare', Slices> = await roundRobin(rounds, {
      bare: async (round) => {
        const started = performance.now();
        const bare = await startBare();
        const took = performance.now() - started;
        note('bare', round, await timed(() => must('POST', bare.url, KEY, '{}')));
        await bare.stop();
        return [took];
      },
      ours: async (round) => {
        await server.stop({ keep: true });
        const started = performance.now();
        server = await startWinterdock({}, server.folder);
        const took = performance.now() - started;
        const answer = await timed(async () => {
          if ((await exec(server, 'before', 'cat note')) !== NOTE) throw new Error('The note is gone.');
        });
        note('ours', round, answer);
        return [took];
      },
      theirs: async (round) => {
        await workerd.stop({ keep: true });
        const started = performance.now();
        workerd = await startWorkerd(workerd.folder);
        const took = performance.now() - started;
        note('theirs', round, await timed(() => readEvicted(workerd, 'before')));
        return [took];
      },
    });
    return {
      series: [
        seriesOf(FLOOR, found.bare, { excludes: EXCLUDES.floor }),
        seriesOf('start of the server', found.ours, { floor: FLOOR, excludes: EXCLUDES.start }),
        seriesOf('workerd: start', found.theirs, { floor: FLOOR, excludes: EXCLUDES.theirStart }),
        seriesOf(FLOOR_FIRST, first.bare, { excludes: EXCLUDES.floor }),
        seriesOf('first `cat` after it', first.ours, { floor: FLOOR_FIRST, excludes: EXCLUDES.first }),
        seriesOf('workerd: first read after it', first.theirs, { floor: FLOOR_FIRST, excludes: EXCLUDES.first }),
      ],
      figures: [
        figureOf('start of the server / workerd’s', ratioOf(found.ours, found.theirs), {
          unit: '×',
          excludes: EXCLUDES.theirStart,
        }),
        figureOf('first `cat` after it / workerd’s first read', ratioOf(first.ours, first.theirs), {
          unit: '×',
          excludes: EXCLUDES.first,
        }),
      ],
    };
  } finally {
    await Promise.all([server.stop(), workerd.stop()]);
  }
}
