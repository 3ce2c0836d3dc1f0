/**
 * The object store of a host: opens it, claims this installation's place in it, finds out what it keeps, and refuses a
 * start whose rows name a store that is not configured. A store that is away when the server starts is claimed and
 * asked once it is there; until then what is on this machine works.
 */
import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { installationId } from '../backup/backup-settings.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { parseStoreUrl } from '../base/store-url.ts';
import { lacksInWords } from '../health/store-report.ts';
import type { Registry } from '../registry/registry.ts';
import type { HostIdentity } from '../registry/types.ts';
import { certainStore } from '../storage/object-store/certain-store.ts';
import { lateStore } from '../storage/object-store/late-store.ts';
import { markedStore } from '../storage/object-store/marked-store.ts';
import { claimPrefix, type StoreStart } from '../storage/object-store/marker.ts';
import type { AwayReason, ObjectStore, StoreTraits } from '../storage/object-store/object-store.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { storeAway } from '../storage/object-store/store-errors.ts';
import { type WatchedStore, watchedStore } from '../storage/object-store/watched-store.ts';

/** The longest that a start waits for the store, in milliseconds. */
const START_MS = 5000;
/** The fact with the place that was claimed last for a setting: a start does without it where it is away. */
const CLAIMED = 'claimed_';
/** The name of the fact. */
export const claimFact = (setting: string): string => `${CLAIMED}${setting}`;
/** Pauses between two claims of a store that is away, in milliseconds: doubled up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Between two looks at a store whose marker is gone. */
const ANEW_MS = 5000;

export interface ColdStore {
  /** For who waits and asks for copies: nothing is missing before that is certain. */
  readonly objects: ObjectStore;
  readonly watched: WatchedStore;
  /** What the store keeps; null until it was asked. */
  traits(): StoreTraits | null;
  /** Since when it is away (epoch milliseconds), and why in words; null: it can be used. */
  away(): { sinceMs: number; why: string } | null;
  close(): Promise<void>;
}

export interface ClaimedStoreOptions {
  url: string;
  /** It has objects there by the registry. */
  isEstablished: boolean;
  /** The name of the setting, for people. */
  setting: string;
  /** Whether one that lost its marker while the server runs is claimed again: nothing there is all that there is. */
  claimsAnew?: boolean;
}

export interface ColdStoreParts {
  config: Pick<Config, 'store'>;
  registry: Registry;
  host: HostIdentity;
  /** Number of the ledger's epoch. */
  epoch: number;
  clock: Clock;
  log: Logger;
}

/**
 * Opens the store of the settings; null without one. Throws `conflict` with `start_refused` when rows name a store and
 * none is configured, when the store is another installation's, and when one that was never used cannot be.
 */
export async function openColdStore(parts: ColdStoreParts): Promise<ColdStore | null> {
  const { config, registry } = parts;
  const { cold } = config.store;
  const rows = await registry.instances.countInStore();
  if (cold === null) {
    if (rows > 0) throw notConfigured(rows);
    return null;
  }
  const isEstablished = rows > 0 || (await registry.storeNames.page('', 1)).length > 0;
  return openClaimedStore(parts, { url: cold.url, isEstablished, setting: 'WB_COLD_URL' });
}

/**
 * Opens the store and claims this installation's place in it. Throws `conflict` with `start_refused` when the place is
 * another installation's, and when a store that was never claimed cannot be.
 */
