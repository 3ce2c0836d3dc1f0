import { expect, test } from 'vitest';
import { sharesOf } from './state-bar.tsx';

const NONE = { created: 0, active: 0, suspended: 0, frozen: 0, archived: 0, deleted: 0 };

test('a bar shows every state but deleted, in the order of the lifecycle', () => {
  const shares = sharesOf({ ...NONE, active: 1, frozen: 3, deleted: 90 });
  expect(shares.map(({ state }) => state)).toEqual(['active', 'frozen']);
  expect(shares.at(-1)).toMatchObject({ x: shares[0]?.width });
  expect(shares.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(1000);
  expect(sharesOf(NONE)).toEqual([]);
});

test('one of a million is still visible', () => {
  const [one] = sharesOf({ ...NONE, active: 1, archived: 1_000_000 });
  expect(one?.width).toBeGreaterThanOrEqual(8);
});
