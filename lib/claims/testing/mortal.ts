/** For tests: a host that dies at one of its calls to the registry. */
import type { Registry } from '../../registry/registry.ts';

/** When a host dies: at which of its calls, and whether that call takes effect. */
export interface Death {
  at: number;
  isAfter: boolean;
}

export interface Life {
  calls: number;
  /** Calls that the registry has not answered yet. */
  underWay: number;
  isDead: boolean;
}

const never = () => new Promise<never>(() => {});

/** The registry for a host that dies: from then on none of its calls does anything, or comes back. */
export function mortal(registry: Registry, death: Death | null, life: Life): Registry {
  const subjects = Object.entries(registry).map(([name, subject]) => {
    if (name === 'commitEvents' || name === 'close') return [name, subject];
    const methods = Object.entries(subject as object).map(([method, call]) => [
      method,
      async (...given: unknown[]) => {
        if (life.isDead) return never();
        life.calls += 1;
        const isLast = life.calls === death?.at;
        if (isLast) life.isDead = true;
        if (isLast && !death.isAfter) return never();
        life.underWay += 1;
        try {
          const answer = await (call as (...all: unknown[]) => unknown)(...given);
          return isLast ? never() : answer;
        } finally {
          life.underWay -= 1;
        }
      },
    ]);
    return [name, Object.fromEntries(methods)];
  });
  return Object.fromEntries(subjects) as Registry;
}
