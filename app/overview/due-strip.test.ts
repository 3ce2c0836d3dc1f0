import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { retryFor } from '../../components/sandbox/stuck-words.ts';
import { stuckInWords } from '../../lib/contract/trouble-words.ts';
import { DueStrip, dueInWords, shortFigure } from './due-strip.tsx';

const span = (to: Partial<Record<'suspended' | 'frozen' | 'archived' | 'deleted', number>>, isCut = false) => ({
  from: 0,
  until: 299,
  to: { suspended: 0, frozen: 0, archived: 0, deleted: 0, ...to },
  isCut,
});

test('due moves are described by target state, each once and in singular or plural', () => {
  const words = dueInWords([span({ suspended: 1 }), span({ frozen: 1000, deleted: 1 }), span({ frozen: 234 })]);
  expect(words).toEqual([
    { to: 'suspended', words: '1 suspends' },
    { to: 'frozen', words: '1,234 freeze' },
    { to: 'deleted', words: '1 is deleted' },
  ]);
  expect(dueInWords([span({})])).toEqual([]);
  expect(dueInWords([span({ frozen: 2000 }, true), span({ suspended: 1 })])).toEqual([
    { to: 'suspended', words: '1 suspends' },
    { to: 'frozen', words: '2,000 or more freeze' },
  ]);
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

test('a few are a dot each with their number above; many are bars', () => {
  const drawn = (...spans: ReturnType<typeof span>[]) =>
    renderToStaticMarkup(createElement(DueStrip, { spans, zone: 'UTC' })).replace(/^.*?<svg class="due-strip"/, '');
  const few = drawn(span({ suspended: 1 }), span({}), span({ frozen: 2, deleted: 1 }));
  expect(few.match(/<circle[^>]*fill="var\(--\w+\)"/g)).toHaveLength(4);
  expect(few).not.toMatch(/<rect[^>]*fill="var\(--/);
  expect(few.match(/<text[^>]*text-anchor="middle"[^>]*>\d/g)).toHaveLength(2);
  const many = drawn(span({ suspended: 6 }), span({ frozen: 1 }));
  expect(many).not.toContain('<circle');
  expect(many.match(/<rect[^>]*fill="var\(--/g)).toHaveLength(2);
});
