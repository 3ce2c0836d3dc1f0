/**
 * Opens the object store below the drawers, as the settings say, and claims its place for this installation. A store
 * that is away keeps no server from starting: what is on this machine goes on. Removes nothing.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { installationId } from '../backup/backup-settings.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import type { HostIdentity } from '../registry/types.ts';
import type { StoreBelowOptions } from '../sandboxes/store/store-below.ts';
import { claimPrefix } from '../storage/object-store/marker.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { type WatchedStore, watchedStore } from '../storage/object-store/watched-store.ts';

/** How long a start waits for the store, in milliseconds. */
const CLAIM_MS = 5000;
/** Between two attempts to claim a place, in milliseconds. */
const CLAIM_AGAIN_MS = 15_000;

interface StoreParts {
  config: Config;
  registry: Registry;
  clock: Clock;
  log: Logger;
  host: HostIdentity;
}

/** The store of a host, and how to let go of it. */
export interface OpenedStore {
  readonly watched: WatchedStore;
  /** As the sandboxes use it. */
  readonly below: StoreBelowOptions;
  close(): Promise<void>;
}

/**
 * Null without `WB_COLD_URL`. Throws `conflict` with `start_refused` when the place is another installation's, and when
 * rows name objects though no store is set.
 */
export async function openHostStore(parts: StoreParts): Promise<OpenedStore | null> {
  const { config, registry, clock, log, host } = parts;
  const stored = await registry.instances.countInStore();
  if (config.store.cold === null) {
    if (stored > 0) throw storeNotSet(stored);
    return null;
  }
  const objects = await openObjectStore(config.store.cold.url, config.store.connection);
  const id = await installationId(registry.facts, clock);
  const isEstablished = stored > 0 || (await registry.storeNames.page('', 1)).length > 0;
  const ending = new AbortController();
  const claim = (signal: AbortSignal) => claimPrefix(objects, { id, term: host.term }, { isEstablished, signal });
  try {
    await claimNow(claim);
  } catch (error) {
    if (!isAway(error)) {
      await objects.close();
      throw error;
    }
    log.warn({ error: messageOf(error) }, 'the object store is away');
  }
  const watched = watchedStore(objects, { installation: id, clock });
  const claiming = claimUntilDone(watched, claim, ending.signal, log);
  return {
    watched,
    below: {
      objects: watched.foreground,
      background: watched.background,
      isMissing: (name, signal) => watched.isMissing(name, signal),
      cacheBytes: config.store.cacheBytes,
      ack: config.store.ack,
    },
    async close() {
      ending.abort();
      await claiming;
      await watched.close();
    },
  };
}

type Claim = (signal: AbortSignal) => ReturnType<typeof claimPrefix>;

async function claimNow(claim: Claim): Promise<void> {
  const signal = AbortSignal.timeout(CLAIM_MS);
  try {
    await claim(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new WinterdockError('storage_unavailable', 'The object store does not answer.', { cause: error });
  }
}

/** A new place that was away at the start has no marker until somebody claims it. */
async function claimUntilDone(watched: WatchedStore, claim: Claim, ended: AbortSignal, log: Logger): Promise<void> {
  while (!ended.aborted && (await watched.check(ended)).away !== null) {
    await pause(CLAIM_AGAIN_MS, undefined, { signal: ended, ref: false }).catch(() => undefined);
    if (ended.aborted) return;
    await claim(ended).catch((error: unknown) => log.debug({ error: messageOf(error) }, 'the store is not claimed'));
  }
}

function isAway(error: unknown): boolean {
  return isWinterdockError(error) && error.code === 'storage_unavailable';
}

function storeNotSet(rows: number): WinterdockError {
  return new WinterdockError(
    'conflict',
    `The files of ${rows === 1 ? '1 sandbox are' : `${rows} sandboxes are`} in an object store, and WB_COLD_URL is not set. Nothing was changed.
Ways out:
  set WB_COLD_URL to the store, as it was
  WB_COLD_URL=… npm run store:move -- --to disk  brings them back to this machine`,
    { extra: { start_refused: 'store_not_set' } },
  );
}
