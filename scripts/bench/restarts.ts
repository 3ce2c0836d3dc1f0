/**
 * A kill and a start of the whole server while it has hot sandboxes and frozen ones, then the first calls to both,
 * beside workerd and the floor.
 */
import { must, timed } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { execIn, freezeSandbox, makeSandbox, NOTE } from './sandboxes.ts';
import { KEY, type Running, startAll, startBare, startWinterdock } from './server.ts';
import { ratioOf, type Slices } from './statistics.ts';
import { readEvicted, startWorkerd } from './workerd.ts';

const FLOOR = 'bare Node HTTP: start';
const FLOOR_FIRST = 'bare Node HTTP: first answer';
const EXCLUDES = {
  floor: 'a server that opens anything.',
  start: 'a registry of a million rows, or the console.',
  theirStart: 'a registry, an access check or started workers: it opens nothing before the first request.',
  first: 'many that come at once after a restart: that is the burst.',
};

/** What is asked first after a start. */
type First = 'hot' | 'frozen' | 'theirs' | 'bare';

async function readNote(server: Running, id: string): Promise<void> {
  if ((await execIn(server, id, 'cat note')) !== NOTE) throw new Error(`The note of ${id} is gone.`);
}

/** `rounds` kills and starts of each, with `sandboxes` hot ones and as many frozen ones. */
export async function measureRestarts(rounds: number, sandboxes: number): Promise<PartResult> {
  let [server, workerd] = await startAll([startWinterdock(), startWorkerd()]);
  const ids = (kind: string) => Array.from({ length: sandboxes }, (_, n) => `${kind}-${n}`);
  const [hot, frozen] = [ids('hot'), ids('frozen')];
  /** The first answers of each, in the turns of the restarts. */
  const first: Record<First, number[][]> = { hot: [], frozen: [], theirs: [], bare: [] };
  const note = (name: First, round: number, took: number) => {
    if (round >= 0) first[name].push([took]);
  };
  try {
    for (const id of [...hot, ...frozen]) await makeSandbox(server, id);
    for (const id of frozen) await freezeSandbox(server, id);
    for (const id of [...hot, ...frozen]) await must('PUT', `${workerd.url}/${id}`, '', Buffer.from(NOTE));
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
        for (const id of hot) await readNote(server, id);
        await server.stop({ keep: true, killed: true });
        const started = performance.now();
        server = await startWinterdock({}, server.folder);
        await must('GET', `${server.url}/healthz`, KEY);
        const took = performance.now() - started;
        const at = Math.max(0, round) % sandboxes;
        const asked = [
          ['hot', hot[at]],
          ['frozen', frozen[at]],
        ] as const;
        // The first of them starts a worker for itself, so they take turns.
        for (const [kind, id = ''] of round % 2 === 0 ? asked : asked.toReversed())
          note(kind, round, await timed(() => readNote(server, id)));
        await freezeSandbox(server, frozen[at] ?? '');
        return [took];
      },
      theirs: async (round) => {
        for (const id of hot) await must('GET', `${workerd.url}/${id}`, '');
        await workerd.stop({ keep: true, killed: true });
        const started = performance.now();
        workerd = await startWorkerd(workerd.folder);
        const took = performance.now() - started;
        const at = Math.max(0, round) % sandboxes;
        note('theirs', round, await timed(() => readEvicted(workerd, hot[at] ?? '')));
        return [took];
      },
    });
    const had = `${sandboxes} hot and ${sandboxes} frozen sandboxes`;
    const ratio = (what: string, one: Slices, other: Slices, excludes: string) =>
      figureOf(what, ratioOf(one, other), { unit: '×', excludes });
    return {
      series: [
        seriesOf(FLOOR, found.bare, { excludes: EXCLUDES.floor }),
        seriesOf(`start after a kill with ${had}, until it answers`, found.ours, {
          floor: FLOOR,
          excludes: EXCLUDES.start,
        }),
        seriesOf('workerd: start after a kill, until it listens', found.theirs, {
          floor: FLOOR,
          excludes: EXCLUDES.theirStart,
        }),
        seriesOf(FLOOR_FIRST, first.bare, { excludes: EXCLUDES.floor }),
        seriesOf('first `cat` of one that was hot', first.hot, { floor: FLOOR_FIRST, excludes: EXCLUDES.first }),
        seriesOf('first `cat` of a frozen one', first.frozen, { floor: FLOOR_FIRST, excludes: EXCLUDES.first }),
        seriesOf('workerd: first read', first.theirs, { floor: FLOOR_FIRST, excludes: EXCLUDES.first }),
      ],
      figures: [
        ratio('start after a kill / workerd’s', found.ours, found.theirs, EXCLUDES.theirStart),
        ratio('first `cat` of one that was hot / workerd’s first read', first.hot, first.theirs, EXCLUDES.first),
        ratio('first `cat` of a frozen one / workerd’s first read', first.frozen, first.theirs, EXCLUDES.first),
      ],
    };
  } finally {
    await Promise.all([server.stop(), workerd.stop()]);
  }
}
