/** Collects what is wrong with a source: all at once, in the order of their places, and never without end. Pure. */
import type { PlanProblem } from './types.ts';

const MOST = 1000;

/** A place in a source, both from 1. */
export interface SourcePlace {
  line: number;
  column: number;
}

export class PlanProblems {
  readonly #found: PlanProblem[] = [];
  #more = 0;

  add(code: PlanProblem['code'], place: SourcePlace, message: string, mend: string, name?: string): void {
    if (this.#found.length === MOST) this.#more += 1;
    else
      this.#found.push({
        code,
        message,
        mend,
        line: place.line,
        column: place.column,
        ...(name === undefined ? {} : { name }),
      });
  }

  /** By line and column; the last one tells how many more there are. */
  list(): PlanProblem[] {
    const sorted = this.#found.toSorted((a, b) => a.line - b.line || a.column - b.column);
    const last = sorted.at(-1);
    if (this.#more === 0 || !last) return sorted;
    const rest: PlanProblem = {
      code: 'count',
      message: `There are ${this.#more} more problems.`,
      mend: 'Mend these first.',
      line: last.line,
      column: last.column,
    };
    return [...sorted, rest];
  }
}

/** The candidate that somebody who wrote `name` most likely meant, or null. */
export function nearestTo(name: string, candidates: Iterable<string>): string | null {
  let nearest: string | null = null;
  let least = Math.max(2, Math.ceil(name.length / 3));
  let tried = 0;
  for (const candidate of candidates) {
    tried += 1;
    if (tried > MOST) break;
    if (Math.abs(candidate.length - name.length) > least) continue;
    const distance = editDistance(name.slice(0, 64), candidate.slice(0, 64));
    if (distance < least || (distance === least && nearest === null)) {
      nearest = candidate;
      least = distance;
    }
  }
  return nearest;
}

/** Levenshtein's distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
