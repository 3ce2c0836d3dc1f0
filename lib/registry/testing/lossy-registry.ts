/**
 * For tests: a registry whose answers get lost, as over a network: some writes happen and are not answered, some never
 * arrive. Which, follows from a seed. Reads are answered.
 */
import { answerLost } from '../lost-answer.ts';
import type { Registry } from '../registry.ts';

/** The writes whose answers get lost, by subject. */
const LOSING = {
  instances: ['create', 'begin', 'commit', 'abandon', 'recordStored'],
  ledger: ['append'],
  usage: ['add'],
  wakeTimes: ['add'],
  network: ['addTraffic'],
} as const;

export interface LossCounts {
  /** Writes that happened and whose answer was lost. */
  answers: number;
  /** Writes that never arrived. */
  requests: number;
}

/** `chance`: whether the next call loses its request, its answer, or neither. */
export function lossyRegistry<R extends Registry>(
  registry: R,
  chance: (method: string) => 'request' | 'answer' | null,
): { registry: R; lost: LossCounts } {
  const lost: LossCounts = { answers: 0, requests: 0 };
  const subjects = Object.entries(LOSING).map(([subject, names]) => {
    const store = registry[subject as keyof typeof LOSING] as unknown as Record<
      string,
      (...args: unknown[]) => unknown
    >;
    const losing = names.map((name) => [
      name,
      async (...args: unknown[]) => {
        const what = chance(name);
        if (what === 'request') {
          lost.requests += 1;
          throw answerLost();
        }
        const answer = await store[name]?.(...args);
        if (what === null) return answer;
        lost.answers += 1;
        throw answerLost();
      },
    ]);
    return [subject, { ...store, ...Object.fromEntries(losing) }];
  });
  return { registry: { ...registry, ...Object.fromEntries(subjects) }, lost };
}

/** Loses about half of the requests and answers, never more than `inARow` in a row. */
export function seededLoss(seed: number, inARow: number): () => 'request' | 'answer' | null {
  let state = seed;
  let row = 0;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    const roll = (state >> 16) % 4;
    const what = roll < 2 && row < inARow ? (['request', 'answer'] as const)[roll as 0 | 1] : null;
    row = what === null ? 0 : row + 1;
    return what;
  };
}
