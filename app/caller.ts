/** Who is looking at a page or pressed a button: the console's one question to the door. */
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { cache } from 'react';
import type { Caller } from '#lib/api/operations.ts';
import { getHost } from '#lib/host.ts';

/** The visitor, or null when nobody is signed in. Asked once per request. */
export const currentCaller = cache(
  async (): Promise<Caller | null> =>
    getHost().auth.callerFromHeaders(await headers(), { via: 'console', requestId: crypto.randomUUID() }),
);

/** The visitor; whoever is not signed in is led to the sign-in page and from there back to `path`. */
export async function requireCaller(path: string): Promise<Caller> {
  const caller = await currentCaller();
  if (caller === null) redirect(path === '/' ? '/signin' : `/signin?to=${encodeURIComponent(path)}`);
  return caller;
}

/** The server's time in epoch seconds, for clocks that go on ticking in the browser. */
export function renderedAt(): number {
  return Math.floor(getHost().clock.now() / 1000);
}
