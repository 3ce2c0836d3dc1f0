import { expect, test } from 'vitest';
import type { Storage } from '#lib/contract/schema.ts';
import {
  aheadInWords,
  backupInWords,
  comparedByPass,
  comparedInWords,
  memoryInWords,
  monthInWords,
  placesInWords,
  retentionInWords,
  sharingInWords,
  troublesOf,
  uploadsInWords,
  wallsInWords,
  wrongInWords,
} from './store-words.ts';

const WELL: Storage = {
  registry: {
    file: 'registry.sqlite',
    inside_data: true,
    bytes: 1,
    wal_bytes: 0,
    free_bytes: 0,
    checkpointed: 1,
    check: { time: 1, took_ms: 1, ok: true, says: 'ok' },
  },
  ledger: { seq: 1, sealed: 0, dropped: 0, last_sealed: null, open_lines: 1 },
  drawers: [{ drawer: 'archive', rows: 1, bytes: 1, writable: true, same_disk: true }],
  measured: null,
  scrub: { walk: null, last: null, next: null },
  store: null,
  disk: { bytes: 100, free_bytes: 50 },
  places: { serving: 1, spare: 2, ahead: 2, most: 200 },
  cpu: { shared_by: 'priorities' },
  walls: [
    { wall: 'net', missing: null },
    { wall: 'uid', missing: 'the server does not run as root' },
  ],
  memory: { serving_bytes: 25e6, spare_bytes: 50e6, limit_bytes: 1e9 },
  backup: null,
  kept: [],
  replication: null,
  running: [],
};

const STORE: NonNullable<Storage['store']> = {
  url: 's3://files/winter',
  ack: 'stored',
  away: null,
  lacks: [],
  rows: 4,
  uploads: { queued: 0, running: 0, since: null },
  cache: { bytes: 5, limit_bytes: 10 },
  leaving: null,
};

test('uploads are told apart by waiting and under way', () => {
  const words = (queued: number, running: number) => uploadsInWords({ queued, running, since: null });
  expect(words(0, 0)).toBe('nothing waits: everything at rest is stored');
  expect(words(1, 0)).toBe('1 file waits');
  expect(words(2, 1)).toBe('2 files wait, 1 is on its way');
  expect(words(0, 2)).toBe('none waits, 2 are on their way');
});

test('troubles are listed, and a healthy store has none', () => {
  expect(troublesOf(WELL)).toEqual([]);
  const ill: Storage = {
    ...WELL,
    registry: { ...WELL.registry, check: { time: 1, took_ms: 1, ok: false, says: 'row 7 missing' } },
    drawers: [{ drawer: 'archive', rows: 1, bytes: 1, writable: false, same_disk: false }],
    store: { ...STORE, away: { since: 1, why: 'it refuses the credentials' } },
    disk: { bytes: 100, free_bytes: 9 },
    places: { serving: 2, spare: 0, ahead: 2, most: 2 },
    memory: { serving_bytes: 2e9, spare_bytes: 0, limit_bytes: 1e9 },
  };
  expect(troublesOf(ill)).toEqual([
    'The registry did not pass its check: row 7 missing',
    'The archive drawer cannot be reached: nothing is filed there or brought back from it.',
    'The object store is away: it refuses the credentials. What is on this machine works on.',
    'The disk is nearly full: 9 B are left.',
    'Every place for a process is taken: wakes are refused with capacity.',
    'The processes of sandboxes take more memory than allowed: idle ones are suspended, running calls go on.',
  ]);
});

test('what is to come from the store and has no room on the disk is a trouble, until all is here', () => {
  const amount = { left: 1, of: 2 };
  const leaving = { since: 1, sandboxes: amount, copies: amount, bytes: { left: 56, of: 90 }, stays: [], done: false };
  const troubles = (over: object) => troublesOf({ ...WELL, store: { ...STORE, leaving: { ...leaving, ...over } } });
  // 5 of them are here already.
  expect(troubles({})).toEqual(['51 B are to come from the store, and the disk has 50 B left.']);
  expect(troubles({ bytes: { left: 55, of: 90 } })).toEqual([]);
  expect(troubles({ done: true })).toEqual([]);
});

test('places and files are counted in words', () => {
  expect(placesInWords({ serving: 3, spare: 1, ahead: 2, most: 200 })).toBe(
    '197 of 200 places are free. A wake is refused with capacity once none is.',
  );
  expect(placesInWords({ serving: 2, spare: 0, ahead: 2, most: 2 })).toContain('All 2 are taken');
  // "6 of 2" is no share: more than are kept ahead stand ready while many wake.
  expect(aheadInWords({ ahead: 2 })).toBe('ready; 2 kept ahead of need');
  expect(aheadInWords({ ahead: 0 })).toBe('ready; none is kept ahead of need');
  expect(memoryInWords(WELL.memory)).toContain('used longest ago');
  expect(memoryInWords({ ...WELL.memory, limit_bytes: null })).toBe(
    'The memory of all processes together has no limit.',
  );
  expect([comparedInWords(3, 3), comparedInWords(4, 3), comparedInWords(1, 3)]).toEqual([
    'as many files as rows',
    '1 file more than rows',
    '2 files are missing',
  ]);
});

test('a scrub pass is described by its files and findings, and damage is a trouble', () => {
  const pass = { begun: 1, files: 1, bytes: 2000, rotten: 0 };
  expect(comparedByPass({ ...pass, files: 0 })).toBe('no file yet');
  expect(comparedByPass(pass)).toBe('1 file of 2.0 kB, all as they were filed');
  expect(comparedByPass({ ...pass, files: 1200, rotten: 2 })).toBe('1,200 files of 2.0 kB, 2 no longer as filed');
  expect(troublesOf({ ...WELL, scrub: { walk: { ...pass, rotten: 1 }, last: null, next: null } })).toEqual([
    '1 file is no longer what was filed: the disk loses bytes.',
  ]);
});

test('a backup is described by its contents and its damaged items', () => {
  const one = { time: 1, sandboxes: 1, bytes: 2048, keys: true, wrong: 0, to: 'b' };
  expect(backupInWords(one)).toBe('1 sandbox of 2.0 kB');
  expect(backupInWords({ ...one, sandboxes: 1204 })).toBe('1,204 sandboxes of 2.0 kB');
  expect([wrongInWords(1), wrongInWords(3)]).toEqual(['1 of them was not sound', '3 of them were not sound']);
});

test('how tenants share the processors', () => {
  expect(sharingInWords({ shared_by: 'cgroup_v2' })).toContain(
    'gives way by the weight of its control group (cgroup v2)',
  );
  expect(sharingInWords({ shared_by: 'priorities' })).toContain('gives way by priority');
});

test('which walls stand around the processes of sandboxes, and why one does not', () => {
  expect(wallsInWords(WELL.walls)).toEqual([
    { wall: 'net', holds: 'No network, each apart', missing: null },
    { wall: 'uid', holds: 'A user of their own', missing: 'the server does not run as root' },
  ]);
});

test('what a replica keeps and costs is said in words', () => {
  expect(retentionInWords('commits=24h,minutes=7d,hours=30d,filings=365d')).toBe(
    'every moment for 24 hours, one of each minute for 7 days, one of each hour for 30 days, the last state of each day for 365 days',
  );
  const size = (bytes: number) => `${bytes} B`;
  expect(monthInWords(null, size)).toBe('known ten minutes after a start');
  expect(monthInWords({ requests: 8_640_000, bytes: 5 }, size)).toMatch(/^about 8.640.000 requests and 5 B/);
});
