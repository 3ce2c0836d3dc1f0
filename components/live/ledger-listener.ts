/** Listeners for new ledger lines inside one page. It does not know where the lines come from. */
import type { Event } from '#lib/contract/schema.ts';

const ears = new Set<(event: Event) => void>();

/** Calls `listener` with each new line. Returns a function that ends it. */
export function onLedgerLine(ear: (event: Event) => void): () => void {
  ears.add(ear);
  return () => ears.delete(ear);
}

/** Calls every listener with a new line. */
export function emitLedgerLine(event: Event): void {
  for (const ear of ears) ear(event);
}
