import { expect, test } from 'vitest';
import type { HostAnswer } from '#lib/contract/schema/hosts.ts';
import { drainInWords, hostStateInWords, hostsInWords, whyNotDrained } from './host-words.ts';

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

const drain: NonNullable<HostAnswer['drain']> = {
  ...{ job: 'job-1', asked: 1, reason: null, include_held: false },
  state: 'running',
  ...{ chosen: 9, done: 3, failed: 1, skipped: 1 },
};

test('how far a host is emptied is said, and what is left', () => {
  expect(drainInWords({ sandboxes: 4, drain: { ...drain, state: 'waiting' } })).toMatch(/not begun/);
  expect(drainInWords({ sandboxes: 4, drain })).toBe('5 of 9 so far.');
  expect(drainInWords({ sandboxes: 2, drain: { ...drain, state: 'done' } })).toBe('Done; 2 are left.');
  expect(drainInWords({ sandboxes: 1, drain: { ...drain, state: 'cancelled' } })).toBe('Cancelled; one is left.');
  expect(drainInWords({ sandboxes: 0, drain: { ...drain, state: 'done' } })).toBe('Done; nothing is left.');
  expect(drainInWords({ sandboxes: 3, drain: null })).toBe('What it has stays where it is.');
});

test('the last host that takes what is new is not emptied, nor one that is being emptied', () => {
  const [one, two] = [
    { ...runs, name: 'one', drain: null },
    { ...runs, name: 'two', drain: null },
  ];
  expect(whyNotDrained(one, [one, two])).toBeNull();
  for (const other of [
    { ...two, dead: true },
    { ...two, held: false },
    { ...two, draining: true },
  ])
    expect(whyNotDrained(one, [one, other])).toMatch(/^No other host lives/);
  expect(whyNotDrained({ ...one, drain }, [one, two])).toBe('It is being emptied.');
  expect(whyNotDrained({ ...one, drain: { ...drain, state: 'done' } }, [one, two])).toBeNull();
});
