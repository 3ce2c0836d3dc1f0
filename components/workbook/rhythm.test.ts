import { expect, test } from 'vitest';
import { cronInWords, cronOf, RHYTHMS } from './rhythm.ts';

const VALUES = { time: '03:05', weekday: '1-5', day: 'L', minute: '7', every: '15', cron: '0 0 3 * * 1#1' };

test('each choice becomes a cron expression, and its words come back from it', () => {
  const made = RHYTHMS.map(({ name }) => cronOf({ ...VALUES, rhythm: name }));
  expect(made).toEqual([
    { cron: '5 3 * * *' },
    { cron: '5 3 * * 1-5' },
    { cron: '5 3 L * *' },
    { cron: '7 * * * *' },
    { cron: '*/15 * * * *' },
    { cron: '0 0 3 * * 1#1' },
  ]);
  expect(made.map((each) => ('cron' in each ? cronInWords(each.cron) : each))).toEqual([
    'every day at 03:05',
    'every Monday to Friday at 03:05',
    'on the last day of every month at 03:05',
    'every hour at :07',
    'every 15 minutes',
    null,
  ]);
});

test.each([
  ['* * * * *', 'every minute'],
  ['*/1 * * * *', 'every minute'],
  ['*/20 * * * *', 'every 20 minutes'],
  ['*/7 * * * *', null],
  ['*/0 * * * *', null],
  ['0 */1 * * *', 'every hour'],
  ['0 */6 * * *', 'every 6 hours'],
  ['0 */5 * * *', null],
  ['* */6 * * *', null],
])('%s is %s', (cron, words) => {
  expect(cronInWords(cron)).toBe(words);
});

test('a value that is missing or out of range is named', () => {
  const wrong = [
    { rhythm: 'day', time: '24:00' },
    { rhythm: 'day' },
    { rhythm: 'week', time: '03:00', weekday: '8' },
    { rhythm: 'month', time: '03:00', day: '32' },
    { rhythm: 'hour', minute: '60' },
    { rhythm: 'minutes', every: '7' },
    { rhythm: 'cron', cron: '' },
    { rhythm: 'fortnight' },
  ].map(cronOf);
  expect(wrong.map((each) => ('field' in each ? each.field : each))).toEqual([
    'time',
    'time',
    'weekday',
    'day',
    'minute',
    'every',
    'cron',
    'rhythm',
  ]);
});
