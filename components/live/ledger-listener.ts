/** Listeners for new ledger lines inside one page. It does not know where the lines come from. */
import type { Event } from '#lib/contract/schema.ts';

const listeners = new Set<(event: Event) => void>();

/** Calls `listener` with each new line. Returns a function that ends it. */
export function onLedgerLine(listener: (event: Event) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls every listener with a new line. */
export function emitLedgerLine(event: Event): void {
  for (const listener of listeners) listener(event);
}
