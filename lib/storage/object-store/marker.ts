/**
 * The marker by which an installation claims its place in a store: two of them under one prefix would remove each
 * other's objects. It is also the proof that the store is the one that is meant, and not an empty folder in its place.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import { MARKER_NAME } from './object-names.ts';
import type { ObjectStore } from './object-store.ts';
import { storeAway } from './store-errors.ts';

/** A start of a server: a copy of its data folder that is started elsewhere has the same id, and another start. */
const startSchema = z.object({ number: z.int().positive(), token: z.string().min(1).max(100) });
export type StoreStart = z.output<typeof startSchema>;

const markerSchema = z.object({
  /** The installation. */
  id: z.string().min(1).max(200),
  /** The newest term of whoever wrote it. */
  term: z.int().nonnegative(),
  /** Of the ledger of whoever started last: it grows with each restore. None by a server of before there were any. */
  epoch: z.int().positive().optional(),
  /** The last start; none by a server of before there were any. */
  start: startSchema.optional(),
});
export type StoreMarker = z.output<typeof markerSchema>;

/** Null when there is no marker; `other` when what lies there is none of Winterdock's. Throws `storage_unavailable`. */
export async function readMarker(store: ObjectStore, signal?: AbortSignal): Promise<StoreMarker | 'other' | null> {
  let text: string;
  try {
    text = Buffer.from(await store.get(MARKER_NAME, { ...(signal && { signal }) })).toString();
  } catch (error) {
    if (!isWinterdockError(error)) throw error;
    if (error.code === 'missing_file') return null;
    if (error.code === 'too_large' || error.code === 'corrupt') return 'other';
    throw error;
  }
  try {
    return markerSchema.parse(JSON.parse(text));
  } catch {
    // Not JSON, or another document.
    return 'other';
  }
}

/** Of a ledger that never began another epoch. */
export const FIRST_EPOCH = 1;

/**
 * Whether the place is another server's of the same installation by now: one whose ledger is of a later epoch, as that
 * of a restored backup is, or a later start of the same, as of a copy of the data folder. A marker of an earlier one
 * says that the store was put back to what it was before. `own`: null for one that has not started here.
 */
export function isTakenOver({ start, epoch }: StoreMarker, own: StoreStart | null, ownEpoch: number): boolean {
  if ((epoch ?? FIRST_EPOCH) > ownEpoch) return true;
  if (start === undefined || own === null) return false;
  return start.number > own.number || (start.number === own.number && start.token !== own.token);
}

export interface ClaimOptions {
  /** It has objects here by its registry, so a missing marker is no free place. */
  isEstablished: boolean;
  /** Whoever had the place before has it no longer. */
  isStart?: boolean;
  /** The number of the last start that is known besides: what a copy says that comes back later is older. */
  lastStart?: number;
  /** The name of the setting with the address, for people. */
  setting?: string;
  signal?: AbortSignal;
}

/**
 * Claims the place for an installation, in its term, and reads the claim back. Returns the start, or null without one.
 *
 * Throws `conflict` with `start_refused` when the place is another's, or one of a later epoch has it, and
 * `storage_unavailable` when the store is away or has lost the marker.
 */
export async function claimPrefix(
  store: ObjectStore,
  { id, term, epoch = FIRST_EPOCH }: Pick<StoreMarker, 'id' | 'term' | 'epoch'>,
  { isEstablished, isStart = false, lastStart = 0, setting = 'WB_COLD_URL', signal }: ClaimOptions,
): Promise<StoreStart | null> {
  const options = signal ? { signal } : {};
  const found = await readMarker(store, signal);
  requireOwn(store.url, found, id, setting);
  if (found === null && isEstablished) throw storeAway('no_marker');
  requireLast(store.url, found, epoch, setting);
  if (found !== null && found.term >= term && (found.epoch ?? FIRST_EPOCH) >= epoch && !isStart) return null;
  const start = isStart
    ? { number: Math.max(found?.start?.number ?? 0, lastStart) + 1, token: randomUUID() }
    : found?.start;
  const marker: StoreMarker = { id, term: Math.max(term, found?.term ?? 0), epoch, ...(start && { start }) };
  const bytes = Buffer.from(`${JSON.stringify(marker)}\n`);
  try {
    await store.put(MARKER_NAME, bytes, { ...options, ifAbsent: found === null });
  } catch (error) {
    // Somebody was quicker: reading it back tells who.
    if (!(isWinterdockError(error) && error.code === 'conflict')) throw error;
  }
  const now = await readMarker(store, signal);
  requireOwn(store.url, now, id, setting);
  requireLast(store.url, now, epoch, setting);
  if (now === null) throw storeAway('no_marker');
  return isStart && start ? start : null;
}

function requireOwn(
  url: string,
  found: StoreMarker | 'other' | null,
  id: string,
  setting: string,
): asserts found is StoreMarker | null {
  if (found === null || (found !== 'other' && found.id === id)) return;
  throw new WinterdockError('conflict', `The object store ${url} belongs to another installation.`, {
    hint: `Give this one a prefix of its own in ${setting}. If the other one is gone for good, remove ${MARKER_NAME} there by hand.`,
    extra: { start_refused: 'store_claimed' },
  });
}

function requireLast(url: string, found: StoreMarker | null, epoch: number, setting: string): void {
  const last = found?.epoch ?? FIRST_EPOCH;
  if (last <= epoch) return;
  throw new WinterdockError(
    'conflict',
    `The object store ${url} is used by a later restore of this installation: its ledger is of epoch ${last}, and the one here of epoch ${epoch}. Nothing was changed.
Ways out:
  leave this server stopped, and use the restored one
  ${setting}=… npm run doctor -- --accept REASON  goes on from this registry in a later epoch: the restored server loses the store`,
    { extra: { start_refused: 'store_of_later_epoch' } },
  );
}
