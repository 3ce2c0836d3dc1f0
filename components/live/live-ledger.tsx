'use client';
/** The last ledger lines, with new ones as they arrive. */
import { type ReactNode, useCallback } from 'react';
import type { Event } from '#lib/contract/schema.ts';
import type { ActorNames } from '../ledger/event-words.ts';
import { useLedgerLines } from './live-data.tsx';
import { useLoaded } from './use-loaded.ts';

/** The words of the ledger are many, and most visits see no new line. */
const loadLines = async () => (await import('../ledger/ledger-lines.tsx')).LedgerLines;

/**
 * `children`: the lines as the server rendered them. `rendered`: the server's time in epoch seconds; `limit`: how many
 * at most; `tenant`: whose lines only.
 */
export function LiveLedger({
  events,
  limit,
  rendered,
  tenant,
  names,
  children,
}: {
  events: readonly Event[];
  limit: number;
  rendered: number;
  tenant?: string;
  names?: ActorNames;
  children: ReactNode;
}) {
  const fits = useCallback((event: Event) => tenant === undefined || event.tenant === tenant, [tenant]);
  const lines = useLedgerLines(events, limit, fits);
  const Lines = useLoaded(lines[0]?.seq !== events[0]?.seq, loadLines);
  return Lines === null ? children : <Lines events={lines} rendered={rendered} names={names} />;
}
