'use client';
/** Remembers in this browser that a sandbox was looked at, for the palette. */
import { useEffect } from 'react';
import { remember } from './recent.ts';

/** `actor`: the visitor, as the ledger writes him. */
export function Visited({ actor, id, name }: { actor: string; id: string; name: string | null }) {
  useEffect(() => remember(actor, { id, name }), [actor, id, name]);
  return null;
}
