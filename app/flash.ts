/**
 * Flash messages: the result of a posted form, kept for the page that shows it next, because a redirect carries
 * nothing. Kept in this process only, for a while, for the caller that posted. Pages and routes are bundled with
 * separate copies of this module, so the store is on `globalThis`.
 */

import type { Caller } from '#lib/auth/caller.ts';
import type { Inspection } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';

export type Flash =
  | { kind: 'inspection'; fileName: string | null; inspection: Inspection }
  | { kind: 'unsigned-import'; id: string; says: string }
  | { kind: 'refusal'; says: string; hint?: string };

interface Entry {
  actor: string;
  until: number;
  flash: Flash;
}

const KEY = Symbol.for('winterdock.flash');
const KEPT_MS = 30 * 60_000;
const MOST = 200;

function entries(): Map<string, Entry> {
  const place = globalThis as typeof globalThis & { [KEY]?: Map<string, Entry> };
  place[KEY] ??= new Map();
  return place[KEY];
}

/** Keeps a flash and returns the key to read it by. */
export function keepFlash(caller: Caller, flash: Flash): string {
  const kept = entries();
  const now = getHost().clock.now();
  for (const [key, { until }] of kept) if (until <= now || kept.size >= MOST) kept.delete(key);
  const key = crypto.randomUUID();
  kept.set(key, { actor: caller.actor, until: now + KEPT_MS, flash });
  return key;
}

/**
 * The flash that this caller keeps under a key, or null. Reading does not remove it, because a page may be reloaded.
 */
export function readFlash(caller: Caller, key: string | undefined): Flash | null {
  const entry = key === undefined ? undefined : entries().get(key);
  if (entry === undefined || entry.actor !== caller.actor || entry.until <= getHost().clock.now()) return null;
  return entry.flash;
}
