/**
 * Access: who sent a request, by key or session, and what comes of it when that ends. People, passwords and sessions
 * belong to the auth library (auth/library.ts); keys of programs are a table of ours. Knows nothing of routes or
 * sandboxes, nor of what a role may do.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { Logger } from '../base/log.ts';
import type { Via } from '../lifecycle/words.ts';
import type { Registry } from '../registry/registry.ts';
import type { Caller } from './caller.ts';
import { cookieRules } from './cookies.ts';
import { createEntrance, type Entrance } from './entrance.ts';
import { type AnyHeaders, headerOf } from './header.ts';
import { createKeyRing, type KeyRing } from './key-ring.ts';
import { keyChecker, readOrMakeSecret } from './keys.ts';
import type { AuthLibrary } from './library.ts';
import { createLimits, type Limits } from './limits.ts';
import { createPeople, type People } from './people.ts';
import { ROLES } from './roles.ts';
import { createSessionCache } from './session-cache.ts';
import { createWatch, type Ending } from './watch.ts';

/** What the front knows of a request beyond its headers. */
interface CallerOptions {
  via?: Via;
  requestId?: string;
  address?: string | null;
}

export interface Auth {
  /**
   * Who sent a request with these headers, or null when neither the `Authorization: Bearer` key nor the session cookie
   * is valid. A wrong key is not made good by a cookie. `via` is `api` unless said otherwise. Throws `rate_limited` for
   * wrong keys that come too often.
   */
  callerFromHeaders(headers: AnyHeaders, options?: CallerOptions): Promise<Caller | null>;
  /**
   * Counts a request of a caller, or of nobody, from an address. Throws `rate_limited`. The admin key is not counted.
   */
  count(caller: Caller | null, address: string | null): Promise<void>;
  /** Calls `act` once when its key or session is over, or its rights are not what they were. Returns the way out. */
  whenEnded(caller: Caller, act: (ending: Ending) => void): () => void;
  /** The ways in for people. */
  readonly entrance: Entrance;
  readonly people: People;
  readonly keys: KeyRing;
  readonly limits: Limits;
  /**
   * A link for whoever runs the server, for 15 minutes and once: it makes the first admin, or signs in the first one
   * there is. `origin` without a trailing slash; default: the public URL.
   */
  signInLink(origin?: string): Promise<string>;
  /** A link to sign in or join with that token. */
  linkOf(token: string, origin?: string): string;
  /** Ends the session in the cookie, if there is one. Returns the `Set-Cookie` values that clear it. */
  signOut(headers: AnyHeaders): Promise<{ setCookie: string[] }>;
  /** Answers the auth library's own routes under `/api/auth`. */
  handle(request: Request): Promise<Response>;
  /** Writes down what is only in memory. */
  close(): Promise<void>;
}

const SESSION_CACHE_MS = 30_000;
const SESSION_CACHE_ENTRIES = 1000;
const MARK_LENGTH = 16;
const BEARER = /^Bearer ([\x21-\x7e]{1,1024}) *$/i;

/** Who a key or a session stands for. */
type Known = Pick<Caller, 'actor' | 'role' | 'tenants' | 'session'> & {
  /** Epoch milliseconds; null: never. */
  until: number | null;
};

const ADMIN_KEY: Known = { actor: 'key:admin', role: 'admin', tenants: null, session: null, until: null };

/**
 * Makes the door. The auth library is loaded at the first use of a session, so that a server which only sees keys never
 * pays for it. The first start writes `admin.key` (unless `WB_ADMIN_KEY` is set) and `auth.secret` into the data
 * folder, both readable by their owner only.
 */
