/** What a start says of how to come in. Knows nothing of how it is said. */
import type { Auth } from '../auth/auth.ts';

/**
 * The one-time link, in lines: that of the first admin wherever the output goes, as nobody could come in without it.
 * Once there is an admin it is one that recovers the account, and only a terminal gets it: what goes to a file or a log
 * is read by others too. `origin` without a trailing slash.
 */
export async function waysIn(
  auth: Pick<Auth, 'entrance' | 'signInLink'>,
  origin: string,
  isTerminal: boolean,
): Promise<string[]> {
  const recovers = await auth.entrance.hasAdmin();
  if (recovers && !isTerminal) return [`Sign in: ${origin}/signin`];
  const what = recovers ? 'signs in the first admin, with a new password if need be' : 'makes the first admin';
  return [`Sign in: ${await auth.signInLink(origin)}`, `         (works once, for 15 minutes, and ${what})`];
}
