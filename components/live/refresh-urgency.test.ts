import { expect, test } from 'vitest';
import type { Event, Job } from '#lib/contract/schema.ts';
import { instanceId } from '#lib/testing/plain-ids.ts';
import { jobUrgency, runUrgency, type Urgency, urgencyOf } from './refresh-urgency.ts';

const quiet: Event = {
  seq: 1,
  time: 0,
  time_ms: 0,
  instance: null,
  tenant: null,
  type: 'person.signed_in',
  from: null,
  to: null,
  trigger: 'request',
  actor: 'key:admin',
  actor_name: null,
  via: 'api',
  source: null,
  took_ms: null,
  reason: null,
  error: null,
  request_id: null,
  address: null,
};
const about = { instance: instanceId('a'), tenant: 'acme' };
const slept: Event = { ...quiet, ...about, type: 'transition', from: 'active', to: 'suspended' };
const changed: Event = { ...quiet, ...about, type: 'instance.changed' };
const created: Event = { ...quiet, ...about, type: 'instance.created', to: 'created' };
const fault: Event = { ...quiet, ...about, type: 'fault.raised' };
const looked: Event = { ...quiet, ...about, type: 'private.read' };

function urgency(address: string, event: Event, shown: string[] = []): Urgency {
  const { pathname, searchParams: search } = new URL(address, 'http://console.invalid');
  return urgencyOf(event, { pathname, search, shows: (id) => shown.includes(id) });
}

test.each<[string, Event, string[], Urgency]>([
  ['/', slept, [], 'later'],
  ['/', fault, [], 'now'],
  ['/', quiet, [], null],
  ['/sandboxes', created, [], 'now'],
  ['/sandboxes', slept, ['a'], 'later'],
  ['/sandboxes', changed, ['a'], 'now'],
  ['/sandboxes', changed, [], null],
  ['/sandboxes', quiet, [], null],
  ['/sandboxes?cursor=x', slept, [], null],
  ['/sandboxes?state=active', slept, ['a'], 'now'],
  ['/sandboxes?state=suspended', slept, [], 'now'],
  ['/sandboxes?state=frozen', slept, [], null],
  ['/sandboxes?state=frozen', created, [], null],
  ['/sandboxes?tenant=globex', slept, [], null],
  ['/sandboxes?tenant=globex', created, [], null],
  ['/sandboxes?label=a:b', changed, [], 'later'],
  ['/sandboxes/a', slept, [], 'now'],
  ['/sandboxes/a?tab=ledger', changed, [], 'now'],
  ['/sandboxes/b', slept, [], null],
  ['/settings/storage', { ...quiet, type: 'registry.checked' }, [], 'now'],
  ['/archive', slept, [], null],
  ['/archive', { ...slept, from: 'frozen', to: 'archived' }, [], 'now'],
  ['/archive?tenant=globex', { ...slept, to: 'archived' }, [], null],
  ['/tenants', slept, [], 'later'],
  ['/tenants/acme', slept, [], 'later'],
  ['/tenants/acme', changed, [], 'now'],
  ['/tenants/globex', slept, [], null],
  ['/tenants/acme/logs', slept, [], null],
  ['/audit', quiet, [], 'now'],
  ['/audit', looked, [], 'now'],
  ['/audit?type=transition', quiet, [], null],
  ['/audit?type=transition&tenant=acme', slept, [], 'now'],
  ['/audit?cursor=x', slept, [], null],
  ['/snapshots', slept, [], null],
  ['/snapshots', { ...changed, type: 'snapshot.taken' }, [], 'now'],
  ['/jobs/x', { ...quiet, type: 'job.done' }, [], 'now'],
  ['/jobs/new', { ...quiet, type: 'job.done' }, [], null],
  ['/settings/keys', slept, [], null],
  ['/settings/keys', { ...quiet, type: 'key.revoked' }, [], 'now'],
  ['/settings/webhooks', { ...quiet, type: 'webhook.turned_off' }, [], 'now'],
  ['/explorer', slept, [], null],
  ['/somewhere/new', slept, [], 'now'],
  ['/sandboxes/a', looked, [], null],
])('%s is concerned by a line as it should be (case %#)', (address, event, shown, expected) => {
  expect(urgency(address, event, shown)).toBe(expected);
});

test('a job’s progress makes its own page stale, and lists of jobs only when it begins or ends', () => {
  const job = (id: string, state: Job['state']) => ({ id, state }) as Job;
  const running = job('job-1', 'running');
  const on = (pathname: string, now: Job, before: Job | undefined) =>
    jobUrgency(now, before, { pathname, search: new URLSearchParams(), shows: () => false });
  expect(on('/jobs/job-1', running, running)).toBe('now');
  expect(on('/jobs/job-10', running, running)).toBeNull();
  for (const list of ['/', '/jobs']) {
    expect(on(list, running, undefined)).toBe('now');
    expect(on(list, running, running)).toBeNull();
    expect(on(list, job('job-1', 'done'), running)).toBe('now');
  }
  for (const other of ['/sandboxes', '/jobs/new']) expect(on(other, job('job-1', 'done'), running)).toBeNull();
});

test('a run that begins or ends makes the page stale that lists the runs of its sandbox, and no other', () => {
  const at = (address: string) => {
    const { pathname, searchParams: search } = new URL(address, 'http://console.invalid');
    return runUrgency(['a', 'b'], { pathname, search, shows: () => true });
  };
  expect(['/sandboxes/a?tab=terminal', '/sandboxes/b?tab=terminal'].map(at)).toEqual(['now', 'now']);
  expect(
    ['/', '/sandboxes', '/sandboxes/a', '/sandboxes/c?tab=terminal', '/sandboxes/a/plan?tab=terminal'].map(at),
  ).toEqual([null, null, null, null, null]);
});
