import { expect, test } from 'vitest';
import { isKeptByNext } from './route-adapter.ts';

test('what Next would hand on as another address is not led to it', () => {
  for (const target of [
    '/api/a/../b',
    '/api/a/%2e%2E/b',
    '/api/a/.%2e/b',
    '/api/a/./b',
    '/api//a',
    '//api/a',
    '/api/a/',
    '/api/a%2fb',
    '/api/a\\b',
    '/api/a%5cb',
    '/api/%zz',
    '/api/%c0%ae',
    '/api/a%00',
    '/api/é',
    '/api/a#b',
    '*',
    'api/a',
    '',
  ])
    expect([target, isKeptByNext(target)]).toEqual([target, false]);
});

test('an address that is what it seems is led on, with whatever query', () => {
  for (const target of [
    '/api',
    '/healthz',
    '/api/instances/box/volumes/workspace/a%20b%3F.txt',
    '/api/instances?q=../..//%2e%2e%zz&limit=5',
    '/instances/a...b/..c',
  ])
    expect([target, isKeptByNext(target)]).toEqual([target, true]);
});
