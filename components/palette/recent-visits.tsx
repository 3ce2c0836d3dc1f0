'use client';
/**
 * Remembers in this browser that a sandbox was looked at, for the palette, and forgets it where nobody is signed in.
 */
import { useEffect } from 'react';
import { addRecent, clearRecent } from './recent.ts';

/** `actor`: the visitor, as the ledger writes him. */
export function RememberVisit({ actor, id, name }: { actor: string; id: string; name: string | null }) {
  useEffect(() => addRecent(actor, { id, name }), [actor, id, name]);
  return null;
}

/** Stands on the sign-in page: who comes next learns nothing of what was looked at. */
export function ForgetVisits() {
  useEffect(() => clearRecent(), []);
  return null;
}
