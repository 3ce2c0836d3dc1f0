import { expect, test } from 'vitest';
import type { BackupRecord } from '../registry/backups.ts';
import { type BackupSettings, FIRST_SETTINGS } from './backup-settings.ts';
import { type BackupHistory, backupFaultOf, dueBackup, isTrialDue, nextBackup } from './due.ts';

const at = (time: string) => Date.parse(`2026-11-${time}Z`) / 1000;
const settings = (over: Partial<BackupSettings> = {}): BackupSettings => ({
  ...FIRST_SETTINGS,
  enabled: true,
  target: '/mnt/backups',
  changed: at('20T10:00:00'),
  ...over,
});
const row = (over: Partial<BackupRecord>) => ({ id: 'b', state: 'made', ...over }) as BackupRecord;
const made = (time: string, planned: string | null = time) =>
  row({ begunMs: at(time) * 1000, planned: planned === null ? null : at(planned) });
const failed = (time: string, planned: string) =>
  row({ state: 'failed', endedMs: at(time) * 1000, planned: at(planned), error: 'no room' });
const history = (over: Partial<BackupHistory> = {}): BackupHistory => ({
  made: null,
  failed: [],
  open: null,
  tried: null,
  ...over,
});

test('a backup is due at each time of the schedule once, and times that were missed are made up for by one', () => {
  expect(dueBackup(settings(), history(), at('20T10:14:59'))).toBeNull();
  expect(dueBackup(settings(), history(), at('20T10:15:00'))).toBe(at('20T10:15:00'));
  expect(dueBackup(settings(), history({ made: made('20T10:15:03', '20T10:15:00') }), at('20T11:00:00'))).toBeNull();
  expect(dueBackup(settings(), history({ made: made('20T10:15:03', '20T10:15:00') }), at('23T02:20:00'))).toBe(
    at('23T02:15:00'),
  );
  expect(dueBackup(settings(), history({ open: row({ state: 'running' }) }), at('23T02:20:00'))).toBeNull();
  expect(dueBackup(settings({ enabled: false }), history(), at('23T02:20:00'))).toBeNull();
  expect(dueBackup(settings({ target: null }), history(), at('23T02:20:00'))).toBeNull();
});

test('one that was asked for by a person counts for the times until then, and for none after', () => {
  const asked = history({ made: made('20T10:20:00', null) });
  expect(dueBackup(settings(), asked, at('20T10:40:00'))).toBeNull();
  expect(nextBackup(settings(), asked, at('20T10:40:00'))).toBe(at('20T11:15:00'));
  expect(dueBackup(settings(), asked, at('20T11:15:00'))).toBe(at('20T11:15:00'));
});

test('one that failed is tried again after five minutes, ten, twenty, an hour at most, and at the next time', () => {
  const daily = settings({ cron: '0 3 * * *' });
  const one = history({ failed: [failed('21T03:00:10', '21T03:00:00')] });
  expect(dueBackup(daily, one, at('21T03:05:09'))).toBeNull();
  expect(dueBackup(daily, one, at('21T03:05:10'))).toBe(at('21T03:00:00'));
  const many = history({ failed: Array.from({ length: 9 }, () => failed('21T12:00:00', '21T03:00:00')) });
  expect(dueBackup(daily, many, at('21T12:59:59'))).toBeNull();
  expect(dueBackup(daily, many, at('21T13:00:00'))).toBe(at('21T03:00:00'));
  expect(dueBackup(daily, many, at('22T03:00:00'))).toBe(at('22T03:00:00'));
});

test('a failure is a fault until one is made; a single one that is being made again is none yet', () => {
  const one = history({ failed: [failed('20T10:15:10', '20T10:15:00')] });
  expect(backupFaultOf(settings(), one, at('20T10:16:00'))).toEqual({
    kind: 'failed',
    since: at('20T10:15:10'),
    reason: 'The last backup failed: no room',
  });
  expect(backupFaultOf(settings(), { ...one, open: row({ state: 'running' }) }, at('20T10:16:00'))).toBeNull();
  const two = history({ failed: [failed('20T10:20:00', '20T10:15:00'), ...one.failed] });
  expect(backupFaultOf(settings(), { ...two, open: row({ state: 'running' }) }, at('20T10:21:00'))).toMatchObject({
    since: at('20T10:15:10'),
    reason: 'The last backup failed 2 times in a row: no room',
  });
  expect(backupFaultOf(settings({ enabled: false }), one, at('29T00:00:00'))).toMatchObject({ kind: 'failed' });
});

test('a backup is overdue half a turn after its time, ten minutes at least and six hours at most', () => {
  expect(backupFaultOf(settings(), history(), at('20T10:44:59'))).toBeNull();
  expect(backupFaultOf(settings(), history(), at('20T10:45:00'))).toEqual({
    kind: 'overdue',
    since: at('20T10:15:00'),
    reason: 'A backup was due at 2026-11-20T10:15:00Z. There was none yet.',
  });
  const often = settings({ cron: '* * * * *' });
  expect(backupFaultOf(often, history(), at('20T10:10:59'))).toBeNull();
  expect(backupFaultOf(often, history(), at('20T10:11:00'))).toMatchObject({ kind: 'overdue' });
  const weekly = settings({ cron: '0 3 * * 0' });
  const last = history({ made: made('22T03:00:01', '22T03:00:00') });
  expect(backupFaultOf(weekly, last, at('29T08:59:59'))).toBeNull();
  expect(backupFaultOf(weekly, last, at('29T09:00:00'))?.reason).toContain('The last one is of 2026-11-22T03:00:01Z');
  // A long one is overdue too: nobody is told that it goes on.
  expect(backupFaultOf(weekly, { ...last, open: row({ state: 'running' }) }, at('29T09:00:00'))).toMatchObject({
    kind: 'overdue',
  });
  expect(backupFaultOf(settings({ enabled: false }), history(), at('29T09:00:00'))).toBeNull();
});

test('a trial is due at its times when there is a backup, and a failed one is a fault until another passes', () => {
  const daily = settings({ trialCron: '45 4 * * *' });
  const there = history({ made: made('20T10:15:00') });
  expect(isTrialDue(daily, history(), at('21T04:45:00'))).toBe(false);
  expect(isTrialDue(daily, there, at('21T04:44:59'))).toBe(false);
  expect(isTrialDue(daily, there, at('21T04:45:00'))).toBe(true);
  const tried = { ...there, tried: row({ verifiedMs: at('21T04:45:09') * 1000, verifiedError: 'other bytes' }) };
  expect(isTrialDue(daily, tried, at('21T23:00:00'))).toBe(false);
  expect(isTrialDue(settings({ trialCron: null }), there, at('22T04:45:00'))).toBe(false);
  const recent = { ...tried, made: made('21T10:15:00') };
  expect(backupFaultOf(daily, recent, at('21T10:20:00'))).toMatchObject({ kind: 'trial', since: at('21T04:45:09') });
});
