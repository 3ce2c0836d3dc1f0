/**
 * A store that is watched: whether it is away, since when and why; how often it was asked for what. Whoever waits for
 * an answer gets one soon, and work in the background tries without end. Knows nothing of what is stored.
 */
import { setTimeout } from 'node:timers/promises';
import { type Clock, systemClock } from '../../base/clock.ts';
import { isWinterdockError } from '../../base/errors.ts';
import { FIRST_EPOCH, isTakenOver, readMarker, type StoreStart } from './marker.ts';
import type { AwayReason, ListedObject, ObjectStore } from './object-store.ts';
import { storeAway } from './store-errors.ts';

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

type StoreOp =
  | 'put'
  | 'get'
  | 'open'
  | 'upload'
  | 'download'
  | 'head'
  | 'list'
  | 'remove'
  | 'purge'
  | 'copy'
  | 'traits';

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

  const inForeground: Mode = async (op, signal, work) => {
    const late = new AbortController();
    let timer = new AbortController();
    const isLate = Promise.withResolvers<never>();
    const progressed = () => {
      timer.abort();
      timer = new AbortController();
      wait(FOREGROUND_MS, timer.signal).then(
        () => {
          const error = storeAway(health.away ?? 'timeout');
          learn(error);
          late.abort(error);
          isLate.reject(error);
        },
        // It made progress, or is done.
        () => undefined,
      );
    };
    progressed();
    const ending = AbortSignal.any([late.signal, closing.signal, ...(signal ? [signal] : [])]);
    const asking = asked(op, ending, () => work(ending, progressed));
    try {
      // A disk that hangs does not know of signals.
      return await Promise.race([asking, isLate.promise]);
    } finally {
      timer.abort();
      asking.catch(() => undefined);
    }
  };

  const once: Mode = (op, signal, work) => {
    const ending = AbortSignal.any([closing.signal, ...(signal ? [signal] : [])]);
    return asked(op, ending, () => work(ending, () => undefined));
  };

  const inBackground: Mode = async (op, signal, work) => {
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
    foreground: modeOf(store, inForeground, inForeground),
    background: modeOf(store, inBackground, once),
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

/** How a request is made: `work` gets the signal that ends it, and tells of progress. */
type Mode = <T>(
  op: StoreOp,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal, progressed: () => void) => Promise<T>,
) => Promise<T>;

/** The store with every request made in a mode; a list in another one, since its pages cannot be had again. */
function modeOf(store: ObjectStore, mode: Mode, listing: Mode): ObjectStore {
  return {
    url: store.url,
    put: (name, bytes, options = {}) =>
      mode('put', options.signal, (signal) => store.put(name, bytes, { ...options, signal })),
    get: (name, options = {}) => mode('get', options.signal, (signal) => store.get(name, { ...options, signal })),
    open: (name, options = {}) =>
      mode('open', options.signal, (signal) =>
        // The stream goes on when the request was answered: by the caller's signal alone.
        whileAsking(signal, options.signal, (ending) => store.open(name, { ...options, signal: ending })),
      ),
    upload: (name, path, options = {}) =>
      mode('upload', options.signal, (signal, progressed) =>
        store.upload(name, path, { ...options, signal, progress: both(progressed, options.progress) }),
      ),
    download: (name, path, options = {}) =>
      mode('download', options.signal, (signal, progressed) =>
        store.download(name, path, { ...options, signal, progress: both(progressed, options.progress) }),
      ),
    head: (name, options = {}) => mode('head', options.signal, (signal) => store.head(name, { ...options, signal })),
    list: (prefix, options = {}) => listed(store, listing, prefix, options.signal),
    remove: (name, options = {}) =>
      mode('remove', options.signal, (signal) => store.remove(name, { ...options, signal })),
    purge: (name, options = {}) => mode('purge', options.signal, (signal) => store.purge(name, { ...options, signal })),
    copy: (from, to, options = {}) =>
      mode('copy', options.signal, (signal) => store.copy(from, to, { ...options, signal })),
    traits: (options = {}) => mode('traits', options.signal, (signal) => store.traits({ ...options, signal })),
    close: () => store.close(),
  };
}

/** A page that could not be had ends the list with its error: whoever wants the list begins again. */
async function* listed(
  store: ObjectStore,
  mode: Mode,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly ListedObject[]> {
  const ended = new AbortController();
  const ending = AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]);
  const pages = store.list(prefix, { signal: ending })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const page = await mode('list', signal, (asking) => {
        asking.addEventListener('abort', () => ended.abort(asking.reason), { once: true });
        return pages.next();
      });
      if (page.done) return;
      yield page.value;
    }
  } finally {
    await pages.return?.();
  }
}

/** Runs `work` with a signal that `asking` aborts only until `work` is done, and `signal` always. */
async function whileAsking<T>(
  asking: AbortSignal,
  signal: AbortSignal | undefined,
  work: (ending: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const end = () => ended.abort(asking.reason);
  asking.addEventListener('abort', end, { once: true });
  try {
    return await work(AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]));
  } finally {
    asking.removeEventListener('abort', end);
  }
}

/** Why the store is away, by an error; null for any other. One of the machine's own disk does not say it. */
function awayOf(error: unknown): AwayReason | null {
  if (!isWinterdockError(error) || error.code !== 'storage_unavailable') return null;
  const { away } = error.extra;
  return typeof away === 'string' ? (away as AwayReason) : null;
}

function both(progressed: () => void, progress: ((bytes: number) => void) | undefined): (bytes: number) => void {
  return (bytes) => {
    progressed();
    progress?.(bytes);
  };
}
