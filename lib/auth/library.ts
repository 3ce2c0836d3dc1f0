/**
 * The auth library set up for Winterdock: people, roles, sessions and one-time links in the registry's database. Nothing but
 * auth.ts knows which library it is. Its own sign-in routes are closed: a link is redeemed by a form, so that a chat client
 * which fetches the address does not use it up.
 */
import { randomUUID } from 'node:crypto';
import { betterAuth } from 'better-auth';
import { drizzleAdapter } from 'better-auth/adapters/drizzle';
import { admin, magicLink } from 'better-auth/plugins';
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core';
import * as schema from '../../db/auth-schema.ts';
import type { Logger } from '../log.ts';
import type { CookieRules } from './cookies.ts';

/** The drizzle database that holds the auth tables. */
export type AuthDatabase = BaseSQLiteDatabase<'sync', unknown, Record<string, unknown>>;

export interface AuthLibrary {
  /** A new token that signs in the admin, for 15 minutes and once. */
  mintToken(): Promise<string>;
  /** Exchanges a token for a session; the first one ever creates the admin. Null when it is unknown, used or expired. */
  redeem(token: string): Promise<{ setCookie: string[] } | null>;
  /** The person behind a `Cookie` header, or null. */
  userOf(cookie: string): Promise<{ id: string; role: string | null } | null>;
  signOut(cookie: string): Promise<{ setCookie: string[] }>;
  handler(request: Request): Promise<Response>;
}

/** Who the printed link signs in. An address because the library tells people apart by it; nothing is ever sent there. */
const ADMIN_EMAIL = 'admin@winterdock.internal';
const LINK_SECONDS = 15 * 60;
const SESSION_SECONDS = 30 * 86_400;
const CLOSED_PATHS = [
  '/sign-in/magic-link',
  '/magic-link/verify',
  '/sign-in/email',
  '/sign-up/email',
  '/sign-in/social',
];

/** Opens the library. `publicUrl` is what it takes for its own address. */
export async function openAuthLibrary(options: {
  secret: string;
  publicUrl: string | null;
  cookies: CookieRules;
  database: AuthDatabase;
  log: Logger;
}): Promise<AuthLibrary> {
  const minted = new Map<string, string>();
  const auth = betterAuth({
    appName: 'Winterdock',
    secret: options.secret,
    baseURL: options.publicUrl ?? 'http://localhost',
    basePath: '/api/auth',
    // The front has refused other origins already; here the address that was asked is the one to trust.
    trustedOrigins: async (request) => {
      const host = request?.headers.get('host');
      return host ? [`http://${host}`, `https://${host}`] : [];
    },
    database: drizzleAdapter(options.database, { provider: 'sqlite', schema }),
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    disabledPaths: CLOSED_PATHS,
    session: { expiresIn: SESSION_SECONDS, disableSessionRefresh: true },
    advanced: {
      cookiePrefix: options.cookies.prefix,
      // Its own prefix would be `__Secure-`, which another host of the same domain could set.
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', secure: options.cookies.secure, path: '/' },
    },
    databaseHooks: {
      user: {
        create: {
          before: async (user) => ({ data: user.email === ADMIN_EMAIL ? { ...user, role: 'admin' } : user }),
        },
      },
    },
    logger: {
      level: 'warn',
      log: (level, message) => options.log[level === 'error' ? 'error' : 'warn']({ area: 'auth' }, message),
    },
    plugins: [
      admin(),
      magicLink({
        expiresIn: LINK_SECONDS,
        storeToken: 'hashed',
        sendMagicLink: async ({ token, metadata }) => {
          minted.set(String(metadata?.ticket), token);
        },
      }),
    ],
  });
  await auth.$context;

  return {
    async mintToken() {
      const ticket = randomUUID();
      await auth.api.signInMagicLink({
        body: { email: ADMIN_EMAIL, name: 'Admin', metadata: { ticket } },
        headers: new Headers(),
      });
      const token = minted.get(ticket);
      minted.delete(ticket);
      if (token === undefined) throw new Error('The auth library made no token.');
      return token;
    },

    async redeem(token) {
      const answer = await auth.api.magicLinkVerify({ query: { token }, headers: new Headers(), asResponse: true });
      const setCookie = answer.headers.getSetCookie();
      return answer.status === 200 && setCookie.length > 0 ? { setCookie } : null;
    },

    async userOf(cookie) {
      const found = await auth.api.getSession({ headers: new Headers({ cookie }) });
      return found === null ? null : { id: found.user.id, role: found.user.role ?? null };
    },

    async signOut(cookie) {
      const answer = await auth.api.signOut({ headers: new Headers({ cookie }), asResponse: true });
      return { setCookie: answer.headers.getSetCookie() };
    },

    handler: (request) => auth.handler(request),
  };
}
