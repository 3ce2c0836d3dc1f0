import { expect, test } from 'vitest';
import { retryFor, stuckInWords } from '../../components/sandbox/stuck-words.ts';
import { dueInWords, shortFigure } from './due-strip.tsx';

const span = (to: Partial<Record<'suspended' | 'frozen' | 'archived' | 'deleted', number>>) => ({
  from: 0,
  until: 299,
  to: { suspended: 0, frozen: 0, archived: 0, deleted: 0, ...to },
});

test('due moves are described by target state, each once and in singular or plural', () => {
  const words = dueInWords([span({ suspended: 1 }), span({ frozen: 1000, deleted: 1 }), span({ frozen: 234 })]);
  expect(words).toEqual([
    { to: 'suspended', words: '1 suspends' },
    { to: 'frozen', words: '1,234 freeze' },
    { to: 'deleted', words: '1 is deleted' },
  ]);
  expect(dueInWords([span({})])).toEqual([]);
});

test('a figure above a narrow bar has at most four characters', () => {
  expect([0, 7, 999, 1000, 1234, 9960, 12_345, 100_000].map(shortFigure)).toEqual([
    '0',
    '7',
    '999',
    '1.0k',
    '1.2k',
    '10k',
    '12k',
    '100k',
  ]);
});

test('a stuck operation names its verb, its time and whether anybody carries it out', () => {
  const stuck = { pending: 'freeze', pending_since: 1000, interrupted: true };
  expect(stuckInWords(stuck, 1720)).toBe('Being frozen for 12 minutes, and nobody carries it out any more.');
  expect(stuckInWords({ ...stuck, pending: 'resume', interrupted: false }, 1090)).toMatch(
    /^Being woken for 1 minute, and still under way\./,
  );
  expect(retryFor({ ...stuck, ephemeral: false })?.verb).toBe('freeze');
  expect(retryFor({ ...stuck, ephemeral: true })).toBeNull();
  expect(retryFor({ pending: 'delete', ephemeral: false })).toBeNull();
});
