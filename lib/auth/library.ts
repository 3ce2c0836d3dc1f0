/**
 * The auth library (Better Auth), set up for Winterdock: people, passwords, sessions and sign-in links, stored in the
 * registry. Only lib/auth knows which library it is. Only two of its own routes are open: everything else goes through
 * our operations, which check roles and write the ledger.
 */
import { createHash, randomUUID } from 'node:crypto';
import { betterAuth } from 'better-auth/minimal';
import { admin } from 'better-auth/plugins/admin';
import { magicLink } from 'better-auth/plugins/magic-link';
import { isOver } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { PeopleStore } from '../registry/people.ts';
import { PEER_HEADER } from './address.ts';
import type { CookieRules } from './cookies.ts';
import { recordAdapter } from './records.ts';
import { resignedCookies } from './resigned-cookies.ts';
import { PERSON_ROLES, type PersonRole } from './roles.ts';

/** A person as stored. Times are epoch milliseconds. */
export interface PersonRecord {
  id: string;
  email: string;
  name: string;
  role: PersonRole;
  /** Null: all. */
  tenants: readonly string[] | null;
  disabled: boolean;
  createdMs: number;
}

export interface SessionRecord {
  id: string;
  createdMs: number;
  expiresMs: number;
  address: string | null;
  agent: string | null;
}

/** The client of a sign-in, stored with its session. */
export interface SignInClient {
  address: string | null;
  agent: string | null;
}

export interface OpenedSession {
  person: PersonRecord;
  /** `Set-Cookie` values of the new session. */
  setCookie: string[];
}

/** Whose a session is. */
interface FoundSession {
  person: PersonRecord;
  session: SessionRecord;
  isKeyHolder: boolean;
}

export interface AuthLibrary {
  /** A new one-time token that signs a person in, valid for 15 minutes. */
  mintToken(email: string): Promise<string>;
  /** Exchanges such a token for a session. Null when it is unknown, used or expired, or the person is disabled. */
  redeem(token: string, from: SignInClient): Promise<OpenedSession | null>;
  /** When such a token expires, in epoch milliseconds, 0 when it has; null when it is unknown or used. Leaves it. */
  tokenExpiry(token: string): Promise<number | null>;
  /** Null when the address or the password is wrong, which takes equally long, or the person is disabled. */
  signIn(email: string, password: string, from: SignInClient): Promise<OpenedSession | null>;
  /**
   * The person of a `Cookie` header, or null. `isKeyHolder`: the session was opened with the current admin key.
   */
  sessionOf(cookie: string): Promise<FoundSession | null>;
  /** The same of an open session of a person, by their ids. Null: of a holder of the admin key. */
  openSession(person: string | null, session: string): Promise<FoundSession | null>;
  signOut(cookie: string): Promise<{ setCookie: string[] }>;
  /** Everyone but the holder of the admin key, oldest first. */
  people(): Promise<PersonRecord[]>;
  person(id: string): Promise<PersonRecord | null>;
  personByEmail(email: string): Promise<PersonRecord | null>;
  /** The account of sessions opened with the admin key, made at its first use. It has no password. */
  keyHolder(): Promise<PersonRecord>;
  /** Throws when the address has an account already. */
  create(
    person: Pick<PersonRecord, 'email' | 'name' | 'role' | 'tenants'> & { password: string },
  ): Promise<PersonRecord>;
  update(id: string, patch: Partial<Pick<PersonRecord, 'name' | 'role' | 'tenants' | 'disabled'>>): Promise<void>;
  /** Open sessions, the newest first. */
  sessions(id: string): Promise<SessionRecord[]>;
  /** Ends the sessions of a person for which `which` is true. Returns their ids. */
  endSessions(id: string, which: (session: SessionRecord) => boolean): Promise<string[]>;
  /** Ends expired sessions, and the oldest open ones beyond `most`. Returns their ids. */
  trimSessions(id: string, most: number): Promise<string[]>;
  isPassword(id: string, password: string): Promise<boolean>;
  setPassword(id: string, password: string): Promise<void>;
  handler(request: Request): Promise<Response>;
}

/** The e-mail domain of the admin key's accounts: the library needs an address for each account. Never mailed to. */
const INTERNAL_DOMAIN = '@winterdock.internal';
const LINK_SECONDS = 15 * 60;
const SESSION_SECONDS = 30 * 86_400;
/** The library's prefix of a sign-in token's hash. */
const TOKEN_PREFIX = 'magic-link:';
/** The library's routes that are open, below /api/auth. */
const OPEN_PATHS = new Set(['/get-session', '/sign-out']);

