/**
 * The moments of a replica, found, listed and made in a thread of their own: checksums of a large file, and lists of
 * many segments, would hold up the server's. Knows nothing of what becomes of a file.
 */
import { CallThread } from '../../base/call-thread.ts';
import { performing } from '../../base/effects.ts';
import type { WinterdockError } from '../../base/errors.ts';
import { FairSlots, serverIsStopping } from '../../base/fair-slots.ts';
import type { StoreConnection } from '../../base/store-url.ts';
import { awayOf } from '../../storage/object-store/store-errors.ts';
import type { ListedMoment } from './moment-list.ts';
import type { FoundMoment } from './replica-reader.ts';

const THREAD = new URL('./moment-thread.ts', import.meta.url);
/** Of the thread's heap. A replica of a day of commits, one each second, takes a quarter of it. */
const MOST_HEAP_MIB = 256;
/** Times looked for, and lists, at the same time. */
const LOOKS_AT_ONCE = 8;
/** How long the thread and its connections stay while nobody asks for anything. */
const KEEP_MS = 60_000;

/** Where the replica is. */
export interface ReplicaAddress {
  url: string;
  connection: StoreConnection;
}

/** Whose moments they are. */
export interface MomentOwner {
  id: string;
  tenant: string;
}

/** Which moment there is up to a time. */
export interface LocatedMoment {
  found: FoundMoment;
  /** Another moment of the sandbox has another one. Made of digits, letters and dashes. */
  key: string;
  /** Of its file. */
  bytes: number;
}

export interface MadeMoment {
  /** Of the moment that was made, in epoch milliseconds: an earlier one where something was damaged. */
  timeMs: number;
  bytes: number;
}

/** A task of the thread. */
export type MomentCall = MomentOwner &
  (
    | { kind: 'find'; atMs: number }
    | { kind: 'list'; aroundMs: number | null; limit: number }
    | { kind: 'make'; atMs: number; found: FoundMoment; target: string }
  );

export interface MomentSource {
  /** The newest moment up to `atMs`. Throws `moment_gone` when there is none, `corrupt`, `storage_unavailable`. */
  find(whose: MomentOwner, atMs: number): Promise<LocatedMoment>;
  /** As `listMoments`. Throws `moment_gone` when there is none up to `aroundMs`, `storage_unavailable`. */
  list(whose: MomentOwner, around: { aroundMs: number | null; limit: number }): Promise<ListedMoment[]>;
  /**
   * Makes the file of a moment that was found by `atMs` at `target` (absolute), which is not there yet, at rest and not
   * durable. Throws `corrupt`, `storage_unavailable`; then nothing is there.
   */
  make(
    whose: MomentOwner,
    moment: { atMs: number; found: FoundMoment; target: string },
    signal: AbortSignal,
  ): Promise<MadeMoment>;
  /** Ends at once; what is under way is rejected. */
  close(): Promise<void>;
}

/**
 * Looks and lists go on beside what is made, some at a time: each may be a list of a whole replica. A store that is
 * away or hangs is told within seconds, to who waits for their turn too.
 */
export function createMomentSource(place: ReplicaAddress): MomentSource {
  const thread = new CallThread<MomentCall>(THREAD, {
    name: 'The thread that opens moments',
    keepMs: KEEP_MS,
    resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MIB },
    workerData: place,
  });
  const looks = new FairSlots({
    ...{ slots: LOOKS_AT_ONCE, mostWaiting: 512, mostWaitingEach: 128 },
    refusal: 'Too many looks at the replica are waiting already.',
  });
  let isClosed = false;
  const ask = async (call: MomentCall, signal?: AbortSignal): Promise<unknown> => {
    if (isClosed) throw serverIsStopping();
    try {
      return await thread.ask(call, signal);
    } catch (error) {
      throw isClosed ? serverIsStopping() : error;
    }
  };
  const look = (call: MomentCall): Promise<unknown> =>
    looks.run(call.tenant, () =>
      ask(call).catch((error: unknown) => {
        // Each of those that wait would wait as long for the same answer.
        if (awayOf(error) !== null) looks.refuseWaiting(error as WinterdockError);
        throw error;
      }),
    );
  return {
    find: ({ id, tenant }, atMs) => look({ kind: 'find', id, tenant, atMs }) as Promise<LocatedMoment>,
    list: ({ id, tenant }, around) => look({ kind: 'list', id, tenant, ...around }) as Promise<ListedMoment[]>,
    make: ({ id, tenant }, { atMs, found, target }, signal) =>
      performing(
        { kind: 'delegate', path: target },
        () => ask({ kind: 'make', id, tenant, atMs, found, target }, signal) as Promise<MadeMoment>,
      ),
    async close() {
      isClosed = true;
      looks.stop();
      await thread.end();
    },
  };
}
