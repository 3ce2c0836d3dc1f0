/**
 * Authentication: who sent a request, by API key or session. People, passwords and sessions belong to the auth library
 * (library.ts), API keys to our own table (api-keys.ts). Knows nothing of routes or sandboxes, nor of what a role may
 * do: that is contract/access.ts.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Clock, isOver } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { KEY_FILES, oldKeyFile } from '../base/key-files.ts';
import type { Logger } from '../base/log.ts';
import type { Via } from '../lifecycle/words.ts';
import type { KeyRow } from '../registry/keys.ts';
import type { Registry } from '../registry/registry.ts';
import { createAccessRecheck } from './access-recheck.ts';
import { type AccessChange, createAccessWatch } from './access-watch.ts';
import { type ActorDirectory, createActorDirectory } from './actor-directory.ts';
import { type ApiKeys, createApiKeys } from './api-keys.ts';
import type { Caller, VouchedCaller } from './caller.ts';
import { cookieRules } from './cookies.ts';
import { type AnyHeaders, headerOf } from './header.ts';
import type { AuthLibrary, PersonRecord } from './library.ts';
import { createPeople, type People } from './people.ts';
import { createRateLimits, type RateLimits } from './rate-limits.ts';
import { ROLES } from './roles.ts';
import { readOrMakeSecret, requireSecret, secretComparison } from './secrets.ts';
import { createSessionCache } from './session-cache.ts';
import { createSignIns, type SignIns } from './sign-ins.ts';

/** What the front knows of a request beyond its headers. */
interface CallerOptions {
  via?: Via;
  requestId?: string;
  address?: string | null;
}

export interface Auth {
  /**
   * Who sent a request with these headers: by the `Authorization: Bearer` key if there is one, else by the session
   * cookie. Null when that one is not valid. `via`: default `api`. Throws `rate_limited` after too many wrong keys.
   */
  callerFromHeaders(headers: AnyHeaders, options?: CallerOptions): Promise<Caller | null>;
  /** What another host is told of a caller. */
  vouchFor(caller: Caller): VouchedCaller;
  /**
   * The caller that another host vouches for, with the rights that the registry gives it now. Null when its key or its
   * session is over.
   */
  vouchedCaller(vouched: VouchedCaller, options?: CallerOptions): Promise<Caller | null>;
  /**
   * Counts a request of a caller (null: anonymous) from an address, unless it is the admin key. Throws `rate_limited`.
   */
  countRequest(caller: Caller | null, address: string | null): Promise<void>;
  /** Calls `act` once when the caller's key or session ends or their rights change. Returns the unsubscriber. */
  onAccessChange(caller: Caller, act: (ending: AccessChange) => void): () => void;
  /** How people sign in. */
  readonly signIns: SignIns;
  readonly people: People;
  readonly keys: ApiKeys;
  /** The names of those who act. */
  readonly actors: ActorDirectory;
  readonly limits: RateLimits;
  /**
   * A one-time link for the person who runs the server, valid for 15 minutes: it makes the first admin, or signs in the
   * oldest one. `origin` without a trailing slash; default: the public URL.
   */
  signInLink(origin?: string): Promise<string>;
  /** The link to sign in or join with a token. */
  linkOf(token: string, origin?: string): string;
  /** Ends the session in the cookie, if there is one. Returns the `Set-Cookie` values that clear it. */
  signOut(headers: AnyHeaders): Promise<{ setCookie: string[] }>;
  /** Answers the auth library's own routes under `/api/auth`. */
  handle(request: Request): Promise<Response>;
  /** Writes the last uses of API keys, which are kept in memory. */
  close(): Promise<void>;
}

const SESSION_CACHE_MS = 30_000;
const SESSION_CACHE_ENTRIES = 1000;
const FINGERPRINT_LENGTH = 16;
const BEARER = /^Bearer ([\x21-\x7e]{1,1024}) *$/i;

/** Who a key or a session belongs to. */
type Identity = Pick<Caller, 'actor' | 'role' | 'tenants' | 'session' | 'maxCallSeconds'> & {
  /** When the session was opened, and when its access ends, in epoch milliseconds; null: never. */
  madeMs: number;
  until: number | null;
};

const ADMIN_KEY: Identity = { actor: 'key:admin', role: 'admin', tenants: null, session: null, madeMs: 0, until: null };

/**
 * Makes it. The auth library is loaded at the first use of a session: a server that only sees keys never loads it. The
 * first start writes `admin.key` (unless `WB_ADMIN_KEY` is set) and `auth.secret` into the folder of keys, both
 * readable by their owner only.
 */
