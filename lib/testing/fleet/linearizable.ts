/**
 * For tests: whether the history of a register is linearisable. The search of Wing and Gong: each operation takes
 * effect at one moment between its question and its answer; with the memory of Lowe: what was tried once, the same
 * operations in any order with the same value after them, is not tried again. Pure.
 */

/** One operation of a client. Times are of one clock, in any unit. */
export interface RegisterOperation {
  readonly kind: 'read' | 'write';
  /** What was written, or what a read was answered. No two writes of a history have the same. */
  readonly value: string;
  readonly from: number;
  /** When its answer came; null: nobody knows whether a write was done, or whether it still will be. */
  readonly to: number | null;
}

/** Why a history is not linearisable: this operation has no place after the most that others can be ordered to. */
export interface Misfit {
  readonly operation: RegisterOperation;
  /** Operations that were ordered before it. */
  readonly ordered: number;
  /** What the register held after them. */
  readonly held: string;
}

/** A question, or an answer, in the order of their times. */
interface Entry {
  readonly at: number;
  readonly operation: RegisterOperation;
  /** Number of the operation. */
  readonly number: number;
  readonly isAnswer: boolean;
  before: Entry | null;
  after: Entry | null;
  /** Of a question; null: there is none. */
  answer: Entry | null;
}

const BITS = 32;

/**
 * Looks for an order. `initial`: what the register held before. Returns null when there is one. Operations without an
 * answer are writes.
 */
export function misfitOf(history: readonly RegisterOperation[], initial: string): Misfit | null {
  const read = new Set(history.flatMap(({ kind, value, to }) => (kind === 'read' && to !== null ? [value] : [])));
  // What was perhaps written and never seen may as well have happened never.
  const operations = history.filter(({ kind, value, to }) => to !== null || (kind === 'write' && read.has(value)));
  const head = linked(operations);
  const done = new Uint32Array(Math.ceil(operations.length / BITS) + 1);
  const tried = new Set<string>();
  const way: { entry: Entry; held: string }[] = [];
  let unanswered = operations.filter(({ to }) => to !== null).length;
  let held = initial;
  let worst: Misfit | null = null;
  let entry = head.after;
  while (unanswered > 0) {
    if (entry === null) throw new Error('An answer is missing.');
    if (!entry.isAnswer) {
      const { operation, number } = entry;
      const fits = operation.kind === 'write' || operation.value === held;
      if (fits) {
        flip(done, number);
        const key = Buffer.from(done.buffer).toString('latin1') + operation.value;
        if (!tried.has(key)) {
          tried.add(key);
          way.push({ entry, held });
          held = operation.value;
          takeOut(entry);
          if (operation.to !== null) unanswered -= 1;
          entry = head.after;
          continue;
        }
        flip(done, number);
      }
      entry = entry.after;
      continue;
    }
    // It was answered, and has no place yet: something before it has to be ordered otherwise.
    if (worst === null || way.length > worst.ordered) worst = { operation: entry.operation, ordered: way.length, held };
    const last = way.pop();
    if (last === undefined) return worst;
    ({ held } = last);
    flip(done, last.entry.number);
    putBack(last.entry);
    if (last.entry.operation.to !== null) unanswered += 1;
    entry = last.entry.after;
  }
  return null;
}

/** All entries in the order of time, questions before answers of the same moment. Returns what stands before them. */
function linked(operations: readonly RegisterOperation[]): Entry {
  const entries = operations.flatMap((operation, number): Entry[] => {
    const common = { operation, number, before: null, after: null };
    const { from, to } = operation;
    const answer = to === null ? null : { ...common, at: to, isAnswer: true, answer: null };
    const question = { ...common, at: from, isAnswer: false, answer };
    return answer === null ? [question] : [question, answer];
  });
  entries.sort((one, other) => one.at - other.at || Number(one.isAnswer) - Number(other.isAnswer));
  const [{ operation } = { operation: { kind: 'write', value: '', from: 0, to: null } as const }] = entries;
  const head: Entry = { ...{ at: 0, operation, number: -1, isAnswer: false }, before: null, after: null, answer: null };
  let last = head;
  for (const entry of entries) {
    entry.before = last;
    last.after = entry;
    last = entry;
  }
  return head;
}

function takeOut(entry: Entry): void {
  for (const one of [entry, entry.answer]) {
    if (one === null) continue;
    if (one.before !== null) one.before.after = one.after;
    if (one.after !== null) one.after.before = one.before;
  }
}

/** In the reverse order of `takeOut`. */
function putBack(entry: Entry): void {
  for (const one of [entry.answer, entry]) {
    if (one === null) continue;
    if (one.before !== null) one.before.after = one;
    if (one.after !== null) one.after.before = one;
  }
}

function flip(done: Uint32Array, number: number): void {
  const word = Math.floor(number / BITS);
  done[word] = ((done[word] ?? 0) ^ (1 << (number % BITS))) >>> 0;
}
