/** For tests: people who sign in by each of the ways, and their cookies. */

import type { Auth } from '../auth/auth.ts';
import type { PersonRole } from '../auth/roles.ts';
import type { SignInRequest } from '../auth/sign-ins.ts';

export const PASSWORD = 'a long winter, said the dock';

export function visitor(over: Partial<SignInRequest> = {}): SignInRequest {
  return { address: '192.0.2.1', agent: 'a test', requestId: 'sign-in', ...over };
}

/** `Set-Cookie` values as a browser sends them back. */
export function cookieOf(entered: { setCookie: readonly string[] } | null): string {
  return (entered?.setCookie ?? []).map((line) => line.split(';', 1)[0]).join('; ');
}

export function tokenOf(link: string): string {
  return new URL(link).searchParams.get('token') ?? '';
}

/** Makes the first admin by the owner's link. Gives the cookie of the session. */
export async function firstAdmin(auth: Auth, email = 'ada@example.com'): Promise<string> {
  const token = tokenOf(await auth.signInLink());
  return cookieOf(await auth.signIns.join(token, { email, name: 'Ada', password: PASSWORD }, visitor()));
}

/** Signs a person in by an invitation. Returns the cookie of the session. */
export async function invited(
  auth: Auth,
  role: PersonRole,
  options: { email?: string; tenants?: readonly string[] | null } = {},
): Promise<string> {
  const { email = `${role}@example.com`, tenants = null } = options;
  const { token } = await auth.signIns.invite({ email, role, tenants, createdBy: 'key:admin' }, () => []);
  return cookieOf(await auth.signIns.join(token, { email, name: role, password: PASSWORD }, visitor()));
}
