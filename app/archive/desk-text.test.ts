import { expect, test } from 'vitest';
import { readDeskText, readingInWords } from './desk-text.ts';

const NOW = Date.UTC(2026, 10, 23, 12) / 1000;

test.each([
  ['ada@example.com', { q: 'ada@example.com' }],
  ['  March   figures ', { q: 'March figures' }],
  ['tenant:Acme march', { tenant: 'acme', q: 'march' }],
  ['env:prod', { label: 'env:prod' }],
  ['label:env=prod ada', { label: 'env:prod', q: 'ada' }],
  ['2026-11-22', { since: '2026-11-22', until: '2026-11-22' }],
  ['22.11.2026 lighthouse', { since: '2026-11-22', until: '2026-11-22', q: 'lighthouse' }],
  ['figures 2026-02', { since: '2026-02-01', until: '2026-02-28', q: 'figures' }],
  ['March 2026', { since: '2026-03-01', until: '2026-03-31' }],
  ['yesterday', { since: '2026-11-22', until: '2026-11-22' }],
  ['last week', { since: '2026-11-16', until: '2026-11-23' }],
  // No days: they are searched for.
  ['2026-13-01', { q: '2026-13-01' }],
  ['31.02.2026', { q: '31.02.2026' }],
  ['march', { q: 'march' }],
  // An address has a colon and is no label.
  ['https://dock.example/sandboxes/a', { q: 'https://dock.example/sandboxes/a' }],
  ['a:b c:d', { label: 'a:b', q: 'c:d' }],
  ['', {}],
])('%j is read as %j', (text, reading) => {
  expect(readDeskText(text, NOW)).toEqual(reading);
});

test('how a text was read is said where it was not simply searched for', () => {
  expect(readingInWords(readDeskText('ada', NOW))).toBeNull();
  expect(readingInWords(readDeskText('ada tenant:acme yesterday', NOW))).toBe(
    '“ada” in ids, names, tenants and labels, the tenant acme, filed on 2026-11-22',
  );
  expect(readingInWords(readDeskText('env:prod 2026-11', NOW))).toBe(
    'the label env:prod, filed from 2026-11-01 to 2026-11-30',
  );
});
