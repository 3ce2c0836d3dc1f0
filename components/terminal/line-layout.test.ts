import { expect, test } from 'vitest';
import { clustersOf } from './cells.ts';
import { layOut, renderLayout } from './line-layout.ts';

const PROMPT = { text: '$ ', width: 2 };
const MORE = { text: '> ', width: 2 };

const lay = (text: string, at = text.length, columns = 10) => {
  const { rows, row, column } = layOut({ text, at }, PROMPT, MORE, columns);
  return [rows.map((one) => one.text + (one.wraps ? '…' : '')), row, column];
};

test.each([
  ['an empty line', '', ['$ '], 0, 2],
  ['a line that wraps', 'abcdefghij', ['$ abcdefgh…', 'ij'], 1, 2],
  ['a line that just fits: the cursor waits below', 'abcdefgh', ['$ abcdefgh…', ''], 1, 0],
  ['several lines', 'ab\ncd', ['$ ab', '> cd'], 1, 4],
  ['a full line before a break', 'abcdefgh\nx', ['$ abcdefgh', '> x'], 1, 3],
  ['a wide character that does not fit goes on as a whole', 'abcdefg漢', ['$ abcdefg…', '漢'], 1, 2],
])('%s', (_what, text, rows, row, column) => {
  expect(lay(text)).toEqual([rows, row, column]);
});

test('the cursor is in its place, also before and after wide characters', () => {
  expect(lay('漢字x', 1)).toEqual([['$ 漢字x'], 0, 4]);
  expect(lay('abcdefg漢', 7)).toEqual([['$ abcdefg…', '漢'], 1, 0]);
  expect(lay('abcdefghij', 3)).toEqual([['$ abcdefgh…', 'ij'], 0, 5]);
});

test('a control character in a text is drawn as its picture, so that the emulator does nothing of what it says', () => {
  const hostile = 'a\x1b[6n\x1b]0;b\x07\x9b2Jc\x7f\u202ed';
  const { rows, column } = layOut({ text: hostile, at: hostile.length }, PROMPT, MORE, 80);
  expect(rows.map(({ text }) => text)).toEqual(['$ a␛[6n␛]0;b␇\ufffd2Jc␡d']);
  expect(column).toBe(2 + 'a␛[6n␛]0;b␇?2Jc␡d'.length);
  expect(lay('a\tb')).toEqual([['$ a    b'], 0, 8]);
  // A joined mark that is one does not bring another along.
  expect(lay('\x1b\u0301')[0]).not.toEqual([expect.stringContaining('\x1b')]);
});

test.each([
  ['a', [1]],
  ['漢', [2]],
  ['e\u0301', [1]],
  ['🙂', [2]],
  ['👍🏽', [2]],
  ['👨‍👩‍👧', [2]],
  ['🇫🇮🇸🇪', [2, 2]],
  ['❤️', [2]],
  ['❤', [1]],
  ['ﾊ', [1]],
  ['한', [2]],
])('%s takes as many cells as it is drawn in', (text, widths) => {
  expect(clustersOf(text).map(({ width }) => width)).toEqual(widths);
});

test('a text taller than the screen is shown around the cursor', () => {
  const text = Array.from({ length: 50 }, (_, n) => `row ${n}`).join('\n');
  const { text: written, row } = renderLayout(layOut({ text, at: text.length }, PROMPT, MORE, 20), 10);
  expect(written.split('\r\n')).toHaveLength(10);
  expect(written).toContain('row 49');
  expect(row).toBeLessThan(10);
});
