import fc from 'fast-check';
import { expect, test } from 'vitest';
import { misfitOf, type RegisterOperation } from './linearizable.ts';

const write = (value: string, from: number, to: number | null): RegisterOperation => ({
  kind: 'write',
  value,
  from,
  to,
});
const read = (value: string, from: number, to: number): RegisterOperation => ({ kind: 'read', value, from, to });

const GOOD: Record<string, RegisterOperation[]> = {
  'nothing at all': [],
  'one after the other': [write('a', 0, 1), read('a', 2, 3), write('b', 4, 5), read('b', 6, 7)],
  'the value from before': [read('', 0, 1), write('a', 2, 3), read('a', 4, 5)],
  'a read beside a write sees either': [write('a', 0, 9), read('', 1, 2), read('a', 3, 4)],
  'two writes beside each other end in any order': [write('a', 0, 9), write('b', 0, 9), read('b', 10, 11)],
  'a long write between two reads': [write('a', 0, 20), write('b', 1, 2), read('b', 3, 4), read('a', 5, 6)],
  'a write without an answer that was done': [write('a', 0, 1), write('b', 2, null), read('b', 3, 4), read('b', 5, 6)],
  'a write without an answer that was not done': [write('a', 0, 1), write('b', 2, null), read('a', 3, 4)],
  'a write without an answer that is done much later': [
    ...[write('a', 0, 1), write('b', 2, null), read('a', 3, 4), write('c', 5, 6), read('c', 7, 8), read('b', 9, 10)],
  ],
  'the answer and the next question at the same moment': [write('a', 0, 1), read('', 1, 2)],
};

const BAD: Record<string, RegisterOperation[]> = {
  'a read of what was written over': [write('a', 0, 1), write('b', 2, 3), read('a', 4, 5)],
  'a read of what nobody wrote': [write('a', 0, 1), read('b', 2, 3)],
  'a read of what is written later': [read('a', 0, 1), write('a', 2, 3)],
  'a write that was lost': [write('a', 0, 1), read('', 2, 3)],
  'two reads that see the writes in two orders': [
    ...[write('a', 0, 9), write('b', 0, 9), read('a', 1, 2), read('b', 3, 4), read('a', 5, 6)],
  ],
  'new, then old, during one write': [write('a', 0, 9), read('a', 1, 2), read('', 3, 4)],
  'a write without an answer that is done twice': [
    ...[write('b', 0, null), read('b', 1, 2), write('a', 3, 4), read('a', 5, 6), read('b', 7, 8)],
  ],
  'a write without an answer that is seen before it is asked for': [read('b', 0, 1), write('b', 2, null)],
};

test.each(Object.entries(GOOD))('an order is found: %s', (_what, history) => {
  expect(misfitOf(history, '')).toBeNull();
});

test.each(Object.entries(BAD))('there is no order: %s', (_what, history) => {
  expect(misfitOf(history, '')).not.toBeNull();
});

test('what has no place is named, with what the register held by then', () => {
  expect(misfitOf([write('a', 0, 1), write('b', 2, 3), read('a', 4, 5)], '')).toEqual({
    operation: read('a', 4, 5),
    ordered: 2,
    held: 'b',
  });
});

/** Every order that there is, tried one by one. */
function hasOrder(left: readonly RegisterOperation[], held: string): boolean {
  if (left.every(({ to }) => to === null)) return true;
  return left.some((one, at) => {
    const others = left.filter((_, other) => other !== at);
    const isNext = others.every(({ to }) => to === null || to >= one.from);
    const fits = one.kind === 'write' || one.value === held;
    return isNext && fits && hasOrder(others, one.value);
  });
}

test('it says what trying every order says, of any short history', () => {
  const operation = fc.record({
    kind: fc.constantFrom('read' as const, 'write' as const),
    from: fc.integer({ min: 0, max: 12 }),
    length: fc.option(fc.integer({ min: 0, max: 6 }), { freq: 4 }),
    sees: fc.nat(6),
  });
  const seen = new Set<boolean>();
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 7 }), (drawn) => {
      const values = ['', ...drawn.flatMap(({ kind }, at) => (kind === 'write' ? [`v${at}`] : []))];
      const history = drawn.map(({ kind, from, length, sees }, at): RegisterOperation => {
        if (kind === 'write') return write(`v${at}`, from, length === null ? null : from + length);
        return read(values[sees % values.length] ?? '', from, from + (length ?? 1));
      });
      const isGood = hasOrder(history, '');
      seen.add(isGood);
      expect(misfitOf(history, '') === null).toBe(isGood);
    }),
    { numRuns: 2000 },
  );
  expect(seen.size).toBe(2);
});

test('long histories of many clients, with lost answers, are decided, and one read that is wrong is found', () => {
  // A register that is right: each operation happens at a moment between its question and its answer.
  let [draw, held] = [12_345, ''];
  const next = (below: number) => {
    draw = (draw * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((draw / 2_147_483_648) * below);
  };
  const history: RegisterOperation[] = [];
  for (let at = 0; at < 3000; at += 1) {
    const moment = at * 10;
    const [from, to] = [moment - next(40), moment + next(40)];
    if (next(2) === 0) {
      held = `v${at}`;
      history.push(write(held, from, next(8) === 0 ? null : to));
    } else history.push(read(held, from, to));
  }
  expect(misfitOf(history, '')).toBeNull();
  const at = history.findLastIndex(({ kind }) => kind === 'read');
  const wrong = history.with(at, read('v0', 29_000, 29_001));
  expect(misfitOf([...wrong, write('v0', -50, -49)], '')).not.toBeNull();
});
