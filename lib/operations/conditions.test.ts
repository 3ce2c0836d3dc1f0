import { expect, test } from 'vitest';
import { etagOf, rangeOf, readVerdict, versionsOf, writeConditionOf } from './conditions.ts';

const none = { ifMatch: null, ifNoneMatch: null, ifModifiedSince: null, ifUnmodifiedSince: null };
const file = { version: 7, mtime: 1_765_500_000 };
const at = (seconds: number) => new Date(seconds * 1000).toUTCString();

test('a version survives the way into an ETag and back', () => {
  for (const version of [12, 1_795_313_758_000_123, Number.MAX_SAFE_INTEGER]) {
    expect(versionsOf(etagOf(version), false)).toEqual([version]);
  }
  expect(versionsOf('"v1", W/"v2" , "v3","other", ""', true)).toEqual([1, 2, 3]);
  expect(versionsOf('"v1", W/"v2"', false)).toEqual([1]);
  expect(versionsOf(' * ', false)).toBe('*');
  expect(versionsOf('v1', false)).toEqual([]);
});

test('a write has a condition only when a header gives one', () => {
  expect(writeConditionOf({})).toBeUndefined();
  expect(writeConditionOf({ ifNoneMatch: '*' })).toEqual({ ifNoneMatch: '*' });
  expect(writeConditionOf({ ifMatch: '"nonsense"' })).toEqual({ ifMatch: [] });
});

test('reads are decided by If-Match, then by If-None-Match, then by dates', () => {
  expect(readVerdict(none, file)).toBe('send');
  expect(readVerdict({ ...none, ifMatch: '"v7"' }, file)).toBe('send');
  expect(readVerdict({ ...none, ifMatch: '"v6"' }, file)).toBe('failed');
  expect(readVerdict({ ...none, ifMatch: '"v6"', ifNoneMatch: '"v7"' }, file)).toBe('failed');
  expect(readVerdict({ ...none, ifNoneMatch: 'W/"v7"' }, file)).toBe('not_modified');
  expect(readVerdict({ ...none, ifNoneMatch: '"v6"' }, file)).toBe('send');
  expect(readVerdict({ ...none, ifModifiedSince: at(file.mtime) }, file)).toBe('not_modified');
  expect(readVerdict({ ...none, ifModifiedSince: at(file.mtime - 1) }, file)).toBe('send');
  expect(readVerdict({ ...none, ifModifiedSince: at(file.mtime), ifNoneMatch: '"v6"' }, file)).toBe('send');
  expect(readVerdict({ ...none, ifUnmodifiedSince: at(file.mtime - 1) }, file)).toBe('failed');
  expect(readVerdict({ ...none, ifUnmodifiedSince: at(file.mtime) }, file)).toBe('send');
  expect(readVerdict({ ...none, ifModifiedSince: 'yesterday' }, file)).toBe('send');
});

test.each([
  [null, 10, 'whole'],
  ['bytes=0-3', 10, { start: 0, end: 3 }],
  ['bytes=4-', 10, { start: 4, end: 9 }],
  ['bytes=-3', 10, { start: 7, end: 9 }],
  ['bytes=-30', 10, { start: 0, end: 9 }],
  ['bytes=8-100', 10, { start: 8, end: 9 }],
  ['bytes=9-9', 10, { start: 9, end: 9 }],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=-0', 10, 'unsatisfiable'],
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=5-4', 10, 'whole'],
  ['bytes=0-1,3-4', 10, 'whole'],
  ['bytes=-', 10, 'whole'],
  ['items=0-3', 10, 'whole'],
  ['bytes=a-b', 10, 'whole'],
  ['bytes=99999999999999999999-', 10, 'whole'],
])('the range %s of %i bytes', (header, size, expected) => {
  expect(rangeOf(header, size)).toEqual(expected);
});
