import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createLineLimit, LINES_A_MINUTE } from './log.ts';

function bounded() {
  const clock = { at: 0, now: () => clock.at };
  const lines: { msg: string; lines?: number; of?: string; id?: number }[] = [];
  const into = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(JSON.parse(line.toString()));
      done();
    },
  });
  const log = pino({ level: 'info', base: null, hooks: { logMethod: createLineLimit(clock) } }, into);
  return { clock, lines, log };
}

test('a message that repeats does not fill the log, and its number is reported', () => {
  const { clock, lines, log } = bounded();
  for (let n = 0; n < 5000; n += 1) log.warn({ id: n }, 'a wake failed');
  log.error({ id: 1 }, 'something else');
  expect(lines).toHaveLength(LINES_A_MINUTE + 1);
  clock.at = 60_000;
  log.warn({ id: 5000 }, 'a wake failed');
  expect(lines.slice(LINES_A_MINUTE + 1)).toMatchObject([
    { lines: 5000 - LINES_A_MINUTE, of: 'a wake failed' },
    { id: 5000, msg: 'a wake failed' },
  ]);
});

test('lines of requests are not limited', () => {
  const { lines, log } = bounded();
  for (let n = 0; n < 500; n += 1) log.info({ path: '/' }, 'request');
  expect(lines).toHaveLength(500);
});
