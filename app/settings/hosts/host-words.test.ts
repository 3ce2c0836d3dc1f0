import { expect, test } from 'vitest';
import { hostStateInWords, hostsInWords } from './host-words.ts';

const runs = { self: false, held: true, dead: false, draining: false };

test('a host that is dead is told apart from one that has ended, and from the one that answers', () => {
  expect(hostStateInWords({ ...runs, self: true })).toEqual({ says: 'answers this page', isBad: false });
  expect(hostStateInWords({ ...runs, draining: true })).toEqual({ says: 'runs, takes nothing new', isBad: false });
  expect(hostStateInWords({ ...runs, held: false })).toEqual({ says: 'ended, its name is free', isBad: false });
  expect(hostStateInWords({ ...runs, dead: true })).toMatchObject({ isBad: true });
});

test('the title counts those that run and those that are dead', () => {
  expect(hostsInWords([{ ...runs, self: true }])).toBe('one runs');
  expect(hostsInWords([runs, runs, { ...runs, held: false }])).toBe('2 run');
  expect(hostsInWords([runs, { ...runs, dead: true }])).toBe('one runs, one is dead');
  expect(hostsInWords([runs, runs, { ...runs, dead: true }, { ...runs, dead: true }])).toBe('2 run, 2 are dead');
});