export function createAuth(options: {
  config: Config;
  log: Logger;
  clock: Clock;
  registry: Pick<Registry, 'commitEvents' | 'invitations' | 'keys' | 'ledger' | 'people'>;
  /** Texts of the keys that are being replaced and are accepted still. */
  before?: { auth?: string; admin?: string };
  /** Told of everybody who signed in; it must not wait. */
  entered?: (person: PersonRecord) => void;
}): Auth {
  const { config, log, clock, registry, before = {}, entered } = options;
  const adminKey = config.adminKey ?? readOrMakeSecret(join(config.keysFolder, KEY_FILES.admin));
  const formerAdminKeys = before.admin === undefined ? [] : [requireSecret(before.admin, oldKeyFile('admin'))];
  const isAdminKey = secretComparison(adminKey, ...formerAdminKeys);
  const secret = readOrMakeSecret(join(config.keysFolder, KEY_FILES.auth));
  const formerSecret = before.auth === undefined ? undefined : requireSecret(before.auth, oldKeyFile('auth'));
  const cookies = cookieRules(config);
  // The cookie's value is signed, so it can be the key of the session cache.
  const sessionCookie = new RegExp(`(?:^|; *)(${cookies.session.replace('.', '\\.')}=[^;]+)`);
  const sessions = createSessionCache<Identity>({ entries: SESSION_CACHE_ENTRIES, lifeMs: SESSION_CACHE_MS });
  const limits = createRateLimits(config);
  const apiKeys = createApiKeys({ book: registry.keys, clock, events: registry.commitEvents });
  const actors = createActorDirectory(registry);
  const watch = createAccessWatch(() => clock.now());
  /** When a caller's key or session expires, in epoch milliseconds. */
  const expiries = new WeakMap<Caller, number>();

  let loading: Promise<AuthLibrary> | null = null;
  const fingerprint = (by: string, key: string) =>
    createHmac('sha256', by).update(key).digest('hex').slice(0, FINGERPRINT_LENGTH);
  const keyFingerprints = (formerSecret === undefined ? [secret] : [secret, formerSecret]).flatMap((by) =>
    [adminKey, ...formerAdminKeys].map((key) => fingerprint(by, key)),
  );
  const library = (): Promise<AuthLibrary> => {
    loading ??= import('./library.ts').then((module) =>
      module.openAuthLibrary({
        secret,
        before: formerSecret,
        publicUrl: config.publicUrl,
        cookies,
        people: registry.people,
        log,
        keyFingerprints,
      }),
    );
    return loading;
  };

  /** Counts changes of sessions: a lookup that began before a change is not cached after it. */
  let changes = 0;
  const forget = () => {
    changes += 1;
    sessions.clear();
  };
  const sessionsEnded = (gone: readonly string[]) => {
    forget();
    watch.end(({ session }) => session !== null && gone.includes(session), 'over');
  };
  const people = createPeople({
    library,
    ended: sessionsEnded,
    changed({ id: person, name, disabled }) {
      actors.learn(`user:${person}`, name);
      forget();
      watch.end(({ actor }) => actor === `user:${person}`, disabled ? 'over' : 'changed');
    },
  });

  const recheck = createAccessRecheck({ watch, registry, library, log });
  /** How often other processes may have changed sessions: a lookup that was under way then is made again. */
  let drops = 0;
  registry.commitEvents.onStale(() => {
    drops += 1;
    forget();
    actors.forget();
    recheck.begin();
  });

  /** The caller of a session, kept under a name of it. `find` reads it. */
  const bySession = async (
    name: string,
    find: () => ReturnType<AuthLibrary['sessionOf']>,
  ): Promise<Identity | null> => {
    const cached = registry.commitEvents.mayCache ? sessions.get(name) : undefined;
    if (cached !== undefined) return cached;
    const before = { changes, drops };
    const found = await find();
    if (before.drops !== drops) return bySession(name, find);
    if (found === null) return null;
    const { person, session } = found;
    actors.learn(`user:${person.id}`, person.name);
    const rights = found.isKeyHolder ? ADMIN_KEY : { role: person.role, tenants: person.tenants };
    const identity = {
      actor: `user:${person.id}`,
      ...rights,
      session: session.id,
      madeMs: session.createdMs,
      until: session.expiresMs,
    };
    if (before.changes === changes && registry.commitEvents.mayCache) sessions.set(name, identity);
    return identity;
  };

  const byKey = async (key: string, address: string | null): Promise<Identity | null> => {
    if (isAdminKey(key)) {
      limits.checkAdminKey(address);
      limits.acceptAdminKey(address);
      return ADMIN_KEY;
    }
    const identity = identityOfKey(await apiKeys.check(key));
    if (identity === null) await limits.countWrongKey(address);
    return identity;
  };

  const identityOfKey = (row: KeyRow | null): Identity | null => {
    const role = row === null ? undefined : ROLES.find((known) => known === row.role);
    if (row === null || role === undefined) return null;
    actors.learn(`key:${row.id}`, row.name);
    return {
      actor: `key:${row.id}`,
      role,
      tenants: row.tenant === null ? null : [row.tenant],
      session: null,
      ...(row.maxCallSeconds === null ? {} : { maxCallSeconds: row.maxCallSeconds }),
      madeMs: row.created * 1000,
      until: row.expires === null ? null : row.expires * 1000,
    };
  };

  const cookieOf = (headers: AnyHeaders) => sessionCookie.exec(headerOf(headers, 'cookie') ?? '')?.[1];

  const identityOf = async (headers: AnyHeaders, address: string | null): Promise<Identity | null> => {
    const authorization = headerOf(headers, 'authorization');
    if (authorization === null) {
      const cookie = cookieOf(headers);
      return cookie === undefined ? null : bySession(cookie, async () => (await library()).sessionOf(cookie));
    }
    const key = BEARER.exec(authorization)?.[1];
    return key === undefined ? null : byKey(key, address);
  };

  const identityOfVouched = ({ actor, session, proof }: VouchedCaller): Promise<Identity | null> | Identity | null => {
    if (session !== null) {
      const person = actor === ADMIN_KEY.actor ? null : actor.slice('user:'.length);
      if (person !== null && !actor.startsWith('user:')) return null;
      return bySession(`${actor} ${session}`, async () => (await library()).openSession(person, session));
    }
    if (actor === ADMIN_KEY.actor) return proof !== null && keyFingerprints.includes(proof) ? ADMIN_KEY : null;
    if (!actor.startsWith('key:')) return null;
    return apiKeys.valid(actor.slice('key:'.length)).then(identityOfKey);
  };

  const callerOf = (identity: Identity | null, { via = 'api', requestId, address = null }: CallerOptions) => {
    if (identity === null) return null;
    const { madeMs, until, ...who } = identity;
    if (until !== null && who.session !== null && isOver({ madeMs, untilMs: until }, Date.now())) return null;
    const caller: Caller = { ...who, via, requestId: requestId ?? randomUUID(), address };
    if (until !== null) expiries.set(caller, until);
    return caller;
  };

  /** Runs `end`, which may end the session of a cookie, then ends the caches and streams of that session. */
  const endingSession = async <T>(cookie: string | undefined, end: () => Promise<T>): Promise<T> => {
    const session = cookie === undefined ? null : await (await library()).sessionOf(cookie);
    const answer = await end();
    forget();
    if (session !== null && cookie !== undefined && (await (await library()).sessionOf(cookie)) === null) {
      watch.end((caller) => caller.session === session.session.id, 'over');
    }
    return answer;
  };

  const auth: Auth = {
    signIns: createSignIns({ library, registry, limits, clock, isAdminKey, ended: sessionsEnded, entered }),
    people,
    actors,
    keys: {
      ...apiKeys,
      async revoke(id, ledger) {
        const revoked = await apiKeys.revoke(id, ledger);
        if (revoked) watch.end(({ actor }) => actor === `key:${id}`, 'over');
        return revoked;
      },
    },
    limits,

    callerFromHeaders: async (headers, options = {}) =>
      callerOf(await identityOf(headers, options.address ?? null), options),

    vouchFor({ actor, session }) {
      const isAdmin = actor === ADMIN_KEY.actor && session === null;
      return { actor, session, proof: isAdmin ? (keyFingerprints[0] ?? null) : null };
    },

    vouchedCaller: async (vouched, options = {}) => callerOf(await identityOfVouched(vouched), options),

    countRequest(caller, address) {
      if (caller?.actor === 'key:admin' && caller.session === null) return Promise.resolve();
      const key = caller?.actor.startsWith('key:') && caller.session === null ? caller.actor : null;
      return limits.countRequest(key, address);
    },

    onAccessChange: (caller, act) => watch.join(caller, expiries.get(caller) ?? null, act),

    linkOf: (token, origin = config.publicUrl ?? `http://localhost:${config.port}`) =>
      `${origin}/signin?token=${encodeURIComponent(token)}`,

    signInLink: async (origin) => auth.linkOf(await auth.signIns.ownerToken(), origin),

    signOut: (headers) =>
      endingSession(cookieOf(headers), async () => (await library()).signOut(headerOf(headers, 'cookie') ?? '')),

    async handle(request) {
      const answer = async () => (await library()).handler(request);
      if (request.method === 'GET' || request.method === 'HEAD') return answer();
      return endingSession(cookieOf(request.headers), answer);
    },

    async close() {
      await recheck.stop();
      await apiKeys.flush();
    },
  };
  return auth;
}
