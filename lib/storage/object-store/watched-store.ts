/**
 * A store that is watched: whether it is away, since when and why; how often it was asked for what. Whoever waits for
 * an answer gets one soon, and work in the background tries without end. Knows nothing of what is stored.
 */
import { setTimeout } from 'node:timers/promises';
import { type Clock, systemClock } from '../../base/clock.ts';
import { isWinterdockError } from '../../base/errors.ts';
import { FIRST_EPOCH, isTakenOver, readMarker, type StoreStart } from './marker.ts';
import type { AwayReason, ObjectStore } from './object-store.ts';
import { awayOf, storeAway } from './store-errors.ts';
import { type StoreMode, type StoreOp, storeInMode, withinLimit } from './store-mode.ts';

/** The longest that somebody waits without progress. */
const FOREGROUND_MS = 5000;
const FIRST_BACK_OFF_MS = 1000;
const MOST_BACK_OFF_MS = 60_000;
/** Between two looks at the marker while the store answers. */
const CHECK_MS = 60_000;
/** An object is missing when the store says so so often, so far apart, and has the marker each time. */
const MISSING_TIMES = 3;
const MISSING_APART_MS = 30_000;
/** Only the marker tells that these are over: the store answers. */
const GATED: ReadonlySet<AwayReason> = new Set(['no_marker', 'other_installation', 'taken_over']);

export interface StoreHealth {
  /** Null while the store answers as it should. */
  away: AwayReason | null;
  /** Since when it is away, in epoch milliseconds; null while it is not. */
  since: number | null;
}

/** The requests of one kind with one outcome: `ok`, an error code, or `aborted`. */
interface StoreRequests {
  op: StoreOp;
  outcome: string;
  count: number;
}

export interface WatchedStore {
  readonly url: string;
  /** For somebody who waits: fails with `storage_unavailable` after five seconds without progress. */
  readonly foreground: ObjectStore;
  /** For work in the background: while the store is away it tries again without end, until `signal` is aborted. */
  readonly background: ObjectStore;
  health(): StoreHealth;
  /** Calls when the store goes away or comes back. Returns the way to stop that. */
  onHealth(listener: (health: StoreHealth) => void): () => void;
  requests(): readonly StoreRequests[];
  /** Reads the marker now. Never rejects for a store that is away; `health` tells. */
  check(signal?: AbortSignal): Promise<StoreHealth>;
  /**
   * Whether an object is missing for certain: the store said so three times over a minute, with the marker there each
   * time. Throws `storage_unavailable` when nothing can be known.
   */
  isMissing(name: string, signal?: AbortSignal): Promise<boolean>;
  /** Ends the watching and the store. */
  close(): Promise<void>;
}

export interface StoreWatchOptions {
  /** Whose marker has to be there. */
  installation: string;
  /** The start that has claimed the store; null until then, and for one that shares it with others. */
  start?: () => StoreStart | null;
  /** Of the ledger here. Default: the first. */
  epoch?: number;
  clock?: Clock;
  /** Waits so many milliseconds; rejects when `signal` is aborted. */
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const waitFor = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal, ref: false });

