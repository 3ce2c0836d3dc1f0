import { expect, test } from 'vitest';
import { RowHistory } from './row-history.ts';

const LEASE_MS = 1000;

/** Looks of a history, one each 100 ms that takes 10 ms. `renewals`: of the host at each of them; null: it fails. */
function seen(renewals: readonly (number | null)[], token: string | null = 'a'): RowHistory {
  const rows = new RowHistory(LEASE_MS);
  for (const [at, count] of renewals.entries()) {
    const askedMs = at * 100;
    if (count === null) rows.sawNothing(askedMs);
    else {
      const hosts = [{ name: 'one', term: 1, token, renewals: count }];
      rows.saw({ askedMs, answeredMs: askedMs + 10, hosts, sandboxes: [] });
    }
  }
  return rows;
}

const still = (count: number, looks: number): number[] => Array.from({ length: looks }, () => count);

test('a host is surely silent one lease after the first look that shows its number, until the last one', () => {
  const rows = seen([...still(1, 20), 2]);
  expect(rows.silences('one')).toEqual([{ from: 1010, to: 1900 }]);
  expect(rows.isSilent('one', 1100, 1200)).toBe(true);
  expect(rows.isSilent('one', 900, 1200)).toBe(false);
  expect(rows.isSilent('one', 1100, 1950)).toBe(false);
  expect(seen([...still(1, 10), 2, ...still(2, 10)]).silences('one')).toEqual([]);
});

test('what could not be seen proves no silence, and takes no time that a host may have seemed dead', () => {
  const rows = seen([...still(1, 8), null, null, ...still(1, 8)]);
  expect(rows.silences('one')).toEqual([]);
  expect(rows.maySeemDead('one', 0, 5000)).toBe(true);
  expect(rows.maySeemDead('one', 0, 1850)).toBe(false);
});

test('a host that renews seems dead to nobody who is right; one that has handed its name back may', () => {
  const renewing = seen(Array.from({ length: 40 }, (_, at) => Math.floor(at / 3)));
  expect(renewing.maySeemDead('one', 0, 3900)).toBe(false);
  expect(seen(still(1, 40)).maySeemDead('one', 500, 900)).toBe(false);
  expect(seen(still(1, 40)).maySeemDead('one', 500, 1100)).toBe(true);
  expect(seen(still(1, 5), null).maySeemDead('one', 100, 200)).toBe(true);
});

test('whose a sandbox is, is known between two looks that say so', () => {
  const rows = new RowHistory(LEASE_MS);
  for (const [at, owner] of ['one', 'one', 'two', 'two', null].entries()) {
    const sandboxes = [{ id: 'a', owner, term: null, token: null }];
    rows.saw({ askedMs: at * 100, answeredMs: at * 100 + 10, hosts: [], sandboxes });
  }
  expect(rows.ownerDuring('a', 20, 90)).toBe('one');
  expect(rows.ownerDuring('a', 20, 190)).toBeUndefined();
  expect(rows.ownerDuring('a', 220, 290)).toBe('two');
  expect(rows.ownerDuring('b', 20, 90)).toBeUndefined();
});

test('two hosts of one term, and two of one acquisition, are found', () => {
  const rows = new RowHistory(LEASE_MS);
  const look = (hosts: [string, number][], owners: [string, string, number, string][]) =>
    rows.saw({
      ...{ askedMs: 0, answeredMs: 1 },
      hosts: hosts.map(([name, term]) => ({ name, term, token: 'a', renewals: 1 })),
      sandboxes: owners.map(([id, owner, term, token]) => ({ id, owner, term, token })),
    });
  look(
    [
      ['one', 1],
      ['two', 2],
    ],
    [['a', 'one', 1, 'x']],
  );
  look(
    [],
    [
      ['a', 'two', 2, 'y'],
      ['b', 'one', 1, 'z'],
    ],
  );
  expect(rows.findings).toEqual([]);
  look([], [['a', 'two', 2, 'x']]);
  look([['three', 2]], []);
  look([], [['b', 'two', 1, 'w']]);
  expect(rows.findings).toHaveLength(3);
});
