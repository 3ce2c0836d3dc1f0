/**
 * What a form that was posted to an address of its own found out, kept for the page that shows it next: a browser
 * without scripts follows a redirect, and a redirect carries nothing. In this process only, for a while, for who asked.
 * Bundled pages and addresses are several copies of this module, so it is kept on `globalThis`.
 */

import type { Caller } from '#lib/auth/caller.ts';
import type { Inspection } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';

export type Flash =
  | { kind: 'inspection'; fileName: string | null; inspection: Inspection }
  | { kind: 'refusal'; says: string; hint?: string };

interface Entry {
  actor: string;
  until: number;
  held: Flash;
}

const KEY = Symbol.for('winterdock.held');
const KEPT_MS = 30 * 60_000;
const MOST = 200;

function entries(): Map<string, Entry> {
  const place = globalThis as typeof globalThis & { [KEY]?: Map<string, Entry> };
  place[KEY] ??= new Map();
  return place[KEY];
}

/** Keeps it and returns the name under which it is asked for. */
export function keepFlash(caller: Caller, held: Flash): string {
  const kept = entries();
  const now = getHost().clock.now();
  for (const [key, { until }] of kept) if (until <= now || kept.size >= MOST) kept.delete(key);
  const key = crypto.randomUUID();
  kept.set(key, { actor: caller.actor, until: now + KEPT_MS, held });
  return key;
}

/** What is kept under a name for this caller, or null. It may be asked for again, as a page may be read again. */
export function readFlash(caller: Caller, key: string | undefined): Flash | null {
  const entry = key === undefined ? undefined : entries().get(key);
  if (entry === undefined || entry.actor !== caller.actor || entry.until <= getHost().clock.now()) return null;
  return entry.held;
}
