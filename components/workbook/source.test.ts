import { expect, test } from 'vitest';
import { cpuMs } from '#lib/testing/cpu-time.ts';
import { codeLines } from '../files/code-lines.ts';
import { highlightSection, type Piece } from './org-highlight.ts';
import { diffSources } from './source-diff.ts';
import { sectionsOf } from './source-sections.ts';

const SOURCE = [
  '#+title: Rows',
  '* main :workflow:',
  ':PROPERTIES:',
  ':SCHEDULE: 0 3 * * *',
  ':END:',
  '** load :component:',
  'SCHEDULED: <2026-11-23 Mon 03:00 +1d>',
  '#+begin_src python :out rows:array :persist',
  'def load():',
  '    return "rows"',
  '#+end_src',
  '',
].join('\n');

function textOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : textOf(piece.pieces))).join('');
}

function looksOf(pieces: readonly Piece[]): string[] {
  return pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.look, ...looksOf(piece.pieces)]));
}

test('a source is split at its headings, and its sections together are the source', () => {
  const sections = sectionsOf(SOURCE);
  expect(sections.map(({ firstLine }) => firstLine)).toEqual([1, 2, 6]);
  expect(sections.map(({ text }) => text).join('\n')).toBe(SOURCE);
  expect(sectionsOf('')).toEqual([{ firstLine: 1, text: '' }]);
});

test('highlighting changes no letter and no line, whatever is in the source', () => {
  for (const text of [
    SOURCE,
    '',
    '\n\n',
    '* <b>&amp;</b>\n#+begin_src js\nlet a = `',
    '#+begin_src sh\n* no heading',
  ]) {
    expect(highlightSection(text).map(textOf).join('\n')).toBe(text);
  }
});

test('headings, tags, properties, timestamps, block lines and the code of blocks have colours of their own', () => {
  const lines = highlightSection(SOURCE).map(looksOf);
  expect(lines[0]).toEqual(['hljs-meta']);
  expect(lines[1]).toEqual(['hljs-section', 'hljs-symbol']);
  expect(lines[3]).toEqual(['hljs-attr']);
  expect(lines[6]).toEqual(['hljs-keyword', 'hljs-number']);
  expect(lines[7]).toEqual(['hljs-meta', 'hljs-attr', 'hljs-attr']);
  expect(lines[8]).toContain('hljs-keyword');
  expect(lines[9]).toContain('hljs-string');
});

test('an org file is highlighted among the files too', () => {
  expect(JSON.stringify(codeLines(SOURCE, 'org', { firstLine: 1, marked: 2 }))).toContain('hljs-section');
});

test('a diff has the changed lines with their numbers and a few around them', () => {
  const changed = SOURCE.replace('"rows"', '"more rows"');
  expect(diffSources(SOURCE, SOURCE)).toEqual([]);
  expect(diffSources(SOURCE, changed)).toEqual([
    [
      { kind: 'same', text: 'SCHEDULED: <2026-11-23 Mon 03:00 +1d>', line: 7 },
      { kind: 'same', text: '#+begin_src python :out rows:array :persist', line: 8 },
      { kind: 'same', text: 'def load():', line: 9 },
      { kind: 'removed', text: '    return "rows"', line: 10 },
      { kind: 'added', text: '    return "more rows"', line: 10 },
      { kind: 'same', text: '#+end_src', line: 11 },
    ],
  ]);
});

test('sources of 2 MB that share nothing are not compared for long', () => {
  const lines = (seed: number) =>
    Array.from({ length: 60_000 }, (_, at) => `${(at * seed) % 99_991} and more`).join('\n');
  const started = cpuMs();
  expect(diffSources(lines(7919), lines(104_729))).toBeNull();
  expect(cpuMs() - started).toBeLessThan(5000);
});
