/**
 * Watches a folder by looking at it again and again: looking wakes nothing and is no activity, so a sandbox that is
 * watched falls asleep as any other, and is watched on while it sleeps. Safe for the browser.
 */
import type { CallOptions } from '../call.ts';
import type { WinterdockClient } from '../client.ts';
import { ApiError } from '../error.ts';
import { pause } from '../transport.ts';
import { shellPathOf, type VolumePath } from './paths.ts';

/** What happened to a file. A move is a removal and a creation. */
export interface WatchedChange {
  type: 'created' | 'changed' | 'removed';
  /** As the shell has it. */
  path: string;
  /** Bytes; null for what is gone. */
  size: number | null;
}

export interface WatchOptions extends Pick<CallOptions, 'signal' | 'headers'> {
  /** Milliseconds between two looks. Default 1000. */
  intervalMs?: number;
}

const INTERVAL_MS = 1000;
/** Largest page of a listing. */
const PAGE = 500;
/** So long after a second was first seen, nothing is written in it any more. */
const SECOND_IS_OVER_MS = 2000;
/** Most files of the newest second that are asked for their version at one look. */
const MOST_ASKED = 64;
const AT_ONCE = 8;

interface Seen {
  size: number;
  mtime: number;
  /** Its version; null when its time alone tells. */
  etag: string | null;
}

/**
 * The files at and below a path as they are at one moment. Times have whole seconds: those of the newest second are
 * asked for their version too, until a look after it.
 */
class FolderLook {
  readonly #client: WinterdockClient;
  readonly #sandbox: string;
  readonly #place: VolumePath;
  #newest = -1;
  #newestSince = 0;
  #isSettled = false;

  constructor(client: WinterdockClient, sandbox: string, place: VolumePath) {
    this.#client = client;
    this.#sandbox = sandbox;
    this.#place = place;
  }

  async look(options: CallOptions): Promise<Map<string, Seen>> {
    const { volume, path: top } = this.#place;
    const files = new Map<string, Seen>();
    const query = { prefix: top, limit: PAGE };
    let newest = -1;
    for await (const { path, size, mtime } of this.#client.listFiles(this.#sandbox, volume, query, options)) {
      if (top !== '/' && path !== top && !path.startsWith(`${top}/`)) continue;
      files.set(path, { size, mtime, etag: null });
      newest = Math.max(newest, mtime);
    }
    const askedFrom = this.#isSettled ? newest : Math.min(newest, this.#newest);
    if (newest !== this.#newest) {
      this.#newest = newest;
      this.#newestSince = Date.now();
      this.#isSettled = false;
    }
    if (!this.#isSettled) await this.#addVersions(files, askedFrom, options);
    this.#isSettled = Date.now() - this.#newestSince >= SECOND_IS_OVER_MS;
    return files;
  }

  async #addVersions(files: Map<string, Seen>, from: number, options: CallOptions): Promise<void> {
    const asked = [...files].filter(([, { mtime }]) => mtime >= from).slice(0, MOST_ASKED);
    const askNext = async (): Promise<void> => {
      for (let next = asked.pop(); next !== undefined; next = asked.pop()) {
        const [path, seen] = next;
        seen.etag = await this.#client.statFile(this.#sandbox, this.#place.volume, path, options).then(
          ({ etag }) => etag,
          (error: unknown) => {
            // It went since the listing: the next look tells.
            if (error instanceof ApiError && error.code === 'not_found') return null;
            throw error;
          },
        );
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askNext));
  }
}

function isChanged(before: Seen, now: Seen): boolean {
  if (before.size !== now.size || before.mtime !== now.mtime) return true;
  return before.etag !== null && now.etag !== null && before.etag !== now.etag;
}

/** The changes from one look to the next, by path. */
function* changesBetween(before: Map<string, Seen>, now: Map<string, Seen>): Generator<[string, WatchedChange]> {
  for (const path of [...new Set([...before.keys(), ...now.keys()])].sort()) {
    const old = before.get(path);
    const seen = now.get(path);
    if (seen === undefined) yield [path, { type: 'removed', path, size: null }];
    else if (old === undefined) yield [path, { type: 'created', path, size: seen.size }];
    else if (isChanged(old, seen)) yield [path, { type: 'changed', path, size: seen.size }];
  }
}

/**
 * Begins to watch: resolves when the first look was had, so that every later change is told. The changes come until
 * the loop is left, the signal is aborted (it throws its reason), or a look is refused. Rejects with `validation` for
 * `memory`: each look at it would be a line of the ledger.
 */
export async function watchFolder(
  client: WinterdockClient,
  sandbox: string,
  folder: VolumePath,
  { intervalMs = INTERVAL_MS, ...options }: WatchOptions,
): Promise<AsyncGenerator<WatchedChange, void, void>> {
  if (folder.volume === 'memory') {
    throw new ApiError('validation', 'What is below /memory cannot be watched.', {
      hint: 'Each read of it is a line of the ledger: list it when you need to.',
    });
  }
  const looking = new FolderLook(client, sandbox, folder);
  const first = await looking.look(options);
  async function* changes(): AsyncGenerator<WatchedChange, void, void> {
    let before = first;
    for (;;) {
      await pause(intervalMs, options.signal);
      const now = await looking.look(options);
      for (const [path, change] of changesBetween(before, now)) {
        yield { ...change, path: shellPathOf({ volume: folder.volume, path }) };
      }
      before = now;
    }
  }
  return changes();
}
