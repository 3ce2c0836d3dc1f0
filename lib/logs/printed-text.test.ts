import { expect, test } from 'vitest';
import { levelOf, maskOf, PrintedText } from './printed-text.ts';

const none = maskOf([]);

test('lines end where they end, whatever the pieces, and empty ones are left out', () => {
  const whole = 'one\r\ntwo\nthree\rfour\n\n\nfive';
  for (let cut = 0; cut <= whole.length; cut += 1) {
    const text = new PrintedText();
    const lines = [...text.take(whole.slice(0, cut), none), ...text.take(whole.slice(cut), none), ...text.end(none)];
    expect(lines).toEqual(['one', 'two', 'three', 'four', 'five']);
  }
  expect(new PrintedText().end(none)).toEqual([]);
});

test('escapes of terminals, NUL, bytes that are no text and characters that turn text are not in a line', () => {
  const text = new PrintedText();
  const printed = '\x1b[31mred\x1b[0m \x1b]0;title\x07a\0b\x08\u202ec\udc80\t| \x1b[2J\x9b1md\x7f\n';
  expect(text.take(printed, none)).toEqual(['red abc\ufffd\t| d']);
});

test('a secret is masked that is cut in two, coloured within, or at the edge of a line too long', () => {
  const mask = maskOf(['a-secret-token']);
  const text = new PrintedText();
  expect(text.take('it is a-sec', mask)).toEqual([]);
  expect(text.take('ret-\x1b[1mtok\0en!\n', mask)).toEqual(['it is **************!']);
  const long = `${'x'.repeat(65_530)}a-secret-token${'y'.repeat(300_000)}`;
  for (let size = 40_000; size < 66_000; size += 1013) {
    const stream = new PrintedText();
    const lines: string[] = [];
    for (let at = 0; at < long.length; at += size) lines.push(...stream.take(long.slice(at, at + size), mask));
    lines.push(...stream.end(mask));
    expect(lines.join('')).toBe(long.replace('a-secret-token', '*'.repeat(14)));
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(8192);
  }
});

test('a line says its level itself, or has that of its stream', () => {
  expect(levelOf('stdout', 'all is well')).toBe('info');
  expect(levelOf('stderr', 'all is well')).toBe('warn');
  expect(levelOf('stdout', '2026-01-01 ERROR it broke')).toBe('error');
  expect(levelOf('stderr', '{"level":"debug","msg":"x"}')).toBe('debug');
  expect(levelOf('stderr', 'INFO ready')).toBe('info');
  expect(levelOf('log', 'Warning: old')).toBe('warn');
  expect(levelOf('stdout', 'Traceback (most recent call last):')).toBe('error');
  expect(levelOf('stdout', 'terrors and errors')).toBe('info');
});
