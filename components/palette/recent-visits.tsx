'use client';
/** Records visits to sandboxes for the palette, and removes them where nobody is signed in. */
import { useEffect } from 'react';
import { addRecent, clearRecent } from './recent.ts';

/** `actor`: the visitor, as the ledger names them. */
export function RememberVisit({ actor, id, name }: { actor: string; id: string; name: string | null }) {
  useEffect(() => addRecent(actor, { id, name }), [actor, id, name]);
  return null;
}

/** For the sign-in page: the next person on this browser learns nothing of earlier visits. */
export function ForgetVisits() {
  useEffect(() => clearRecent(), []);
  return null;
}
