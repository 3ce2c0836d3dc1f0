'use client';
/** The time zone of who reads the page, for every part of it. The server chooses it, so that both print the same. */
import { createContext, type ReactNode, use } from 'react';
import { UTC_ZONE } from './zones.ts';

const ZoneContext = createContext(UTC_ZONE);

export function ZoneProvider({ zone, children }: { zone: string; children: ReactNode }) {
  return <ZoneContext value={zone}>{children}</ZoneContext>;
}

/** `Europe/Berlin`, or `UTC`. */
export function useZone(): string {
  return use(ZoneContext);
}
