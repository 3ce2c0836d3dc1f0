/**
 * Workbooks: how long the plan of a large source takes beside the org parser alone, and how long the server's health
 * takes while it refuses hostile sources.
 */
import { Worker } from 'node:worker_threads';
import { parse } from 'uniorg-parse/lib/parser.js';
import { SourceParser } from '../../lib/workbooks/source-parser.ts';
import { createCrowd, loopFor } from './crowd.ts';
import { timed } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { KEY, startWinterdock, UNLIMITED } from './server.ts';
import { percentileOf, ratioOf, type Slices } from './statistics.ts';

const PARSER = 'uniorg-parse alone';
const EXCLUDES = {
  alone: 'what its tree means.',
  plan: 'the start of the process that reads it: it is kept for the next source.',
  quiet: 'anything else that runs.',
  hostile: 'sources that are good: their plans are stored, which takes the registry.',
};

/** A source of so many components, a hundred in a world, each fed by the one before it. */
function sourceOf(components: number): string {
  return Array.from({ length: components }, (_, n) => {
    const at = n % 100;
    const ports = at === 0 ? ':in x:number' : `:deps c${at - 1} :in o${at - 1}:number`;
    const world = at === 0 ? `* w${n / 100} :workflow:\n` : '';
    return `${world}** c${at} :component:
It takes what the one before it gives, adds one, and hands it on to the next.
#+begin_src js ${ports} :out o${at}:number
export default (input) => ({ o${at}: 1 + Object.values(input)[0] });
#+end_src
`;
  }).join('');
}

async function measureHealth(slices: number, sliceMs: number): Promise<{ quiet: Slices; hostile: Slices }> {
  const server = await startWinterdock(UNLIMITED);
  const health = createCrowd(1);
  const watch = async () =>
    (await loopFor(health, sliceMs, (_, ask) => ask('GET', `${server.url}/healthz`, KEY))).samples;
  const slicesOf = async () => {
    const taken: number[][] = [];
    for (let n = 0; n < slices; n += 1) taken.push(await watch());
    return taken;
  };
  let attackers: Worker | null = null;
  try {
    await watch();
    const quiet = await slicesOf();
    // In a thread of its own, so that what it sends delays the one that measures no more than another client's would.
    attackers = new Worker(new URL('./attack.ts', import.meta.url), { workerData: { url: server.url, key: KEY } });
    await watch();
    return { quiet, hostile: await slicesOf() };
  } finally {
    await attackers?.terminate();
    await server.stop();
  }
}

export interface WorkbookSize {
  components: number;
  rounds: number;
  slices: number;
  sliceMs: number;
}

export async function measureWorkbooks({ components, rounds, slices, sliceMs }: WorkbookSize): Promise<PartResult> {
  const source = sourceOf(components);
  const parser = new SourceParser();
  const turns = await roundRobin(rounds, {
    alone: once(() => timed(() => parse(source, { trackPosition: true }))),
    plan: once(() => timed(() => parser.parse('bench', source))),
  }).finally(() => parser.stop());
  const { quiet, hostile } = await measureHealth(slices, sliceMs);
  const planned = `plan of ${components} components, ${Math.round(source.length / 1000)} kB`;
  return {
    series: [
      seriesOf(PARSER, turns.alone, { excludes: EXCLUDES.alone }),
      seriesOf(planned, turns.plan, { floor: PARSER, excludes: EXCLUDES.plan }),
      seriesOf('/healthz, nothing else asked', quiet, { excludes: EXCLUDES.quiet }),
      seriesOf('/healthz while hostile sources are refused', hostile, { excludes: EXCLUDES.hostile }),
    ],
    figures: [
      figureOf(`${planned} / ${PARSER}`, ratioOf(turns.plan, turns.alone), {
        unit: '×',
        bar: 'workbooks: plan over parser',
        excludes: EXCLUDES.plan,
      }),
      figureOf('/healthz while hostile sources are refused, p99', percentileOf(hostile, 0.99), {
        unit: 'ms',
        bar: 'workbooks: health, p99',
        excludes: EXCLUDES.hostile,
      }),
    ],
  };
}
