import { expect, test } from 'vitest';
import type { Event } from '#lib/contract/schema.ts';
import { STATES } from '#lib/lifecycle/state-map.ts';
import { FAULTS } from '#lib/lifecycle/words.ts';
import { instanceId } from '#lib/testing/plain-ids.ts';
import { whyItIsHere } from '../ledger/event-words.ts';
import { headlineDetail, headlineWord } from '../sandbox/state-words.ts';
import {
  agoInWords,
  countdown,
  leftInWords,
  lengthInWords,
  pauseInWords,
  sizeInWords,
  thresholdInWords,
  tookInWords,
} from './durations.ts';

test('lengths of time are given in their largest whole unit', () => {
  expect(lengthInWords(0)).toBe('a moment');
  expect(lengthInWords(59)).toBe('59 seconds');
  expect(lengthInWords(60)).toBe('1 minute');
  expect(lengthInWords(3 * 86_400)).toBe('3 days');
  expect(agoInWords(4)).toBe('just now');
  expect(agoInWords(7200)).toBe('2 hours ago');
});

test('thresholds are exact and countdowns show every second', () => {
  expect(thresholdInWords(900)).toBe('15 min');
  expect(thresholdInWords(86_400)).toBe('24 h');
  expect(thresholdInWords(172_800)).toBe('2 d');
  expect(thresholdInWords(901)).toBe('901 s');
  expect(countdown(872)).toBe('14:32');
  expect(countdown(86_352)).toBe('23:59:12');
  expect(countdown(3 * 86_400 + 15_120)).toBe('3 d 04:12:00');
  expect(countdown(0)).toBe('now');
});

test('the remaining time of a key or an invitation is counted in whole days, and within the last day exactly', () => {
  expect([1, 500, 7300, 86_400, 86_401].map(leftInWords)).toEqual([
    '1 second',
    '8 minutes',
    '2 hours',
    '1 day',
    '2 days',
  ]);
});

test('sizes, measured times and moments have their usual forms', () => {
  expect(sizeInWords(812)).toBe('812 B');
  expect(sizeInWords(4200)).toBe('4.2 kB');
  expect(sizeInWords(17_000_000)).toBe('17 MB');
  expect(tookInWords(0.62)).toBe('0.6 ms');
  expect(tookInWords(1234)).toBe('1.2 s');
  expect([0, 30, 3600].map(pauseInWords)).toEqual(['never', '30 s', '1 h']);
});

test('every state and every fault has a headline with its time or reason', () => {
  const still = { warm_since: null, pending: null, interrupted: false, unreachable: null };
  const row = { fault_reason: null, state_since: 1000, ...still };
  const headlines = STATES.map((state) => {
    const instance = { ...row, state, fault: null };
    return `${headlineWord(instance)} · ${headlineDetail(instance, 1000 + 3 * 86_400)}`;
  });
  expect(headlines).toEqual([
    'Registered · 3 days ago',
    'Awake · for 3 days',
    'Asleep · suspended 3 days ago',
    'Asleep · frozen 3 days ago',
    'Filed away · archived 3 days ago',
    'Gone · deleted 3 days ago',
  ]);
  const faulty = FAULTS.map((fault) => headlineWord({ ...row, state: 'frozen', fault }));
  expect(new Set(faulty).size).toBe(FAULTS.length);
  expect(headlineDetail({ ...row, state: 'frozen', fault: null, pending: 'resume' }, 2000)).toBe('waking now');
  const warm = { ...row, state: 'active', fault: null, warm_since: 4000 } as const;
  expect(`${headlineWord(warm)} · ${headlineDetail(warm, 4130)}`).toBe('Awake · warm, paused for 2 minutes');
  const away = { ...warm, unreachable: { last_seen: 4000, recovery_point: null, goes_on: null } };
  expect(`${headlineWord(away)} · ${headlineDetail(away, 4130)}`).toBe('Awake · its host has been away for 2 minutes');
  const asleep = {
    ...away,
    state: 'suspended',
    unreachable: { last_seen: null, recovery_point: null, goes_on: null },
  } as const;
  expect(`${headlineWord(asleep)} · ${headlineDetail(asleep, 4130)}`).toBe('Asleep · suspended, its host is away');
});

test('the last move is one sentence: who, from where, why, and how long it took', () => {
  const line: Event = {
    seq: 1,
    time: 0,
    time_ms: 0,
    instance: instanceId('a'),
    tenant: 't',
    type: 'transition',
    from: 'active',
    to: 'suspended',
    trigger: 'idle',
    actor: 'system',
    actor_name: null,
    via: 'ticker',
    source: null,
    took_ms: 11.2,
    reason: null,
    error: null,
    request_id: null,
    address: null,
  };
  expect(whyItIsHere(line)).toBe('The ladder suspended it because it was idle; it took 11 ms.');
  expect(
    whyItIsHere({
      ...line,
      from: 'frozen',
      to: 'active',
      trigger: 'request',
      actor: 'key:admin',
      via: 'api',
      source: 'cold',
    }),
  ).toBe('The admin key woke it from the cold drawer through the API; it took 11 ms.');
  expect(
    whyItIsHere({
      ...line,
      from: 'archived',
      to: 'active',
      trigger: 'operator',
      actor: 'user:x',
      via: 'console',
      source: 'archive',
      took_ms: null,
    }),
  ).toBe('A person revived it from the archive in the console.');
  const revived = { ...line, from: 'archived', to: 'active', trigger: 'operator', via: 'console' } as const;
  const ada = { ...revived, actor: 'user:x', actor_name: 'Ada' };
  expect(whyItIsHere(ada)).toBe('Ada revived it in the console; it took 11 ms.');
  expect(whyItIsHere(ada, new Map([['user:x', 'You']]))).toBe('You revived it in the console; it took 11 ms.');
  expect(whyItIsHere({ ...revived, actor: 'key:9', actor_name: 'nightly' })).toContain('The key nightly revived it');
});