export function watchedStore(
  store: ObjectStore,
  { installation, start = () => null, epoch = FIRST_EPOCH, clock = systemClock, wait = waitFor }: StoreWatchOptions,
): WatchedStore {
  const closing = new AbortController();
  const listeners = new Set<(health: StoreHealth) => void>();
  const counts = new Map<string, StoreRequests>();
  let health: StoreHealth = { away: null, since: null };
  /** Resolves when the store comes back. */
  let back = Promise.withResolvers<void>();

  const become = (away: AwayReason | null) => {
    if (away === health.away) return;
    health = { away, since: away === null ? null : (health.since ?? clock.now()) };
    if (away === null) {
      back.resolve();
      back = Promise.withResolvers();
    }
    for (const listener of listeners) listener(health);
  };
  const count = (op: StoreOp, outcome: string) => {
    const key = `${op} ${outcome}`;
    counts.set(key, { op, outcome, count: (counts.get(key)?.count ?? 0) + 1 });
  };

  /** Asks the store once, and learns from its answer whether it is there. */
  const asked = async <T>(op: StoreOp, signal: AbortSignal, work: () => Promise<T>, isMarker = false): Promise<T> => {
    if (!isMarker && health.away !== null && GATED.has(health.away)) throw storeAway(health.away);
    try {
      const result = await work();
      count(op, 'ok');
      answered();
      return result;
    } catch (error) {
      const code = isWinterdockError(error) ? error.code : 'failed';
      const isCalledOff = signal.aborted && error === signal.reason && awayOf(error) === null;
      count(op, isCalledOff ? 'aborted' : code);
      if (!isCalledOff) learn(error);
      throw error;
    }
  };
  const learn = (error: unknown) => {
    const away = awayOf(error);
    if (away !== null) become(away);
    else if (isWinterdockError(error) && (error.code === 'missing_file' || error.code === 'conflict')) answered();
  };
  const answered = () => {
    if (health.away !== null && !GATED.has(health.away)) become(null);
  };

  const check = async (signal: AbortSignal = closing.signal): Promise<StoreHealth> => {
    try {
      const ending = AbortSignal.any([signal, closing.signal]);
      const marker = await asked('get', ending, () => readMarker(store, ending), true);
      if (marker === null) become('no_marker');
      else if (marker === 'other' || marker.id !== installation) become('other_installation');
      else {
        become(isTakenOver(marker, start(), epoch) ? 'taken_over' : null);
      }
    } catch (error) {
      if (!isWinterdockError(error)) throw error;
    }
    return health;
  };

  /** While it is away the marker is looked for more often at first. */
  const watch = async () => {
    let pause = FIRST_BACK_OFF_MS;
    while (!closing.signal.aborted) {
      pause = health.away === null ? FIRST_BACK_OFF_MS : Math.min(pause * 2, MOST_BACK_OFF_MS);
      await wait(health.away === null ? CHECK_MS : pause, closing.signal);
      await check();
    }
  };
  const watching = watch().catch((error: unknown) => {
    if (!closing.signal.aborted) throw error;
  });

  const inForeground: StoreMode = (op, signal, work) => {
    const late = () => {
      const error = storeAway(health.away ?? 'timeout');
      learn(error);
      return error;
    };
    return withinLimit({ ms: FOREGROUND_MS, wait, late, signals: [closing.signal, signal] }, (ending, progressed) =>
      asked(op, ending, () => work(ending, progressed)),
    );
  };

  const once: StoreMode = (op, signal, work) => {
    const ending = AbortSignal.any([closing.signal, ...(signal ? [signal] : [])]);
    return asked(op, ending, () => work(ending, () => undefined));
  };

  const inBackground: StoreMode = async (op, signal, work) => {
    const ending = AbortSignal.any([closing.signal, ...(signal ? [signal] : [])]);
    for (let pause = FIRST_BACK_OFF_MS; ; pause = Math.min(pause * 2, MOST_BACK_OFF_MS)) {
      ending.throwIfAborted();
      const cameBack = back.promise;
      try {
        return await once(op, signal, work);
      } catch (error) {
        if (awayOf(error) === null || ending.aborted) throw error;
      }
      const over = new AbortController();
      const waiting = wait(pause, AbortSignal.any([ending, over.signal])).catch(() => undefined);
      await Promise.race([waiting, cameBack]);
      over.abort();
    }
  };

  return {
    url: store.url,
    foreground: storeInMode(store, inForeground, inForeground),
    background: storeInMode(store, inBackground, once),
    health: () => health,
    onHealth(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    requests: () => [...counts.values()],
    check,
    async isMissing(name, signal) {
      const ending = AbortSignal.any([closing.signal, ...(signal ? [signal] : [])]);
      for (let times = 1; ; times += 1) {
        const found = await asked('head', ending, () => store.head(name, { signal: ending }));
        if (found !== null) return false;
        const { away } = await check(ending);
        if (away !== null) throw storeAway(away);
        if (times === MISSING_TIMES) return true;
        await wait(MISSING_APART_MS, ending);
      }
    },
    async close() {
      closing.abort();
      await watching;
      await store.close();
    },
  };
}
