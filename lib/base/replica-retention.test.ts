import { expect, test } from 'vitest';
import { DEFAULT_RETENTION, parseRetention, retentionText } from './replica-retention.ts';

const texts = (text: string) => {
  const keeps = parseRetention(text);
  return keeps === null ? null : retentionText(keeps);
};

test('what a replica keeps is said by four times, and what is left out is as by default', () => {
  expect(texts(DEFAULT_RETENTION)).toBe('commits=24h,minutes=7d,hours=30d,filings=365d');
  expect(texts('commits=2h')).toBe('commits=2h,minutes=7d,hours=30d,filings=365d');
  expect(texts('commits=10d, filings=400d')).toBe('commits=10d,minutes=10d,hours=30d,filings=400d');
});

test('a time alone is what it was before there were levels: every moment for so long', () => {
  expect(texts('7d')).toBe('commits=7d,minutes=7d,hours=7d,filings=7d');
});

test('anything else is refused', () => {
  for (const wrong of [
    '',
    '7',
    '7w',
    '0d',
    '-1d',
    'commits=',
    'commits=24h,commits=24h',
    'minutes=2h,hours=1h',
    'commits=24h;minutes=7d',
    'seconds=1h',
    'commits=1h=2h',
    '24h,7d',
  ]) {
    expect(parseRetention(wrong), wrong).toBeNull();
  }
});
