import { expect, test } from 'vitest';
import { rhythmInWords, runsInWords } from './schedule-words.ts';

test('a schedule says when it fires in words, and as it is written where there are none', () => {
  const rhythms = [
    { cron: '0 3 * * *', repeat: null },
    { cron: '0 3 1-7 * 1', repeat: null },
    { cron: null, repeat: '+1d' },
    { cron: null, repeat: '++2w' },
    { cron: null, repeat: '.+1m' },
    { cron: null, repeat: 'now and then' },
    { cron: null, repeat: null },
  ].map(rhythmInWords);
  expect(rhythms).toEqual([
    'every day at 03:00',
    'cron 0 3 1-7 * 1',
    'every day',
    'every 2 weeks',
    'every month',
    'again now and then',
    'once',
  ]);
});

test('a schedule names its component, or the first line of its command', () => {
  expect(runsInWords({ command: null, component: 'main/clean' })).toBe('main/clean');
  expect(runsInWords({ command: 'ls', component: null })).toBe('ls');
  expect(runsInWords({ command: 'cd /work\nmake', component: null })).toBe('cd /work …');
});