/** Opens the library. `publicUrl` is its base URL. */
export async function openAuthLibrary(options: {
  secret: string;
  publicUrl: string | null;
  cookies: CookieRules;
  /** Stores its records. */
  people: PeopleStore;
  log: Logger;
  /** While the secret is being rotated: the one before, whose cookies are accepted. */
  before?: string | undefined;
  /**
   * Fingerprints of the admin key: that of new sessions first, then those that are accepted. Another key gets another
   * account, which ends the sessions of the old key.
   */
  keyFingerprints: readonly string[];
}): Promise<AuthLibrary> {
  const [keyHolderEmail = '', ...formerEmails] = options.keyFingerprints.map((one) => `key-${one}${INTERNAL_DOMAIN}`);
  const { secret, before } = options;
  const accepted = (cookie: string) => (before === undefined ? cookie : resignedCookies(cookie, { secret, before }));
  const minted = new Map<string, string>();
  const auth = betterAuth({
    appName: 'Winterdock',
    secret: options.secret,
    baseURL: options.publicUrl ?? 'http://localhost',
    basePath: '/api/auth',
    // The front has refused other origins already, so the request's own host is trusted here.
    trustedOrigins: async (request) => {
      const host = request?.headers.get('host');
      return host ? [`http://${host}`, `https://${host}`] : [];
    },
    database: recordAdapter(options.people),
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    emailAndPassword: { enabled: true, disableSignUp: true },
    user: { additionalFields: { tenants: { type: 'string', required: false, input: false } } },
    session: { expiresIn: SESSION_SECONDS, disableSessionRefresh: true },
    advanced: {
      cookiePrefix: options.cookies.prefix,
      // The library's own prefix is `__Secure-`, which another host of the same domain could set.
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', secure: options.cookies.secure, path: '/' },
      ipAddress: { ipAddressHeaders: [PEER_HEADER] },
    },
    logger: {
      level: 'error',
      log: (level, message) => options.log[level === 'error' ? 'error' : 'warn']({ area: 'auth' }, message),
    },
    plugins: [
      admin(),
      magicLink({
        expiresIn: LINK_SECONDS,
        storeToken: { type: 'custom-hasher', hash: async (token) => tokenHash(token) },
        disableSignUp: true,
        sendMagicLink: async ({ token, metadata }) => {
          minted.set(String(metadata?.ticket), token);
        },
      }),
    ],
  });
  const { internalAdapter: tables, password: passwords } = await auth.$context;

  /** The session that a sign-in opened, or null when it was refused. */
  const openedSession = async (answer: Response): Promise<OpenedSession | null> => {
    const setCookie = answer.headers.getSetCookie();
    if (answer.status !== 200 || setCookie.length === 0) return null;
    const { user } = (await answer.json()) as { user: { id: string } };
    const person = await personOf(await tables.findUserById(user.id));
    return person === null ? null : { person, setCookie };
  };

  const foundSession = (person: PersonRecord | null, session: SessionRecord): FoundSession | null => {
    if (person === null || person.disabled) return null;
    const isKeyHolder = person.email === keyHolderEmail || formerEmails.includes(person.email);
    if (!isKeyHolder && person.email.endsWith(INTERNAL_DOMAIN)) return null;
    return { person, session, isKeyHolder };
  };

  const library: AuthLibrary = {
    async mintToken(email) {
      const ticket = randomUUID();
      await auth.api.signInMagicLink({ body: { email, metadata: { ticket } }, headers: new Headers() });
      const token = minted.get(ticket);
      minted.delete(ticket);
      if (token === undefined) throw new Error('The auth library made no token.');
      return token;
    },

    async redeem(token, from) {
      if ((await library.tokenExpiry(token)) === 0) return null;
      const headers = headersOf(from);
      return openedSession(await auth.api.magicLinkVerify({ query: { token }, headers, asResponse: true }));
    },

    async tokenExpiry(token) {
      const found = await tables.findVerificationValue(`${TOKEN_PREFIX}${tokenHash(token)}`);
      if (found === null) return null;
      const untilMs = Number(found.expiresAt);
      return isOver({ madeMs: untilMs - LINK_SECONDS * 1000, untilMs }, Date.now()) ? 0 : untilMs;
    },

    async signIn(email, password, from) {
      const headers = headersOf(from);
      return openedSession(await auth.api.signInEmail({ body: { email, password }, headers, asResponse: true }));
    },

    async sessionOf(cookie) {
      const found = await auth.api.getSession({ headers: new Headers({ cookie: accepted(cookie) }) });
      return found === null ? null : foundSession(personOf(found.user), sessionRecordOf(found.session));
    },

    async openSession(person, id) {
      const holders = () => Promise.all([keyHolderEmail, ...formerEmails].map(library.personByEmail));
      for (const one of person === null ? await holders() : [await library.person(person)]) {
        const session = one && (await library.sessions(one.id)).find((open) => open.id === id);
        if (session) return foundSession(one, session);
      }
      return null;
    },

    async signOut(cookie) {
      const answer = await auth.api.signOut({ headers: new Headers({ cookie: accepted(cookie) }), asResponse: true });
      return { setCookie: answer.headers.getSetCookie() };
    },

    async people() {
      const users = await tables.listUsers(undefined, undefined, { field: 'createdAt', direction: 'asc' });
      return users.flatMap((user) => (user.email.endsWith(INTERNAL_DOMAIN) ? [] : (personOf(user) ?? [])));
    },

    person: async (id) => personOf(await tables.findUserById(id)),
    personByEmail: async (email) => personOf((await tables.findUserByEmail(email))?.user ?? null),

    async keyHolder() {
      const known = await library.personByEmail(keyHolderEmail);
      if (known !== null) return known;
      const made = personOf(
        await tables.createUser(
          { email: keyHolderEmail, name: 'Admin key', emailVerified: true, role: 'admin' },
          { method: 'admin' },
        ),
      );
      if (made === null) throw new Error('The auth library made no account.');
      return made;
    },

    async create({ email, name, role, tenants, password }) {
      if ((await tables.findUserByEmail(email)) !== null) throw new Error(`The address ${email} has an account.`);
      const hash = await passwords.hash(password);
      const user = await tables.createUser(
        {
          email,
          name,
          // No mail is ever sent: an invitation's link, handed over by an admin, proves the person.
          emailVerified: true,
          role,
          tenants: tenants === null ? null : JSON.stringify(tenants),
        },
        { method: 'admin' },
      );
      try {
        await tables.linkAccount({ userId: user.id, providerId: 'credential', accountId: user.id, password: hash });
      } catch (error) {
        await tables.deleteUser(user.id);
        throw error;
      }
      const person = personOf(user);
      if (person === null) throw new Error('The auth library made no account.');
      return person;
    },

    async update(id, { name, role, tenants, disabled }) {
      await tables.updateUser(id, {
        ...(name === undefined ? {} : { name }),
        ...(role === undefined ? {} : { role }),
        ...(tenants === undefined ? {} : { tenants: tenants === null ? null : JSON.stringify(tenants) }),
        ...(disabled === undefined ? {} : { banned: disabled }),
      });
    },

    async sessions(id) {
      const found = await tables.listSessions(id, { onlyActiveSessions: true });
      return found.map(sessionRecordOf).toSorted((a, b) => b.createdMs - a.createdMs);
    },

    async endSessions(id, which) {
      const open = await tables.listSessions(id);
      const ending = open.filter((session) => which(sessionRecordOf(session)));
      if (ending.length > 0) await tables.deleteSessions(ending.map(({ token }) => token));
      return ending.map((session) => session.id);
    },

    async trimSessions(id, most) {
      const all = (await tables.listSessions(id)).toSorted((a, b) => Number(b.createdAt) - Number(a.createdAt));
      const open = all.filter(({ expiresAt }) => Number(expiresAt) > Date.now());
      const kept = new Set(open.slice(0, most));
      const ending = all.filter((session) => !kept.has(session));
      if (ending.length > 0) await tables.deleteSessions(ending.map(({ token }) => token));
      return ending.map((session) => session.id);
    },

    async isPassword(id, password) {
      const account = await tables.findCredentialAccount(id);
      if (account?.password) return passwords.verify({ hash: account.password, password });
      await passwords.hash(password);
      return false;
    },

    async setPassword(id, password) {
      const hash = await passwords.hash(password);
      const account = await tables.findCredentialAccount(id);
      if (account !== null) await tables.updatePassword(id, hash);
      else await tables.linkAccount({ userId: id, providerId: 'credential', accountId: id, password: hash });
    },

    handler(request) {
      const path = new URL(request.url).pathname.replace(/^\/api\/auth/, '');
      if (!OPEN_PATHS.has(path)) return Promise.resolve(Response.json({ code: 'not_found' }, { status: 404 }));
      const cookie = request.headers.get('cookie');
      if (before === undefined || cookie === null) return auth.handler(request);
      const headers = new Headers(request.headers);
      headers.set('cookie', accepted(cookie));
      return auth.handler(new Request(request, { headers }));
    },
  };
  return library;
}

/** The form in which a sign-in token is stored. */
function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function headersOf({ address, agent }: SignInClient): Headers {
  const headers = new Headers();
  if (address !== null) headers.set(PEER_HEADER, address);
  if (agent !== null) headers.set('user-agent', agent.slice(0, 300));
  return headers;
}

/** A person from the library's record; null when there is none or its role is not one of a person. */
function personOf(user: Record<string, unknown> | null): PersonRecord | null {
  if (user === null) return null;
  const role = PERSON_ROLES.find((one) => one === user.role);
  if (role === undefined) return null;
  return {
    id: String(user.id),
    email: String(user.email),
    name: String(user.name),
    role,
    tenants: typeof user.tenants === 'string' ? (JSON.parse(user.tenants) as string[]) : null,
    disabled: user.banned === true,
    createdMs: Number(user.createdAt),
  };
}

function sessionRecordOf(session: Record<string, unknown>): SessionRecord {
  const textOr = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  return {
    id: String(session.id),
    createdMs: Number(session.createdAt),
    expiresMs: Number(session.expiresAt),
    address: textOr(session.ipAddress),
    agent: textOr(session.userAgent),
  };
}
