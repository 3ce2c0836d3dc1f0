/**
 * Monday morning: many frozen sandboxes are asked at once, beside workerd with as many objects that are not in memory,
 * and the floor; and wakes as fast as they can be kept up.
 */
import { type CrowdResult, createCrowd, workThrough } from './crowd.ts';
import type { Ask } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { execIn, freezeSandbox, makeSandbox, NOTE, poolReady, suspendSandbox } from './sandboxes.ts';
import { FLOOR, KEY, type Running, startAll, startBare, startWinterdock, UNLIMITED } from './server.ts';
import { estimateOf, percentileOf } from './statistics.ts';
import { readEvicted, startWorkerd } from './workerd.ts';

export interface BurstSize {
  rounds: number;
  /** Frozen sandboxes, and the clients that ask for them. */
  few: { sandboxes: number; clients: number };
  /** The same, with a client for each. */
  many: { sandboxes: number };
  /** Wakes of a turn of the sustained ones, and the clients that ask for them. */
  sustained: { wakes: number; clients: number };
}

const EXCLUDES = {
  floor: 'a server that does anything.',
  burst: 'a machine with more processors, which starts more workers at a time, or a network.',
  theirs: 'processes: an object starts inside a server that already runs, and its file stays where it is.',
  sustained: 'a pool that had time to fill: wakes come faster than workers start.',
};

/** Freezes all, asks for a note of each, and throws when one is not what was written. */
async function askFrozen(server: Running, ids: readonly string[], crowd: readonly Ask[]): Promise<CrowdResult> {
  for (const id of ids) await freezeSandbox(server, id);
  await poolReady(server);
  return workThrough(crowd, ids, async (id, ask) => {
    if ((await execIn(server, id, 'cat note', ask)) !== NOTE) throw new Error(`${id} has another note.`);
  });
}

export async function measureBurst({ rounds, few, many, sustained }: BurstSize): Promise<PartResult> {
  const ids = Array.from({ length: Math.max(few.sandboxes, many.sandboxes) }, (_, n) => `wake-${n}`);
  const fewIds = ids.slice(0, few.sandboxes);
  const manyIds = ids.slice(0, many.sandboxes);
  let [server, bare, workerd] = await startAll([
    startWinterdock({ ...UNLIMITED, WB_MAX_ACTIVE: String(ids.length + 1) }),
    startBare(),
    startWorkerd(),
  ]);
  const crowd = createCrowd(Math.max(few.clients, many.sandboxes));
  const fewClients = crowd.slice(0, few.clients);
  const manyClients = crowd.slice(0, many.sandboxes);
  const totals: Record<'few' | 'many' | 'theirFew' | 'theirMany' | 'sustained' | 'bare', number[]> = {
    few: [],
    many: [],
    theirFew: [],
    theirMany: [],
    sustained: [],
    bare: [],
  };
  const bareCall = (_: string, ask: Ask) => ask('POST', bare.url, KEY, '{"command":"cat note"}');
  /** A turn whose total is kept too; the turn that warms up has none. */
  const turn =
    (name: keyof typeof totals, run: () => Promise<CrowdResult>, total = ({ totalMs }: CrowdResult) => totalMs) =>
    async (round: number) => {
      const result = await run();
      if (round >= 0) totals[name].push(total(result));
      return result.samples;
    };
  const askWorkerd = async (some: readonly string[], clients: readonly Ask[]) => {
    await workerd.stop({ keep: true });
    workerd = await startWorkerd(workerd.folder);
    return workThrough(clients, some, (id, ask) => readEvicted(workerd, id, ask));
  };
  try {
    for (const id of ids) {
      await makeSandbox(server, id);
      await suspendSandbox(server, id);
    }
    await workThrough(fewClients, ids, (id, ask) => ask('PUT', `${workerd.url}/${id}`, '', Buffer.from(NOTE)));
    // Freezing leaves no process, whatever the turn before left.
    const found = await roundRobin(rounds, {
      bareFew: turn('bare', () => workThrough(fewClients, fewIds, bareCall)),
      few: turn('few', () => askFrozen(server, fewIds, fewClients)),
      theirFew: turn('theirFew', () => askWorkerd(fewIds, fewClients)),
      many: async (round) =>
        // The fewer have warmed up what these would.
        round < 0 ? [] : turn('many', () => askFrozen(server, manyIds, manyClients))(round),
      theirMany: turn('theirMany', () => askWorkerd(manyIds, manyClients)),
      sustained: turn(
        'sustained',
        () => sustain(server, ids.slice(0, sustained.wakes), crowd.slice(0, sustained.clients)),
        ({ samples, totalMs }) => samples.length / (totalMs / 1000),
      ),
    });
    const ofFew = `${few.sandboxes} frozen by ${few.clients} clients`;
    const ofMany = `${many.sandboxes} frozen at once`;
    const seconds = (name: keyof typeof totals) => estimateOf(totals[name].map((ms) => ms / 1000));
    const floor = `${FLOOR}, ${few.clients} clients`;
    const ours = { floor, excludes: EXCLUDES.burst };
    const theirs = { floor, excludes: EXCLUDES.theirs };
    return {
      series: [
        seriesOf(floor, found.bareFew, { excludes: EXCLUDES.floor }),
        seriesOf(ofFew, found.few, ours),
        seriesOf(`workerd: ${few.sandboxes} after a restart by ${few.clients} clients`, found.theirFew, theirs),
        seriesOf(ofMany, found.many, ours),
        seriesOf(`workerd: ${many.sandboxes} after a restart at once`, found.theirMany, theirs),
        seriesOf('a wake among sustained ones, with its suspension', found.sustained, {
          floor,
          excludes: EXCLUDES.sustained,
        }),
      ],
      figures: [
        figureOf(`${ofFew}, all answered after`, seconds('few'), {
          unit: 's',
          bar: 'burst: 60 by 16, total',
          excludes: EXCLUDES.burst,
        }),
        figureOf(`${ofFew}, p50`, percentileOf(found.few, 0.5), {
          unit: 'ms',
          bar: 'burst: 60 by 16, p50',
          excludes: EXCLUDES.burst,
        }),
        figureOf(`workerd: the same ${few.sandboxes}, all answered after`, seconds('theirFew'), {
          unit: 's',
          excludes: EXCLUDES.theirs,
        }),
        figureOf(`floor: the same ${few.sandboxes}, all answered after`, seconds('bare'), {
          unit: 's',
          excludes: EXCLUDES.floor,
        }),
        figureOf(`${ofMany}, all answered after`, seconds('many'), {
          unit: 's',
          bar: 'burst: 200 by 200, total',
          excludes: EXCLUDES.burst,
        }),
        figureOf(`workerd: the same ${many.sandboxes}, all answered after`, seconds('theirMany'), {
          unit: 's',
          excludes: EXCLUDES.theirs,
        }),
        figureOf('sustained wakes, first exec and suspension each', estimateOf(totals.sustained), {
          unit: '/s',
          bar: 'burst: sustained wakes',
          excludes: EXCLUDES.sustained,
        }),
      ],
    };
  } finally {
    await Promise.all([server.stop(), bare.stop(), workerd.stop()]);
  }
}

/** Wakes as fast as they come, each with a command and a suspension: bounded by starting processes. */
async function sustain(server: Running, ids: readonly string[], crowd: readonly Ask[]): Promise<CrowdResult> {
  for (const id of ids) await freezeSandbox(server, id);
  await poolReady(server);
  return workThrough(crowd, ids, async (id, ask) => {
    await execIn(server, id, 'true', ask);
    await suspendSandbox(server, id, ask);
  });
}
