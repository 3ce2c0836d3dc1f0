/** Many clients at once, each with a connection of its own. */
import { setTimeout } from 'node:timers/promises';
import { type Ask, createAsk, timed } from './measure.ts';

/** Clients to use again in each turn, so that connecting is not what is measured. */
export const createCrowd = (clients: number): Ask[] => Array.from({ length: clients }, createAsk);

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

/**
 * Calls come at a rate, whether or not earlier ones are answered, and go out on the connection of the client whose turn
 * it is. Each is timed from when it was due, so that a server that stalls is charged for all that wait.
 */
export async function paceFor(
  crowd: readonly Ask[],
  ms: number,
  perSecond: number,
  call: (client: number, ask: Ask) => Promise<unknown>,
): Promise<number[]> {
  const started = performance.now();
  return Promise.all(
    Array.from({ length: Math.max(1, Math.floor((ms * perSecond) / 1000)) }, async (_, n) => {
      const due = started + (n * 1000) / perSecond;
      // A timer takes whole milliseconds, and may end early.
      for (let left = due - performance.now(); left > 0; left = due - performance.now())
        await setTimeout(Math.ceil(left));
      const client = n % crowd.length;
      const ask = crowd[client];
      if (ask === undefined) throw new Error('A crowd without clients.');
      await call(client, ask);
      return performance.now() - due;
    }),
  );
}
