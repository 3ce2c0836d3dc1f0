import { expect, test } from 'vitest';
import { type ScreenPosition, StreamText } from './output.ts';

const ESC = '\x1b';
const fresh = (): ScreenPosition => ({ fresh: true, by: null });
const shown = (...pieces: string[]) => {
  const stream = new StreamText(fresh());
  return pieces.map((piece) => stream.take(piece)).join('');
};

test.each([
  ['moves of the cursor', `a${ESC}[2Ab${ESC}[10;10Hc${ESC}7d${ESC}Me`, 'abcde'],
  ['clearing', `a${ESC}[2Jb${ESC}cc`, 'abc'],
  [
    'titles, links and the clipboard',
    `${ESC}]0;you${BEL()}a${ESC}]52;c;eA==${ESC}\\b${ESC}]8;;http://x${ESC}\\c`,
    'abc',
  ],
  ['questions that the emulator would answer', `${ESC}[6na${ESC}[cb${ESC}P$q${ESC}\\c`, 'abc'],
  ['other screens and modes', `${ESC}[?1049ha${ESC}[?2004lb`, 'ab'],
  ['control and direction characters', 'a\x00\x07\b\x7f\x9b31m\u202eb', 'a31mb'],
])('%s are left out', (_what, output, text) => {
  expect(shown(output)).toBe(`${text}${ESC}[0m`);
});

function BEL(): string {
  return '\x07';
}

test('colours are kept, also across pieces; styles that make text unreadable are not', () => {
  expect(shown(`${ESC}[1;32mgo`, 'on', `${ESC}[0mend`)).toBe(
    `${ESC}[0m${ESC}[1;32mgo${ESC}[0m${ESC}[1;32mon${ESC}[0m${ESC}[1;32m${ESC}[0mend${ESC}[0m`,
  );
  expect(shown(`${ESC}[2;5;8mx`)).toBe(`${ESC}[0mx${ESC}[0m`);
});

test('true colours become the nearest of the 256', () => {
  expect(shown(`${ESC}[38;2;255;0;0mx`)).toContain(`${ESC}[38;5;196m`);
  expect(shown(`${ESC}[48;5;999mx`)).toContain(`${ESC}[48;5;0m`);
});

test('a sequence may come in two pieces, and an unfinished one holds back little', () => {
  expect(shown(`a${ESC}`, '[3', '1mb')).toBe(`a${ESC}[0m${ESC}[0m${ESC}[31mb${ESC}[0m`);
  expect(shown(`${ESC}]0;${'x'.repeat(5000)}`, 'after')).toContain('after');
});

test('stderr has a sign at each line, and never shares a line with stdout', () => {
  const place = fresh();
  const out = new StreamText(place);
  const err = new StreamText(place, { sign: '! ', base: '31' });
  const plain = (text: string) => text.replaceAll(`${ESC}[0m`, '').replaceAll(`${ESC}[31m`, '');
  expect(plain(err.take('one\ntw'))).toBe('! one\n! tw');
  expect(plain(err.take('o\n'))).toBe('o\n');
  expect(plain(out.take('half'))).toBe('half');
  expect(plain(err.take('bad\n'))).toBe('\n! bad\n');
  expect(place.fresh).toBe(true);
});
