/**
 * Access: who sent a request, by admin key or session, and the ways in and out. Sessions and people belong to the auth
 * library (auth/library.ts); the key is compared here and never touches it. Knows nothing of routes or sandboxes.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { cookieRules } from './auth/cookies.ts';
import { type AnyHeaders, headerOf } from './auth/header.ts';
import { keyChecker, readOrMakeSecret } from './auth/keys.ts';
import type { AuthDatabase, AuthLibrary } from './auth/library.ts';
import type { Role } from './auth/roles.ts';
import { createSessionCache } from './auth/session-cache.ts';
import type { Config } from './config.ts';
import { WinterdockError } from './errors.ts';
import type { Via } from './lifecycle/words.ts';
import type { Logger } from './log.ts';

/** Who is asking, how, from where, with which rights, and under which request. */
export interface Caller {
  /** `key:admin`, `key:<id>` or `user:<id>`; what the ledger shows. */
  actor: string;
  via: Via;
  requestId: string;
  role: Role;
  /** The tenants it is limited to; null: all there are. */
  tenants: readonly string[] | null;
  /** Where it asks from, or null when that is not known. */
  address: string | null;
  /** Id of the session it came by, or null when by a key. */
  session: string | null;
}

/** What the front knows of a request beyond its headers. */
export interface CallerOptions {
  via?: Via;
  requestId?: string;
  address?: string | null;
}

/** What a person shows to come in: the token of a sign-in link, which works once, or the admin key. */
type Credential = { token: string } | { key: string };

export interface Auth {
  /**
   * Who sent a request with these headers, or null when neither the `Authorization: Bearer` key nor the session cookie is
   * valid. A wrong key is not made good by a cookie. `via` is `api` unless said otherwise.
   */
  callerFromHeaders(headers: AnyHeaders, options?: CallerOptions): Promise<Caller | null>;
  /** A link that signs in the admin, for 15 minutes and once. `origin` without a trailing slash; default: the public URL. */
  signInLink(origin?: string): Promise<string>;
  /** Exchanges a credential for a session. The `Set-Cookie` values to send, or null when the credential is not good. */
  signIn(credential: Credential): Promise<{ setCookie: string[] } | null>;
  /** Ends the session in the cookie, if there is one. Returns the `Set-Cookie` values that clear it. */
  signOut(headers: AnyHeaders): Promise<{ setCookie: string[] }>;
  /** Answers the auth library's own routes under `/api/auth`. */
  handle(request: Request): Promise<Response>;
}

const SESSION_CACHE_MS = 30_000;
const SESSION_CACHE_ENTRIES = 1000;
const BEARER = /^Bearer ([\x21-\x7e]{1,1024}) *$/i;

/**
 * Makes the door. `database` opens the auth library's tables; the library is loaded at the first use of a session, so that
 * a server which only sees keys never pays for it. The first start writes `admin.key` (unless `WB_ADMIN_KEY` is set) and
 * `auth.secret` into the data folder, both readable by their owner only.
 */
export function createAuth(options: { config: Config; log: Logger; database: AuthDatabase }): Auth {
  const { config, log } = options;
  const isAdminKey = keyChecker(config.adminKey ?? readOrMakeSecret(join(config.dataFolder, 'admin.key')));
  const secret = readOrMakeSecret(join(config.dataFolder, 'auth.secret'));
  const cookies = cookieRules(config);
  // Its value is signed, so it can stand for the session.
  const sessionCookie = new RegExp(`(?:^|; *)(${cookies.session.replace('.', '\\.')}=[^;]+)`);
  const sessions = createSessionCache({ entries: SESSION_CACHE_ENTRIES, lifeMs: SESSION_CACHE_MS });

  let loading: Promise<AuthLibrary> | null = null;
  const library = (): Promise<AuthLibrary> => {
    loading ??= import('./auth/library.ts').then((module) =>
      module.openAuthLibrary({ secret, publicUrl: config.publicUrl, cookies, database: options.database, log }),
    );
    return loading;
  };

  const actorOfSession = async (cookie: string): Promise<string | null> => {
    const known = sessions.get(cookie);
    if (known !== undefined) return known;
    const user = await (await library()).userOf(cookie);
    // Every person is an admin until roles arrive: whoever is not one gets nothing.
    const actor = user !== null && user.role === 'admin' ? `user:${user.id}` : null;
    if (actor !== null) sessions.set(cookie, actor);
    return actor;
  };

  return {
    async callerFromHeaders(headers, { via = 'api', requestId, address = null } = {}) {
      const authorization = headerOf(headers, 'authorization');
      let actor: string | null = null;
      if (authorization !== null) {
        const key = BEARER.exec(authorization)?.[1];
        if (key !== undefined && isAdminKey(key)) actor = 'key:admin';
      } else {
        const cookie = sessionCookie.exec(headerOf(headers, 'cookie') ?? '')?.[1];
        if (cookie !== undefined) actor = await actorOfSession(cookie);
      }
      if (actor === null) return null;
      return {
        actor,
        via,
        requestId: requestId ?? randomUUID(),
        role: 'admin',
        tenants: null,
        address,
        session: null,
      };
    },

    async signInLink(origin = config.publicUrl ?? `http://localhost:${config.port}`) {
      const token = await (await library()).mintToken();
      return `${origin}/signin?token=${encodeURIComponent(token)}`;
    },

    async signIn(credential) {
      if ('token' in credential) return (await library()).redeem(credential.token);
      if (!isAdminKey(credential.key)) return null;
      const opened = await library();
      const entered = await opened.redeem(await opened.mintToken());
      if (entered === null) throw new WinterdockError('internal', 'A session could not be made.');
      return entered;
    },

    async signOut(headers) {
      sessions.clear();
      return (await library()).signOut(headerOf(headers, 'cookie') ?? '');
    },

    async handle(request) {
      // Whatever these routes change (a sign-out, a ban, a revoked session) must hold at once.
      if (request.method !== 'GET' && request.method !== 'HEAD') sessions.clear();
      const answer = await (await library()).handler(request);
      if (request.method !== 'GET' && request.method !== 'HEAD') sessions.clear();
      return answer;
    },
  };
}
