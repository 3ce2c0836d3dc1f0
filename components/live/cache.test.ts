import { expect, test } from 'vitest';
import type { Changes, Event, Instance, Job } from '#lib/contract/schema.ts';
import { STATES } from '#lib/lifecycle/state-map.ts';
import {
  addLines,
  applyChanges,
  type CachedValue,
  countsKey,
  instanceKey,
  jobKey,
  laterJob,
  linesKey,
  mergeLines,
  newer,
  startedKey,
  tenantKey,
  valueToShow,
} from './cache.ts';
import { LiveCache } from './live-cache.ts';

const none = Object.fromEntries(STATES.map((state) => [state, 0])) as Changes['states'];
const noFaults = { error: 0, unknown: 0, corrupt: 0, missing: 0 };

function row(id: string, state: Instance['state']): Instance {
  return { id, tenant: 'acme', state } as Instance;
}

function changed(seq: number, ...rows: Instance[]): Changes {
  const states = { ...none, active: seq };
  const tenants = [{ tenant: 'acme', states }];
  return { seq, rows, more: false, states, faults: noFaults, warm: 0, tenants, jobs: [], starts: [], runs: [] };
}

function line(seq: number, time_ms = seq): Event {
  return { seq, time_ms } as Event;
}

/** A cache in which a component shows the row `a`, as of line 10. */
function cacheWithRow(): LiveCache {
  const cache = new LiveCache();
  cache.subscribe(instanceKey('a'), () => {});
  cache.change<CachedValue<Instance>>(instanceKey('a'), () => ({ seq: 10, at: 0, value: row('a', 'active') }));
  return cache;
}

const stateOf = (cache: LiveCache, id: string) => cache.get<CachedValue<Instance>>(instanceKey(id))?.value.state;

test('an event replaces an older row, in whatever order and however often it arrives', () => {
  const events = [
    changed(11, row('a', 'suspended')),
    changed(12, row('a', 'frozen')),
    changed(13, row('a', 'archived')),
  ];
  const orders = [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0, 2, 1],
    [2, 2, 0, 1, 1],
  ];
  for (const order of orders) {
    const cache = cacheWithRow();
    order.forEach((at, arrived) => {
      applyChanges(cache, events[at] as Changes, arrived + 1);
    });
    expect([order, stateOf(cache, 'a')]).toEqual([order, 'archived']);
    expect(cache.get<CachedValue<unknown>>(countsKey)?.seq).toBe(13);
    expect(cache.get<CachedValue<Changes['states']>>(tenantKey('acme'))?.value.active).toBe(13);
  }
});

test('a row that was read before the last line does not replace the row from the event', () => {
  const cache = cacheWithRow();
  applyChanges(cache, changed(12, row('a', 'frozen')), 5);
  applyChanges(cache, changed(9, row('a', 'active')), 6);
  expect(stateOf(cache, 'a')).toBe('frozen');
});

test('of two readings at the same line the later one counts: activity changes a clock without a line', () => {
  const first = { seq: 5, at: 100, value: 'first' };
  const second = { seq: 5, at: 200, value: 'second' };
  expect(newer(first, second)).toBe(second);
  expect(newer(second, first)).toBe(second);
  expect(newer(undefined, first)).toBe(first);
});

test('a page shows its rendered data until a newer event arrives, and after the next rendering again', () => {
  const received = { seq: 12, at: 0, value: 'told' };
  expect(valueToShow(undefined, 'rendered', 12, 50)).toBe('rendered');
  expect(valueToShow(received, 'rendered', 11, 50)).toBe('told');
  expect(valueToShow(received, 'rendered', 13, 50)).toBe('rendered');
  expect(valueToShow(received, 'rendered', 12, 50)).toBe('rendered');
  expect(valueToShow({ ...received, at: 60 }, 'rendered', 12, 50)).toBe('told');
  expect(valueToShow(received, 'rendered', -1, 50)).toBe('told');
});

