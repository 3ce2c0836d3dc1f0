'use client';
/** The last ledger lines, with new ones as they arrive. */
import { useCallback } from 'react';
import type { Event } from '#lib/contract/schema.ts';
import type { ActorNames } from '../ledger/event-words.ts';
import { LedgerLines } from '../ledger/ledger-lines.tsx';
import { useLedgerLines } from './live-data.tsx';

/** `rendered`: the server's time in epoch seconds; `limit`: how many at most; `tenant`: whose lines only. */
export function LiveLedger({
  events,
  limit,
  rendered,
  tenant,
  names,
}: {
  events: readonly Event[];
  limit: number;
  rendered: number;
  tenant?: string;
  names?: ActorNames;
}) {
  const fits = useCallback((event: Event) => tenant === undefined || event.tenant === tenant, [tenant]);
  const lines = useLedgerLines(events, limit, fits);
  if (lines.length === 0) return <p className="text-ink-2">Nothing has happened yet.</p>;
  return <LedgerLines events={lines} rendered={rendered} names={names} />;
}
