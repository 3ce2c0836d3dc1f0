/**
 * A store in which nothing is missing before that is certain. The first answer that there is no such object is told as
 * an absence of the store, and the object is asked for again beside everything else: three times over a minute, with
 * the marker there each time. What is missing then is said to be missing, until the object is found again.
 */
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import type { ObjectStore } from './object-store.ts';
import type { WatchedStore } from './watched-store.ts';

/** Names that are known to be missing, at most. */
const MOST_KNOWN = 10_000;
const RETRY_SECONDS = 30;

/** The store of those who wait for an answer. `signal` ends the looks. */
export function certainStore(
  watched: Pick<WatchedStore, 'foreground' | 'isMissing'>,
  signal: AbortSignal,
): ObjectStore {
  const store = watched.foreground;
  const missing = new Set<string>();
  const looking = new Set<string>();
  const look = (name: string) => {
    if (looking.has(name) || signal.aborted) return;
    looking.add(name);
    watched
      .isMissing(name, signal)
      .then((isMissing) => {
        if (isMissing && missing.size < MOST_KNOWN) missing.add(name);
      })
      // The store is away: the next who asks looks again.
      .catch(() => undefined)
      .finally(() => looking.delete(name));
  };
  const sure = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    try {
      const result = await work();
      missing.delete(name);
      return result;
    } catch (error) {
      if (!isWinterdockError(error) || error.code !== 'missing_file' || missing.has(name)) throw error;
      look(name);
      throw new WinterdockError('storage_unavailable', 'The object store says that it has no such object.', {
        hint: 'It is asked again for a minute before the file counts as missing.',
        retryAfterSeconds: RETRY_SECONDS,
        cause: error,
      });
    }
  };
  return {
    ...store,
    get: (name, options) => sure(name, () => store.get(name, options)),
    open: (name, options) => sure(name, () => store.open(name, options)),
    download: (name, path, options) => sure(name, () => store.download(name, path, options)),
    copy: (from, to, options) => sure(from, () => store.copy(from, to, options)),
  };
}
