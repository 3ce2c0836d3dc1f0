import { expect, test } from 'vitest';
import { loadWindowOf } from './load-window.ts';
import type { SearchParams } from './search-params.ts';

const NOW = 1_765_500_000;
const shownOf = (search: SearchParams) => loadWindowOf(search, '/tenants/acme', NOW);

test('without a time in the address it is the last hour, and it goes on', () => {
  const { shown, isLive, links } = shownOf({});
  expect([shown, isLive]).toEqual([{ from: NOW + 1 - 3600, to: NOW + 1 }, true]);
  expect(links.map(({ href, isShown }) => [href, isShown])).toEqual([
    ['/tenants/acme#load', true],
    ['/tenants/acme?load=day#load', false],
    ['/tenants/acme?load=month#load', false],
  ]);
});

test('a length and a part are in the address', () => {
  expect(shownOf({ load: 'day' }).shown.from).toBe(NOW + 1 - 86_400);
  const part = shownOf({ begin: String(NOW - 600), end: String(NOW - 300) });
  expect([part.shown, part.isLive]).toEqual([{ from: NOW - 600, to: NOW - 300 }, false]);
  expect(part.links.some(({ isShown }) => isShown)).toBe(false);
});

test.each([
  { begin: 'NaN', end: 'NaN' },
  { begin: String(NOW), end: String(NOW - 600) },
  { begin: '-5', end: '100' },
  { begin: String(NOW + 1000), end: String(NOW + 2000) },
  { begin: '1', end: '99999999999999' },
  { load: 'century' },
])('nonsense is left out: %j', (search) => {
  expect(shownOf(search)).toEqual(shownOf({}));
});
