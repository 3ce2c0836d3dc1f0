'use client';
/**
 * Remembers in this browser that a sandbox was looked at, for the palette, and forgets it where nobody is signed in.
 */
import { useEffect } from 'react';
import { forgetRecent, remember } from './recent.ts';

/** `actor`: the visitor, as the ledger writes him. */
export function Visited({ actor, id, name }: { actor: string; id: string; name: string | null }) {
  useEffect(() => remember(actor, { id, name }), [actor, id, name]);
  return null;
}

/** Stands on the sign-in page: who comes next learns nothing of what was looked at. */
export function Forgotten() {
  useEffect(() => forgetRecent(), []);
  return null;
}
