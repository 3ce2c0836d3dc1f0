import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLogger } from '../base/log.ts';
import { CommitEvents } from '../registry/commit-events.ts';
import type { LedgerLine } from '../registry/types.ts';
import { createEventHub, type EventHub, type LineBatch } from './event-hub.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A hub of a ledger to which the test appends. */
function hubOf(): { hub: EventHub; append: (count: number) => void; serialised: () => number } {
  const feed = new CommitEvents();
  let seq = 0;
  let serialised = 0;
  const hub = createEventHub({
    registry: { commitEvents: feed },
    serialise(line) {
      serialised += 1;
      return `${line.seq};`;
    },
    log: createLogger('silent'),
    beatMs: 1000,
    gatherMs: 100,
    mostEach: 2,
  });
  const append = (count: number) =>
    feed.emitLedgerAppend(
      Array.from({ length: count }, () => ({ seq: ++seq, tenant: seq % 2 === 0 ? 'even' : 'odd' }) as LedgerLine),
    );
  return { hub, append, serialised: () => serialised };
}

/** What a listener is handed, as texts of all lines. */
function listening(hub: EventHub, actor = 'key:a') {
  const received: string[] = [];
  const beats: (number | null)[] = [];
  const batches: LineBatch[] = [];
  hub.join(
    {
      publish(batch) {
        batches.push(batch);
        received.push(String(batch.piece('all', () => true)));
      },
      beat: (seq) => beats.push(seq),
      close: () => undefined,
    },
    actor,
  );
  return { received, beats, batches };
}

test('the first line after a quiet moment goes out at once, those that follow it together', () => {
  const { hub, append } = hubOf();
  const { received } = listening(hub);
  append(1);
  expect(received).toEqual(['1;']);
  append(1);
  append(2);
  expect(received).toEqual(['1;']);
  vi.advanceTimersByTime(100);
  expect(received).toEqual(['1;', '2;3;4;']);
  vi.advanceTimersByTime(100);
  append(1);
  expect(received).toEqual(['1;', '2;3;4;', '5;']);
});

test('a flood costs each listener few writes, and is serialised once for all of them', () => {
  const { hub, append, serialised } = hubOf();
  const all = Array.from({ length: 10 }, () => listening(hub));
  for (let ms = 0; ms < 1000; ms += 5) {
    append(1);
    vi.advanceTimersByTime(5);
  }
  vi.advanceTimersByTime(100);
  expect(serialised()).toBe(200);
  for (const { received } of all) {
    expect(received.length).toBeLessThanOrEqual(11);
    expect(received.join('')).toBe(Array.from({ length: 200 }, (_, at) => `${at + 1};`).join(''));
  }
  const [first, second] = all.map(({ batches }) => batches[0]?.piece('all', () => true));
  expect(first).toBe(second);
});

test('a listener with fewer rights gets only the lines it may see', () => {
  const { hub, append } = hubOf();
  const { batches } = listening(hub);
  append(5);
  const even = batches[0]?.piece('even', ({ tenant }) => tenant === 'even');
  expect(String(even)).toBe('2;4;');
  expect(batches[0]?.piece('nobody', () => false)).toBeNull();
});

test('a new listener gets no earlier line, and a beat comes after every line that it counts', () => {
  const { hub, append } = hubOf();
  const early = listening(hub);
  append(1);
  append(2);
  const late = listening(hub);
  expect(early.received).toEqual(['1;', '2;3;']);
  append(1);
  vi.advanceTimersByTime(1000);
  expect(late.received).toEqual(['4;']);
  expect(late.beats).toEqual([4]);
});

test('a hub that closes hands out what it gathered first', () => {
  const { hub, append } = hubOf();
  const { received } = listening(hub);
  append(1);
  append(1);
  hub.close();
  expect(received).toEqual(['1;', '2;']);
});

test('an actor with the maximum number of listeners is refused, and others are not', () => {
  const { hub } = hubOf();
  listening(hub);
  const leave = hub.join({ publish: () => undefined, beat: () => undefined, close: () => undefined }, 'key:a');
  expect(() => hub.requirePlace('key:a')).toThrow('2 streams of yours are open already.');
  expect(() => hub.requirePlace('key:b')).not.toThrow();
  leave();
  expect(() => hub.requirePlace('key:a')).not.toThrow();
  hub.close();
});
