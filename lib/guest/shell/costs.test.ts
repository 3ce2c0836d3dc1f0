/** What long outputs of awk and long inputs of sort cost, in processor time, compared within one run. */
import { expect, test } from 'vitest';
import { Bash } from './bash.ts';
import { rowOrder, type SortKey, type SortRule } from './commands/sort-keys.ts';

const never = Number.MAX_SAFE_INTEGER;
const shell = new Bash({
  executionLimits: { maxAwkIterations: never, maxInputBytes: never, maxArrayElements: never, maxStringLength: 2 ** 26 },
});

async function costOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

// Four times the lines cost sixteen times as much where each line costs what has been printed before.
test.each([
  [
    'printf',
    (lines: number) => `awk 'BEGIN { for (i = 0; i < ${lines}; i++) printf "%d of many lines\\n", i }' | wc -l`,
  ],
  [
    'print into a file',
    (lines: number) => `awk 'BEGIN { for (i = 0; i < ${lines}; i++) print i > "/tmp/f" }'; wc -l < /tmp/f`,
  ],
])('%s of awk costs as much for each line, however many there are', async (_, script) => {
  const run = async (lines: number) => expect(Number((await shell.exec(script(lines))).stdout)).toBe(lines);
  await run(2_000);
  const some = await costOf(() => run(10_000));
  const many = await costOf(() => run(40_000));
  expect(many / some).toBeLessThan(9);
});

test('a sort by two keys costs a few times what a plain one does', async () => {
  const rule: SortRule = {
    kind: 'text',
    reverse: false,
    skipBlanks: false,
    foldCase: false,
    dictionary: false,
    printable: false,
  };
  const keyOf = (field: number, kind: SortRule['kind']): SortKey => ({
    rule: { ...rule, kind },
    start: { field, character: 1 },
    stop: { field, character: 0, skipBlanks: false },
  });
  const lines = Array.from(
    { length: 100_000 },
    (_, at) => `name${(at * 7919) % 1009} some words ${(at * 31) % 997} more`,
  );
  const sortBy = (keys: readonly SortKey[]) => {
    const { rowOf, compare } = rowOrder(keys, null);
    return lines.map(rowOf).sort(compare);
  };
  const plain = [{ rule, start: null, stop: null }];
  const keys = [keyOf(4, 'number'), keyOf(1, 'text')];
  sortBy(plain);
  const once = await costOf(() => sortBy(plain));
  let sorted: { line: string }[] = [];
  const twice = await costOf(() => {
    sorted = sortBy(keys);
  });
  const first = sorted.slice(0, 3).map(({ line }) => line.split(' ')[3]);
  expect(first).toEqual(['0', '0', '0']);
  expect(twice / once).toBeLessThan(15);
});
