/** Authentication of pages and actions: who sent this request. */
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { cache } from 'react';
import { clientAddress, PEER_HEADER } from '#lib/auth/address.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { requestIdOf } from '#lib/auth/header.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { getHost } from '#lib/host/host.ts';
import { currentRequest } from '#lib/host/request-context.ts';

/** The visitor, or null when nobody is signed in. Read once per request. */
export const currentCaller = cache(async (): Promise<Caller | null> => {
  const { auth } = getHost();
  const sent = await headers();
  try {
    const caller = await auth.callerFromHeaders(sent, {
      via: 'console',
      requestId: requestIdOf(sent),
      address: await currentAddress(),
    });
    const request = currentRequest();
    if (request !== null) request.isKnown = caller !== null;
    return caller;
  } catch (error) {
    // Too many wrong keys from this address: a page treats that as not signed in.
    if (isWinterdockError(error) && error.code === 'rate_limited') return null;
    throw error;
  }
});

/** The visitor's address, as the front server saw it. */
export async function currentAddress(): Promise<string | null> {
  const sent = await headers();
  return clientAddress(sent, sent.get(PEER_HEADER), getHost().config.trustProxy);
}

/** The visitor. Redirects to the sign-in page, and from there back to `path`, when nobody is signed in. */
export async function requireCaller(path: string): Promise<Caller> {
  const caller = await currentCaller();
  if (caller === null) redirect(path === '/' ? '/signin' : `/signin?to=${encodeURIComponent(path)}`);
  return caller;
}

/**
 * The number of the newest ledger line that the visitor may see; 0 when there is none or nobody is signed in. A page
 * that asks for it before it reads anything else is at least as new as that line. Read once per request.
 */
export const ledgerSeq = cache(async (): Promise<number> => {
  const caller = await currentCaller();
  if (caller === null) return 0;
  return (await getHost().operations.events(caller, { limit: 1 })).items[0]?.seq ?? 0;
});

/** The server's time in epoch seconds, for clocks that go on ticking in the browser. */
export function renderedAt(): number {
  return Math.floor(getHost().clock.now() / 1000);
}