test('a row that no component shows yet is kept for a later one, but only some of them', () => {
  const cache = cacheWithRow();
  applyChanges(cache, changed(11, row('b', 'frozen')), 1);
  expect(stateOf(cache, 'b')).toBe('frozen');
  const many = Array.from({ length: 1200 }, (_, n) => row(`many-${n}`, 'active'));
  applyChanges(cache, changed(12, ...many), 2);
  for (const dropped of ['b', 'many-0']) expect(stateOf(cache, dropped)).toBeUndefined();
  expect(stateOf(cache, 'many-1199')).toBe('active');
  expect(stateOf(cache, 'a')).toBe('active');
  expect(cache.size).toBeLessThanOrEqual(1001);
});

test('who shows a value is told of each change, as long as they show it', () => {
  const cache = cacheWithRow();
  let told = 0;
  const leave = cache.subscribe(instanceKey('b'), () => {
    told += 1;
  });
  expect([cache.isShown(instanceKey('a')), cache.isShown(instanceKey('b')), cache.isShown('c')]).toEqual([
    true,
    true,
    false,
  ]);
  applyChanges(cache, changed(11, row('b', 'frozen')), 1);
  applyChanges(cache, changed(11, row('b', 'active')), 0);
  expect(told).toBe(1);
  leave();
  applyChanges(cache, changed(12, row('b', 'active')), 2);
  expect([told, cache.isShown(instanceKey('b'))]).toEqual([1, false]);
});

test('a value is read once at a time', async () => {
  const cache = new LiveCache();
  let begun = 0;
  const read = () =>
    cache.reading('a', async () => {
      begun += 1;
    });
  await Promise.all([read(), read()]);
  await read();
  expect(begun).toBe(2);
});

test('lines are shown newest first, each once, as many as there is room for', () => {
  expect(mergeLines([line(3), line(2)], [line(4), line(3)], 10).map(({ seq }) => seq)).toEqual([4, 3, 2]);
  expect(mergeLines([line(3), line(2)], [line(4), line(5)], 2).map(({ seq }) => seq)).toEqual([5, 4]);
  expect(mergeLines([line(3, 9)], [line(4, 9), line(5, 8)], 10).map(({ seq }) => seq)).toEqual([4, 3, 5]);
  const cache = new LiveCache();
  addLines(cache, [line(2)]);
  addLines(cache, [line(1), line(2)]);
  expect(cache.get<Event[]>(linesKey)?.map(({ seq }) => seq)).toEqual([2, 1]);
});

test('a job never goes back, in whatever order events arrive: it progresses, and ends once', () => {
  const at = (done: number, skipped: number, finished: number | null) => {
    const state = finished === null ? 'running' : 'cancelled';
    return { id: 'job-1', state, finished, done, failed: 0, skipped } as Job;
  };
  const progress = [at(0, 0, null), at(3, 1, null), at(5, 2, null), at(4, 2, 9), at(6, 2, 9)];
  for (const order of [
    [0, 1, 2, 3, 4],
    [4, 3, 2, 1, 0],
    [2, 4, 1, 3, 0, 4],
  ]) {
    const cache = new LiveCache();
    for (const n of order) {
      applyChanges(cache, { ...changed(1), jobs: [progress[n] as Job] }, 1);
      expect(cache.get<Job>(jobKey('job-1'))).toBeDefined();
    }
    expect([order, cache.get(jobKey('job-1'))]).toEqual([order, progress[4]]);
  }
  // The rendered job has progressed further than the event.
  expect(laterJob(progress[1], progress[3] as Job)).toBe(progress[3]);
  expect(laterJob(progress[3], progress[2] as Job)).toBe(progress[3]);
});

test('of the started sandboxes the largest reported number is kept, for each call', () => {
  const cache = new LiveCache();
  const start = { request_id: 'one', tenant: 'acme', failed: 0, total: 9 };
  for (const started of [1, 4, 3]) applyChanges(cache, { ...changed(1), starts: [{ ...start, started }] }, 1);
  expect(cache.get(startedKey('one'))).toBe(4);
  expect(cache.get(startedKey('two'))).toBeUndefined();
});
