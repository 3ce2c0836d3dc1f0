/**
 * The visitor's time zone: that of their profile, else the one that their browser told by a cookie, else UTC. Read once
 * per request, so that everything on a page says the same.
 */
import { cookies } from 'next/headers';
import { cache } from 'react';
import { UTC_ZONE } from '#components/ui/zones.ts';
import { type CookieRules, cookieRules } from '#lib/auth/cookies.ts';
import { isTimeZone } from '#lib/base/zoned-time.ts';
import { getHost } from '#lib/host/host.ts';
import { currentCaller } from './caller.ts';

/** The name of the cookie that the first script sets. */
export function zoneCookie({ prefix }: CookieRules): string {
  return `${prefix}.zone`;
}

/** What the browser told; null when it told nothing that is a zone. */
async function toldZone(): Promise<string | null> {
  const told = (await cookies()).get(zoneCookie(cookieRules(getHost().config)))?.value;
  return told !== undefined && isTimeZone(told) ? told : null;
}

export const visitorZone = cache(async (): Promise<string> => {
  const caller = await currentCaller();
  const chosen = caller === null ? null : await getHost().operations.ownZone(caller);
  return chosen ?? (await toldZone()) ?? UTC_ZONE;
});
