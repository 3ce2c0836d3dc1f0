/**
 * For tests: a registry whose answers get lost, as over a network: some writes happen and are not answered, some never
 * arrive. Which, follows from a seed. Reads are answered.
 */
import { answerLost } from '../lost-answer.ts';
import type { Registry } from '../registry.ts';
import { type StoreName, WRITE_RULES } from '../write-rules.ts';

type Method = (...args: unknown[]) => unknown;

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
  const losing = (of: Registry): Registry => {
    const parts = (Object.keys(WRITE_RULES) as StoreName[]).map((subject) => {
      const store = of[subject] as unknown as Record<string, Method>;
      const methods = Object.entries(WRITE_RULES[subject]).map(([name, rule]) => {
        if (rule === 'read') return [name, (...args: unknown[]) => store[name]?.(...args)];
        const lose = async (...args: unknown[]) => {
          const drawn = chance(name);
          // Whoever makes it again is not told what the first attempt would have said.
          const what = drawn === 'answer' && differs(rule) ? 'request' : drawn;
          if (what === 'request') {
            lost.requests += 1;
            throw answerLost();
          }
          const answer = await store[name]?.(...args);
          if (what === null) return answer;
          lost.answers += 1;
          throw answerLost();
        };
        return [name, lose];
      });
      return [subject, Object.fromEntries(methods)];
    });
    return { ...of, ...Object.fromEntries(parts), carrying: (writeId: string) => losing(of.carrying(writeId)) };
  };
  return { registry: { ...registry, ...losing(registry) }, lost };
}

/** Whether the answer to a repeated write is another one than to the first. */
function differs(rule: unknown): boolean {
  return typeof rule === 'object' && rule !== null && 'differs' in rule;
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
