/** What many clients get out of hot sandboxes, one each, beside workerd and the floor in turns of some seconds. */
import { createCrowd, loopFor, paceFor } from './crowd.ts';
import { type Ask, must } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { execIn, fileUrl, makeSandbox } from './sandboxes.ts';
import { FLOOR, KEY, startAll, startBare, startWinterdock, UNLIMITED } from './server.ts';
import { estimateOf, ratioOf } from './statistics.ts';
import { startWorkerd } from './workerd.ts';

const CLIENTS = 16;
const HALF_LOAD = 'hot exec of `true` at half load';
const FLOOR_HALF_LOAD = `${FLOOR} at half load`;
/** Calls a second that half load is taken of before any were counted. */
const FIRST_RATE = 400;
const PAGE = Buffer.alloc(4096, 'x');
const EXCLUDES = {
  floor: 'a server that does anything, or one that shares an fsync between requests.',
  ours: 'a machine of its own: clients, server and workers share two processors, and clients take a part of them.',
  theirs: 'a shell or a process for each: an object runs one SQL statement in the server’s own process.',
};

/** `rounds` turns of `sliceMs` for each contender. */
export async function measureThroughput(rounds: number, sliceMs: number): Promise<PartResult> {
  const [server, workerd, bare] = await startAll([startWinterdock(UNLIMITED), startWorkerd(), startBare()]);
  const crowd = createCrowd(CLIENTS);
  const rates: Record<string, number[]> = {};
  const turn = (name: string, call: (client: number, ask: Ask) => Promise<unknown>) => async (round: number) => {
    const { samples, perSecond } = await loopFor(crowd, sliceMs, call);
    if (round >= 0) rates[name] = [...(rates[name] ?? []), perSecond];
    return samples;
  };
  try {
    for (let n = 0; n < CLIENTS; n += 1) {
      await makeSandbox(server, `hot-${n}`);
      await must('PUT', fileUrl(server, `hot-${n}`, 'page'), KEY, PAGE);
      await must('PUT', `${workerd.url}/hot-${n}`, '', PAGE);
    }
    const contenders = {
      [`${FLOOR}, ${CLIENTS} clients`]: turn('floor', (_, ask) => ask('POST', bare.url, KEY, PAGE)),
      'hot exec of `true`': turn('execs', (n, ask) => execIn(server, `hot-${n}`, 'true', ask)),
      'hot `cat`': turn('cats', (n, ask) => execIn(server, `hot-${n}`, 'cat note', ask)),
      'read of a 4 kB file': turn('reads', (n, ask) => ask('GET', fileUrl(server, `hot-${n}`, 'page'), KEY)),
      'write of a 4 kB file': turn('writes', (n, ask) => ask('PUT', fileUrl(server, `hot-${n}`, 'page'), KEY, PAGE)),
      'workerd: read of 4 kB': turn('theirReads', (n, ask) => ask('GET', `${workerd.url}/hot-${n}`, '')),
      'workerd: write of 4 kB': turn('theirWrites', (n, ask) => ask('PUT', `${workerd.url}/hot-${n}`, '', PAGE)),
      [HALF_LOAD]: () =>
        paceFor(crowd, sliceMs, (rates.execs?.at(-1) ?? FIRST_RATE) / 2, (n, ask) =>
          execIn(server, `hot-${n}`, 'true', ask),
        ),
      [FLOOR_HALF_LOAD]: () =>
        paceFor(crowd, sliceMs, (rates.floor?.at(-1) ?? FIRST_RATE) / 2, (_, ask) => ask('POST', bare.url, KEY, PAGE)),
      healthz: turn('healthz', (_, ask) => ask('GET', `${server.url}/healthz`, KEY)),
    };
    const found = await roundRobin(rounds, contenders);
    const [floor = ''] = Object.keys(contenders);
    const excludesOf = (what: string) =>
      what.startsWith(FLOOR) ? EXCLUDES.floor : what.startsWith('workerd') ? EXCLUDES.theirs : EXCLUDES.ours;
    const rate = (what: string, name: string, excludes: string, bar: 'execs' | 'reads' | null = null) =>
      figureOf(what, estimateOf(rates[name] ?? []), {
        unit: '/s',
        bar: bar === null ? null : `throughput: ${bar}`,
        excludes,
      });
    return {
      series: Object.entries(found).map(([what, slices]) =>
        seriesOf(what, slices, { floor: what === floor ? null : floor, excludes: excludesOf(what) }),
      ),
      figures: [
        rate('floor: answers a second', 'floor', EXCLUDES.floor),
        rate('execs a second', 'execs', EXCLUDES.ours, 'execs'),
        figureOf(
          'p99 of an exec at half load / its p50',
          ratioOf(found[HALF_LOAD] ?? [], found[HALF_LOAD] ?? [], 0.99),
          {
            unit: '×',
            bar: 'throughput: p99 at half load',
            excludes: EXCLUDES.ours,
          },
        ),
        figureOf(
          'floor: p99 at half load / its p50',
          ratioOf(found[FLOOR_HALF_LOAD] ?? [], found[FLOOR_HALF_LOAD] ?? [], 0.99),
          { unit: '×', bar: null, excludes: EXCLUDES.floor },
        ),
        rate('`cat` a second', 'cats', EXCLUDES.ours),
        rate('reads of 4 kB a second', 'reads', EXCLUDES.ours, 'reads'),
        rate('workerd: reads of 4 kB a second', 'theirReads', EXCLUDES.theirs),
        rate('writes of 4 kB a second', 'writes', EXCLUDES.ours),
        rate('workerd: writes of 4 kB a second', 'theirWrites', EXCLUDES.theirs),
        rate('`/healthz` a second', 'healthz', EXCLUDES.ours),
      ],
    };
  } finally {
    await Promise.all([server.stop(), workerd.stop(), bare.stop()]);
  }
}
