import { expect, test } from 'vitest';
import { type Asked, findingsOf, registerFindings } from './findings.ts';
import { RowHistory } from './row-history.ts';

const LEASE_MS = 1000;

/** Of `one`, which renews until 1000 and then no more, and of `two`, which always does; `a` is that of `owner`. */
function rowsWith(owner: string | null): RowHistory {
  const rows = new RowHistory(LEASE_MS);
  for (let at = 0; at < 60; at += 1) {
    const host = (name: string, term: number, renewals: number) => ({ name, term, token: name, renewals });
    rows.saw({
      ...{ askedMs: at * 100, answeredMs: at * 100 + 10 },
      hosts: [host('one', 1, Math.min(at, 10)), host('two', 2, at)],
      sandboxes: [{ id: 'a', owner, term: null, token: null }],
    });
  }
  return rows;
}

const asked = (over: Partial<Asked>): Asked => ({
  ...{ register: 'a', host: 'two', kind: 'read', value: 'x', fromMs: 100, toMs: 200, outcome: 'done', answer: '200' },
  ...over,
});
const found = (owner: string | null, ...all: Asked[]) =>
  findingsOf({ asked: all, claims: [], rows: rowsWith(owner), leaseMs: LEASE_MS });
const late = { fromMs: 3000, toMs: 3100 };

test('answers of hosts that live, and refusals of those that do not, are as they should be', () => {
  const refused = asked({ host: 'one', ...late, outcome: 'refused', answer: '503 registry_unavailable' });
  const unreachable = asked({ ...late, outcome: 'refused', answer: '409 unreachable' });
  expect(found('one', asked({ host: 'one' }), refused, unreachable)).toEqual([]);
  expect(found('two', asked({ host: 'two', ...late }))).toEqual([]);
});

test('a host that answers when it may not, and another that answers what was the dead one’s, are found', () => {
  expect(found('one', asked({ host: 'one', ...late }))).toEqual([
    expect.stringMatching(/^answered by a host that may/),
  ]);
  expect(found('one', asked({ host: 'two', ...late }))).toEqual([expect.stringMatching(/^answered while it was the/)]);
});

test('what is nobody’s and unreachable, and an answer that the product has not, are found', () => {
  const unreachable = asked({ ...late, outcome: 'refused', answer: '409 unreachable' });
  expect(found(null, unreachable)).toEqual([expect.stringMatching(/^nobody's, and unreachable/)]);
  expect(found(null, asked({ outcome: 'wrong', answer: '500' }))).toEqual([expect.stringMatching(/^no answer of the/)]);
});

test('who takes a host for dead that renews is found, and who takes one for dead that does not is right', () => {
  const claimed = (of: string, toMs: number) =>
    findingsOf({
      ...{ asked: [], rows: rowsWith(null), leaseMs: LEASE_MS },
      claims: [{ by: 'three', of, fromMs: toMs - 10, toMs }],
    });
  expect(claimed('one', 2500)).toEqual([]);
  expect(claimed('one', 1500)).toHaveLength(1);
  expect(claimed('two', 2500)).toHaveLength(1);
});

test('a write that was refused and read, one that was lost, and a read of before are found', () => {
  const write = (value: string, fromMs: number, outcome: Asked['outcome'] = 'done') =>
    asked({ kind: 'write', value, fromMs, toMs: fromMs + 10, outcome });
  const read = (value: string, fromMs: number) => asked({ value, fromMs, toMs: fromMs + 10 });
  const of = (...all: Asked[]) => registerFindings(all, { initial: 'first', late: [] });
  expect(of(write('a', 0), read('a', 20), write('b', 40, 'unknown'), read('a', 60), read('b', 80))).toEqual([]);
  expect(of(write('a', 0, 'refused'), read('a', 20))).toEqual([expect.stringMatching(/^refused, and done/)]);
  expect(of(write('a', 0), read('first', 20))).toEqual([expect.stringMatching(/^not linearisable: read first/)]);
  expect(of(write('a', 0), write('b', 20), read('a', 40))).toEqual([expect.stringMatching(/held b$/)]);
  const before = write('late', -100, 'unknown');
  expect(registerFindings([read('first', 0), read('late', 20)], { initial: 'first', late: [before] })).toEqual([]);
});
