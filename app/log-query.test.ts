import { expect, test } from 'vitest';
import { logViewOf } from './log-query.ts';

test('the filters of an address are those of the API, and a time is one before now', () => {
  const view = logViewOf({ tab: 'logs', q: 'broke', level: 'warn', within: '3600', cursor: '12' }, 10_000);
  expect(view.query).toMatchObject({ q: 'broke', level: 'warn', since: 6400, cursor: 12 });
  expect(view.filters).toEqual({ q: 'broke', level: 'warn', within: '3600' });
  expect(view.followed).toBe('q=broke&level=warn');
});

test('what is not valid is ignored', () => {
  const view = logViewOf({ level: 'loud', source: 'nobody', within: '7', cursor: 'x', q: 'y'.repeat(501) }, 10_000);
  expect(view).toEqual({ query: { limit: 200 }, filters: {}, followed: '' });
});

test('a reason goes with every reading, and is no filter', () => {
  const view = logViewOf({ reason: 'ticket 12', request_id: 'req-1' }, 10_000);
  expect(view.query.reason).toBe('ticket 12');
  expect(view.filters).toEqual({ request_id: 'req-1' });
  expect(new URLSearchParams(view.followed).get('reason')).toBe('ticket 12');
});
