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

/**
 * Whether a later start of the same installation has the place: of a copy of its data folder, or of its restored
 * backup. A marker of an earlier one says that the store was put back to what it was before.
 */
export function isTakenOver({ start }: StoreMarker, own: StoreStart): boolean {
  if (start === undefined) return false;
  return start.number > own.number || (start.number === own.number && start.token !== own.token);
}

/**
 * Claims the place for an installation, in its term, and reads the claim back. `isEstablished`: it has objects here by
 * its registry, so a missing marker is no free place. `isStart`: whoever had it before has it no longer. Returns the
 * start, or null without one.
 *
 * Throws `conflict` with `start_refused` when the place is another's, and `storage_unavailable` when the store is away
 * or has lost the marker.
 */
export async function claimPrefix(
  store: ObjectStore,
  { id, term }: Pick<StoreMarker, 'id' | 'term'>,
  { isEstablished, isStart = false, signal }: { isEstablished: boolean; isStart?: boolean; signal?: AbortSignal },
): Promise<StoreStart | null> {
  const options = signal ? { signal } : {};
  const found = await readMarker(store, signal);
  requireOwn(store.url, found, id);
  if (found === null && isEstablished) throw storeAway('no_marker');
  if (found !== null && found.term >= term && !isStart) return null;
  const start = isStart ? { number: (found?.start?.number ?? 0) + 1, token: randomUUID() } : found?.start;
  const marker: StoreMarker = { id, term: Math.max(term, found?.term ?? 0), ...(start && { start }) };
  const bytes = Buffer.from(`${JSON.stringify(marker)}\n`);
  try {
    await store.put(MARKER_NAME, bytes, { ...options, ifAbsent: found === null });
  } catch (error) {
    // Somebody was quicker: reading it back tells who.
    if (!(isWinterdockError(error) && error.code === 'conflict')) throw error;
  }
  const now = await readMarker(store, signal);
  requireOwn(store.url, now, id);
  if (now === null) throw storeAway('no_marker');
  return isStart && start ? start : null;
}

function requireOwn(url: string, found: StoreMarker | 'other' | null, id: string): asserts found is StoreMarker | null {
  if (found === null || (found !== 'other' && found.id === id)) return;
  throw new WinterdockError('conflict', `The object store ${url} belongs to another installation.`, {
    hint: `Give this one a prefix of its own in WB_COLD_URL. If the other one is gone for good, remove ${MARKER_NAME} there by hand.`,
    extra: { start_refused: 'store_claimed' },
  });
}
