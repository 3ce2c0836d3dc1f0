/** Many clients at once, each with a connection of its own. */
import { type Ask, createClient, timed } from './measure.ts';

/** Clients to use again in each turn, so that connecting is not what is measured. */
export const createCrowd = (clients: number): Ask[] => Array.from({ length: clients }, createClient);

export interface CrowdResult {
  /** Milliseconds of each call. */
  samples: number[];
  /** Milliseconds from the first call to the last answer. */
  totalMs: number;
}

/** Every client takes the next piece of work as soon as it has its answer, until there is none. */
export async function workThrough<T>(
  crowd: readonly Ask[],
  work: readonly T[],
  call: (piece: T, ask: Ask) => Promise<unknown>,
): Promise<CrowdResult> {
  const left = work.values();
  const samples: number[] = [];
  const totalMs = await timed(() =>
    Promise.all(
      crowd.map(async (ask) => {
        for (const piece of left) samples.push(await timed(() => call(piece, ask)));
      }),
    ),
  );
  return { samples, totalMs };
}

/** Every client calls again and again for `ms`, each for its own sandbox. Returns the samples and the rate. */
export async function loopFor(
  crowd: readonly Ask[],
  ms: number,
  call: (client: number, ask: Ask) => Promise<unknown>,
): Promise<{ samples: number[]; perSecond: number }> {
  const samples: number[] = [];
  const until = performance.now() + ms;
  const took = await timed(() =>
    Promise.all(
      crowd.map(async (ask, client) => {
        while (performance.now() < until) samples.push(await timed(() => call(client, ask)));
      }),
    ),
  );
  return { samples, perSecond: samples.length / (took / 1000) };
}
