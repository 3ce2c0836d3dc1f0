/** The lines about signing in that a start prints. Does not print them itself. */
import type { Auth } from '../auth/auth.ts';

/**
 * The one-time sign-in link. As long as there is no admin it is always printed: without it nobody could sign in. Later
 * it is a recovery link for the first admin, and only a terminal gets it, because others read files and logs too.
 * `origin` has no trailing slash.
 */
export async function signInLines(
  auth: Pick<Auth, 'signIns' | 'signInLink'>,
  origin: string,
  isTerminal: boolean,
): Promise<string[]> {
  const isRecovery = await auth.signIns.hasAdmin();
  if (isRecovery && !isTerminal) return [`Sign in: ${origin}/signin`];
  const effect = isRecovery ? 'signs in the first admin, with a new password if need be' : 'makes the first admin';
  return [`Sign in: ${await auth.signInLink(origin)}`, `         (works once, for 15 minutes, and ${effect})`];
}
