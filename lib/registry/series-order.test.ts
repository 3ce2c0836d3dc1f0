import { expect, test } from 'vitest';
import { acquiredBy, NO_SERIES, orderAtRest, type SeriesOrder } from './series-order.ts';

const after = (terms: readonly number[], from: SeriesOrder = NO_SERIES) => {
  let order = from;
  return terms.map((term) => {
    order = acquiredBy(order, term);
    return order;
  });
};
const numbers = (terms: readonly number[], from?: SeriesOrder) => after(terms, from).map((one) => one.seriesTerm);

test('it grows with each host that follows another one, and stays with who comes again', () => {
  expect(numbers([1, 2, 1, 1, 2, 3, 1])).toEqual([1, 2, 3, 3, 4, 5, 6]);
  expect(numbers([3, 1, 2])).toEqual([3, 4, 5]);
});

test('with one host it is the term of that host, and goes on behind every number after a restore', () => {
  expect(numbers([1, 1, 1])).toEqual([1, 1, 1]);
  const [before] = after([1, 2, 1, 2, 1, 2]).slice(-1);
  expect(numbers([9, 9, 10], before)).toEqual([9, 9, 10]);
});

test('what is shipped nowhere has a number without a series', () => {
  const one = { seriesTerm: 4, seriesHostTerm: 2 };
  expect(acquiredBy(one, 2, { isUnshipped: true })).toEqual({ seriesTerm: 5, seriesHostTerm: 2 });
  expect(acquiredBy(one, 3, { isUnshipped: true })).toEqual({ seriesTerm: 5, seriesHostTerm: 3 });
  expect(acquiredBy(NO_SERIES, 3, { isUnshipped: true })).toEqual({ seriesTerm: 3, seriesHostTerm: 3 });
});

test('what rests has the number of who acquired it last', () => {
  expect(orderAtRest(NO_SERIES, 4)).toBe(4);
  expect(orderAtRest({ seriesTerm: 7, seriesHostTerm: 4 }, 4)).toBe(7);
  expect(orderAtRest({ seriesTerm: 7, seriesHostTerm: 4 }, 9)).toBe(7);
});
