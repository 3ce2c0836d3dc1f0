/**
 * Passes the lines of the ledger that a page hears on to whoever listens in it. Knows nothing of where they come from.
 */
import type { Event } from '#lib/contract/schema.ts';

const ears = new Set<(event: Event) => void>();

/** Calls `ear` with each new line. Returns how to stop. */
export function onLedgerLine(ear: (event: Event) => void): () => void {
  ears.add(ear);
  return () => ears.delete(ear);
}

/** Says a new line to all who listen. */
export function emitLedgerLine(event: Event): void {
  for (const ear of ears) ear(event);
}
