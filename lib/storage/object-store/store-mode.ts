/**
 * A store whose requests are all made in one way: within a limit, or again and again. Knows no driver, and not why.
 */
import type { WinterdockError } from '../../base/errors.ts';
import type { ListedObject, ObjectStore } from './object-store.ts';

export type StoreOp =
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

/** How a request is made: `work` gets the signal that ends it, and tells of progress. */
export type StoreMode = <T>(
  op: StoreOp,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal, progressed: () => void) => Promise<T>,
) => Promise<T>;

/** The store with every request made in a mode; a list in another one, since its pages cannot be had again. */
export function storeInMode(store: ObjectStore, mode: StoreMode, listing: StoreMode): ObjectStore {
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
  mode: StoreMode,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly ListedObject[]> {
  const calledOff = new AbortController();
  const ending = AbortSignal.any([calledOff.signal, ...(signal ? [signal] : [])]);
  const pages = store.list(prefix, { signal: ending })[Symbol.asyncIterator]();
  let hasFailed = true;
  try {
    for (;;) {
      const page = await mode('list', signal, (asking) => {
        asking.addEventListener('abort', () => calledOff.abort(asking.reason), { once: true });
        return pages.next();
      });
      hasFailed = false;
      if (page.done) return;
      yield page.value;
      hasFailed = true;
    }
  } finally {
    // A page for which nobody waits any more may never come, and nothing ends the list before.
    const ended = pages.return?.();
    if (hasFailed) ended?.catch(() => undefined);
    else await ended;
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

function both(progressed: () => void, progress: ((bytes: number) => void) | undefined): (bytes: number) => void {
  return (bytes) => {
    progressed();
    progress?.(bytes);
  };
}

interface ProgressLimit {
  /** How long a request may go on without progress, in milliseconds. */
  ms: number;
  /** Waits so many milliseconds; rejects when `signal` is aborted. */
  wait: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** What it fails with then. */
  late: () => WinterdockError;
  /** Each of them ends it too. */
  signals: readonly (AbortSignal | undefined)[];
}

/** Runs `work`, which gets the signal that ends it and tells of progress, and fails when none came for so long. */
export async function withinLimit<T>(
  { ms, wait, late, signals }: ProgressLimit,
  work: (ending: AbortSignal, progressed: () => void) => Promise<T>,
): Promise<T> {
  const tooLate = new AbortController();
  let timer = new AbortController();
  const isLate = Promise.withResolvers<never>();
  const progressed = () => {
    timer.abort();
    timer = new AbortController();
    wait(ms, timer.signal).then(
      () => {
        const error = late();
        tooLate.abort(error);
        isLate.reject(error);
      },
      // It made progress, or is done.
      () => undefined,
    );
  };
  progressed();
  const working = work(AbortSignal.any([tooLate.signal, ...signals.filter((one) => one !== undefined)]), progressed);
  try {
    // A disk that hangs does not know of signals.
    return await Promise.race([working, isLate.promise]);
  } finally {
    timer.abort();
    working.catch(() => undefined);
  }
}