export async function openClaimedStore(
  { config, registry, host, epoch, clock, log }: ColdStoreParts,
  { url, isEstablished, setting, claimsAnew = false }: ClaimedStoreOptions,
): Promise<ColdStore> {
  const id = await installationId(registry.facts, clock);
  const fact = claimFact(setting);
  const wasClaimed = (await registry.facts.read(fact)) === url;
  const mayBeAway = isEstablished || wasClaimed;
  const store = lateStore(url, () => openObjectStore(url, config.store.connection));
  const ending = new AbortController();
  let start: StoreStart | null = null;
  let device: string | null = null;
  const claim = async (signal: AbortSignal) => {
    const options = { isEstablished, isStart: host.isAlone, lastStart: start?.number ?? 0, setting, signal };
    start = await claimPrefix(store, { id, term: host.term, epoch }, options);
    device = deviceOf(url);
  };
  const late = await claimInTime(claim, ending.signal);
  if (late !== null && (!isStoreAway(late) || !mayBeAway)) {
    await store.close();
    throw isStoreAway(late) ? cannotBeUsed(late, setting) : late;
  }
  if (late === null && !wasClaimed) await registry.facts.write(fact, url, epochSeconds(clock));
  const watched = watchedStore(store, { installation: id, start: () => start, epoch, clock });
  // What nobody knows of it yet is known before the first request.
  if (late !== null) await watched.check(AbortSignal.timeout(START_MS)).catch(() => undefined);
  let found: StoreTraits | null = null;
  const ask = async () => {
    for (let isClaimed = late === null, wait = FIRST_PAUSE_MS; !ending.signal.aborted; ) {
      try {
        if (!isClaimed) {
          await store.reopen();
          await watched.check(ending.signal);
          await claim(ending.signal);
        }
        isClaimed = true;
        await watched.check(ending.signal);
        found = await store.traits({ signal: ending.signal });
        const lacks = lacksInWords(found);
        if (lacks.length > 0) log.warn({ url, lacks }, 'what the object store does not keep');
        return;
      } catch (error) {
        if (ending.signal.aborted) return;
        log.warn({ error: messageOf(error) }, 'the object store was not asked yet');
      }
      await pause(wait, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      wait = Math.min(wait * 2, LONGEST_PAUSE_MS);
    }
  };
  const asking = ask();
  /** What was emptied, and is where it was, is filled again, as a start would. */
  const claimAnew = async () => {
    for (let wait = ANEW_MS; !ending.signal.aborted; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
      await pause(wait, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      if (!isEmptied((await watched.check(ending.signal)).away)) return;
      if (device === null || deviceOf(url) !== device) continue;
      await store.reopen();
      const { away } = await watched.check(ending.signal);
      if (away !== 'no_marker') continue;
      log.warn({ url }, 'the object store has no marker any more: it is claimed anew');
      await claim(ending.signal).catch((error: unknown) => {
        // Another installation was quicker: that is what the next look finds.
        log.warn({ error: messageOf(error) }, 'the object store was not claimed anew');
      });
    }
  };
  let claiming: Promise<void> | null = null;
  watched.onHealth(({ away }) => {
    if (away === null) log.info({ url }, 'the object store is back');
    else log.warn({ url, away }, 'the object store is away');
    if (!claimsAnew || !isEmptied(away)) return;
    claiming ??= claimAnew()
      .catch((error: unknown) => {
        if (!ending.signal.aborted) log.warn({ error: messageOf(error) }, 'the object store was not claimed anew');
      })
      .finally(() => {
        claiming = null;
      });
  });
  return {
    objects: certainStore(
      {
        foreground: markedStore(watched.foreground, watched),
        isMissing: (name, signal) => watched.isMissing(name, signal),
      },
      ending.signal,
    ),
    watched,
    traits: () => found,
    away() {
      const { away, since } = watched.health();
      return away === null ? null : { sinceMs: since ?? clock.now(), why: messageOf(storeAway(away)) };
    },
    async close() {
      ending.abort();
      await asking;
      await claiming;
      await watched.close();
    },
  };
}

/** Claims within the time that a start has; returns the error of a claim that did not succeed. */
async function claimInTime(claim: (signal: AbortSignal) => Promise<void>, ended: AbortSignal): Promise<unknown> {
  const late = AbortSignal.timeout(START_MS);
  try {
    await claim(AbortSignal.any([late, ended]));
    return null;
  } catch (error) {
    return late.aborted && error === late.reason ? storeAway('timeout') : error;
  }
}

const isEmptied = (away: AwayReason | null) => away === 'no_marker' || away === 'no_bucket';

/** What a folder lies on: in the place of a disk that was taken away is another one. Null: nobody knows. */
function deviceOf(url: string): string | null {
  const address = parseStoreUrl(url);
  if (address.driver !== 'file') return address.driver;
  try {
    const stat = statSync(address.folder, { throwIfNoEntry: false });
    return stat?.isDirectory() ? String(stat.dev) : null;
  } catch {
    return null;
  }
}

function isStoreAway(error: unknown): boolean {
  return isWinterdockError(error) && error.code === 'storage_unavailable';
}

function cannotBeUsed(cause: unknown, setting: string): WinterdockError {
  return new WinterdockError(
    'conflict',
    `The server does not start: ${messageOf(cause)} Nothing was stored there yet.`,
    {
      hint: `Mend the store or its credentials, or start without ${setting}: files then stay on this machine.`,
      extra: { start_refused: 'store_unusable' },
      cause,
    },
  );
}

function notConfigured(rows: number): WinterdockError {
  return new WinterdockError(
    'conflict',
    `The files of ${rows === 1 ? '1 sandbox are' : `${rows} sandboxes are`} in an object store, and WB_COLD_URL is not set. Nothing was changed.
Ways out:
  set WB_COLD_URL to the store, as it was
  WB_COLD_URL=… npm run store:move -- --to disk  brings them back to this machine`,
    { extra: { start_refused: 'store_not_set' } },
  );
}