export function createAuth(options: {
  config: Config;
  log: Logger;
  clock: Clock;
  registry: Pick<Registry, 'invitations' | 'keys' | 'ledger' | 'people'>;
}): Auth {
  const { config, log, clock, registry } = options;
  const adminKey = config.adminKey ?? readOrMakeSecret(join(config.dataFolder, 'admin.key'));
  const isAdminKey = keyChecker(adminKey);
  const secret = readOrMakeSecret(join(config.dataFolder, 'auth.secret'));
  const cookies = cookieRules(config);
  // Its value is signed, so it can stand for the session.
  const sessionCookie = new RegExp(`(?:^|; *)(${cookies.session.replace('.', '\\.')}=[^;]+)`);
  const sessions = createSessionCache<Known>({ entries: SESSION_CACHE_ENTRIES, lifeMs: SESSION_CACHE_MS });
  const limits = createLimits(config);
  const ring = createKeyRing({ book: registry.keys, clock });
  const watch = createWatch(() => clock.now());
  /** When what a caller came by ends. */
  const ends = new WeakMap<Caller, number>();

  let loading: Promise<AuthLibrary> | null = null;
  const keyMark = createHmac('sha256', secret).update(adminKey).digest('hex').slice(0, MARK_LENGTH);
  const library = (): Promise<AuthLibrary> => {
    loading ??= import('./library.ts').then((module) =>
      module.openAuthLibrary({
        secret,
        publicUrl: config.publicUrl,
        cookies,
        people: registry.people,
        log,
        keyMark,
      }),
    );
    return loading;
  };

  /** Goes up whenever sessions change: what was asked before is not remembered after. */
  let changes = 0;
  const forget = () => {
    changes += 1;
    sessions.clear();
  };
  const ended = (gone: readonly string[]) => {
    forget();
    watch.end(({ session }) => session !== null && gone.includes(session), 'over');
  };
  const people = createPeople({
    library,
    ended,
    changed(person, disabled) {
      forget();
      watch.end(({ actor }) => actor === `user:${person}`, disabled ? 'over' : 'changed');
    },
  });

  const bySession = async (cookie: string): Promise<Known | null> => {
    const known = sessions.get(cookie);
    if (known !== undefined) return known;
    const before = changes;
    const found = await (await library()).sessionOf(cookie);
    if (found === null) return null;
    const { person, session } = found;
    const rights = found.isKeyHolder ? ADMIN_KEY : { role: person.role, tenants: person.tenants };
    const made = { actor: `user:${person.id}`, ...rights, session: session.id, until: session.expiresMs };
    if (before === changes) sessions.set(cookie, made);
    return made;
  };

  const byKey = async (key: string, address: string | null): Promise<Known | null> => {
    if (isAdminKey(key)) {
      limits.beforeAdminKey(address);
      limits.rightAdminKey(address);
      return ADMIN_KEY;
    }
    const row = await ring.check(key);
    const role = row === null ? undefined : ROLES.find((known) => known === row.role);
    if (row === null || role === undefined) {
      await limits.wrongKey(address);
      return null;
    }
    return {
      actor: `key:${row.id}`,
      role,
      tenants: row.tenant === null ? null : [row.tenant],
      session: null,
      until: row.expires === null ? null : row.expires * 1000,
    };
  };

  const cookieOf = (headers: AnyHeaders) => sessionCookie.exec(headerOf(headers, 'cookie') ?? '')?.[1];

  const knownOf = async (headers: AnyHeaders, address: string | null): Promise<Known | null> => {
    const authorization = headerOf(headers, 'authorization');
    if (authorization === null) {
      const cookie = cookieOf(headers);
      return cookie === undefined ? null : bySession(cookie);
    }
    const key = BEARER.exec(authorization)?.[1];
    return key === undefined ? null : byKey(key, address);
  };

  /** Runs what ends the session of a cookie, then lets everything know that it has. */
  const leaving = async <T>(cookie: string | undefined, end: () => Promise<T>): Promise<T> => {
    const session = cookie === undefined ? null : await (await library()).sessionOf(cookie);
    const answer = await end();
    forget();
    if (session !== null && cookie !== undefined && (await (await library()).sessionOf(cookie)) === null) {
      watch.end((caller) => caller.session === session.session.id, 'over');
    }
    return answer;
  };

  const auth: Auth = {
    entrance: createEntrance({ library, registry, limits, clock, isAdminKey, ended }),
    people,
    keys: {
      ...ring,
      async revoke(id, ledger) {
        const was = await ring.revoke(id, ledger);
        if (was) watch.end(({ actor }) => actor === `key:${id}`, 'over');
        return was;
      },
    },
    limits,

    async callerFromHeaders(headers, { via = 'api', requestId, address = null } = {}) {
      const known = await knownOf(headers, address);
      if (known === null) return null;
      const { actor, role, tenants, session, until } = known;
      if (until !== null && session !== null && until <= Date.now()) return null;
      const caller: Caller = { actor, via, requestId: requestId ?? randomUUID(), role, tenants, address, session };
      if (until !== null) ends.set(caller, until);
      return caller;
    },

    count(caller, address) {
      if (caller?.actor === 'key:admin' && caller.session === null) return Promise.resolve();
      const key = caller?.actor.startsWith('key:') && caller.session === null ? caller.actor : null;
      return limits.request(key, address);
    },

    whenEnded: (caller, act) => watch.join(caller, ends.get(caller) ?? null, act),

    linkOf: (token, origin = config.publicUrl ?? `http://localhost:${config.port}`) =>
      `${origin}/signin?token=${encodeURIComponent(token)}`,

    signInLink: async (origin) => auth.linkOf(await auth.entrance.ownersToken(), origin),

    signOut: (headers) =>
      leaving(cookieOf(headers), async () => (await library()).signOut(headerOf(headers, 'cookie') ?? '')),

    async handle(request) {
      const answer = async () => (await library()).handler(request);
      if (request.method === 'GET' || request.method === 'HEAD') return answer();
      return leaving(cookieOf(request.headers), answer);
    },

    close: () => ring.flush(),
  };
  return auth;
}
