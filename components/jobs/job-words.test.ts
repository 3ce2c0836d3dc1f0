import { expect, test } from 'vitest';
import { JOB_KINDS } from '#lib/lifecycle/job-verbs.ts';
import { filterInWords, JOB_WORDS, jobHeadline, jobStatusInWords, labelChanges } from './job-words.ts';

const job = { verb: 'freeze', state: 'running', chosen: 1200, filter: null, done: 10, failed: 0, skipped: 2 } as const;

test('a job is described by its verb, its size, its progress and its outcome', () => {
  expect(jobHeadline(job)).toBe('Freezing 1,200 sandboxes');
  expect(jobStatusInWords(job)).toBe('12 of 1,200 so far');
  expect(jobStatusInWords({ ...job, failed: 1 })).toBe('13 of 1,200 so far, 1 failed');
  expect(jobHeadline({ ...job, state: 'done', chosen: 1 })).toBe('Freeze 1 sandbox');
  expect(jobStatusInWords({ ...job, state: 'done' })).toBe('10 done, 2 passed over');
  expect(jobStatusInWords({ ...job, state: 'done', skipped: 0 })).toBe('all done');
  expect(jobStatusInWords({ ...job, state: 'cancelled', failed: 1 })).toBe('cancelled after 13');
  expect(Object.keys(JOB_WORDS)).toEqual([...JOB_KINDS]);
});

test('labels without a value are to be removed', () => {
  expect(labelChanges('env: prod\r\n\n team:\nold')).toEqual({ env: 'prod', team: null, old: null });
});

test('a filter reads as words', () => {
  expect(filterInWords({}, 'UTC')).toBe('everything');
  expect(filterInWords({ tenant: 'acme', q: 'night' }, 'UTC')).toBe('tenant acme, found by night');
  expect(filterInWords({ pending: 'stuck', due_until: 0 }, 'UTC')).toBe(
    'stuck for more than a minute, moving by itself until 1970-01-01 00:00:00 UTC',
  );
});
