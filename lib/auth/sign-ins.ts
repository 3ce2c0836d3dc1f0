/**
 * How people sign in: by the link of a first start or a recovery, an invitation, a password, or the admin key. Every
 * attempt writes a ledger line, failed ones too. The auth library checks passwords and makes sessions; this file
 * decides who may try, and how often.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InvitationRow } from '../registry/invitations.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerEntry } from '../registry/types.ts';
import { clientKey } from './address.ts';
import type { AuthLibrary, OpenedSession, PersonRecord, SignInClient } from './library.ts';
import { type RateLimits, rateLimited } from './rate-limits.ts';
import { PERSON_ROLES, type PersonRole } from './roles.ts';

/** The request of a sign-in, for the ledger and for counting attempts. */
export interface SignInRequest extends SignInClient {
  requestId: string;
}

/** What a person signs in with. A recovery link may also set a new password. */
type Credential = { email: string; password: string } | { token: string; newPassword?: string } | { key: string };

/** The account that an invitation's link offers to make. */
export interface AccountOffer {
  /** The first admin, who needs no invitation. */
  first: boolean;
  /** The e-mail address of the account; null: the person enters one. */
  email: string | null;
  role: PersonRole;
  tenants: readonly string[] | null;
}

/**
 * Whether a link can still be used, and if not, why. `unknown`: never made here, withdrawn, or no longer remembered.
 */
export type LinkState = 'good' | 'used' | 'expired' | 'unknown';

export interface SignIns {
  /** Whether there is an enabled admin. */
  hasAdmin(): Promise<boolean>;
  /** Whether anybody can sign in by password. */
  hasPeople(): Promise<boolean>;
  /**
   * The token of a one-time link for the person who runs the server, valid for 15 minutes: it makes the first admin, or
   * signs in the oldest one.
   */
  ownerToken(): Promise<string>;
  /** Makes the token of an invitation. */
  invite(
    input: Pick<InvitationRow, 'email' | 'role' | 'tenants' | 'createdBy'>,
    ledger: (row: InvitationRow) => LedgerEntry[],
  ): Promise<{ row: InvitationRow; token: string }>;
  /** The account that a link's token offers; null when it is not a valid invitation. Does not use it up. */
  offerOf(token: string): Promise<AccountOffer | null>;
  /** The state of a link. Does not use it up. */
  linkState(token: string): Promise<LinkState>;
  /**
   * Makes the account that a link offers and opens its first session. Null when the link is no longer valid. Throws
   * `conflict` when the address has an account.
   */
  join(
    token: string,
    person: { email: string; name: string; password: string },
    request: SignInRequest,
  ): Promise<OpenedSession | null>;
  /** Opens a session. Null when the credential is wrong. Throws `rate_limited` after too many wrong ones. */
  signIn(credential: Credential, request: SignInRequest): Promise<OpenedSession | null>;
}

const FIRST_START = 'first-start';
const FIRST_SECONDS = 15 * 60;
const INVITATION_SECONDS = 7 * 86_400;
const TOKEN_BYTES = 32;
/** Open sessions of one person; one more ends the oldest. */
export const MAX_SESSIONS = 50;
/** Used links, remembered by digest until the next start. */
const REMEMBERED_LINKS = 1000;
/** Passwords checked at the same time: each check takes tens of megabytes and a tenth of a second. */
const PARALLEL_PASSWORDS = 2;
const QUEUED_PASSWORDS = 50;

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

/**
 * Makes it. `isAdminKey` compares a key with the admin key; `ended` receives the ids of ended sessions; `library` loads
 * the auth library at its first use.
 */
export function createSignIns(parts: {
  library: () => Promise<AuthLibrary>;
  registry: Pick<Registry, 'invitations' | 'ledger'>;
  limits: RateLimits;
  clock: Clock;
  isAdminKey: (key: string) => boolean;
  ended: (sessions: readonly string[]) => void;
  /** Told of everybody who signed in; it must not wait. */
  entered?: ((person: PersonRecord) => void) | undefined;
}): SignIns {
  const { library, registry, limits, clock, isAdminKey, ended, entered } = parts;
  const now = () => epochSeconds(clock);

  const tell = (request: SignInRequest, type: string, actor: string, reason: string): Promise<void> | void => {
    const { address, requestId } = request;
    const cause = { trigger: 'operator', actor, via: 'console', requestId, address, reason } as const;
    return registry.ledger.append([ledgerEntry({ clock }, null, cause, type)]);
  };
  const failed = (request: SignInRequest, what: string) => tell(request, 'signin.failed', 'nobody', what);
  const signedIn = async (
    opened: OpenedSession,
    request: SignInRequest,
    actor: string,
    how: string,
  ): Promise<OpenedSession> => {
    const trimmed = await (await library()).trimSessions(opened.person.id, MAX_SESSIONS);
    if (trimmed.length > 0) ended(trimmed);
    await tell(request, 'person.signed_in', actor, how);
    entered?.(opened.person);
    return opened;
  };

  const usedLinks = new Set<string>();
  const rememberUsed = (token: string) => {
    if (usedLinks.size >= REMEMBERED_LINKS) usedLinks.delete(usedLinks.values().next().value ?? '');
    usedLinks.add(hashOf(token));
  };

  let checking = 0;
  const waiting: (() => void)[] = [];
  /** Bounds how many passwords are checked at a time. */
  const limited = async <T>(check: () => Promise<T>): Promise<T> => {
    if (checking < PARALLEL_PASSWORDS) checking += 1;
    else if (waiting.length >= QUEUED_PASSWORDS) throw rateLimited('Too many people sign in at this moment.', 5);
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await check();
    } finally {
      const next = waiting.shift();
      if (next === undefined) checking -= 1;
      else next();
    }
  };

  const admins = async (): Promise<PersonRecord[]> =>
    (await (await library()).people()).filter(({ role, disabled }) => role === 'admin' && !disabled);

  /** Whether the person has an open session that was opened from the address of this attempt. */
  const isKnownAt = async (person: PersonRecord | null, request: SignInRequest): Promise<boolean> => {
    if (person === null) return false;
    const client = clientKey(request.address);
    return (await (await library()).sessions(person.id)).some(({ address }) => clientKey(address) === client);
  };

  const byPassword = async (email: string, password: string, request: SignInRequest): Promise<OpenedSession | null> => {
    const auth = await library();
    const account = email.trim().toLowerCase();
    const person = await auth.personByEmail(account);
    await limits.countAttempt(account, request.address, await isKnownAt(person, request));
    const opened = await limited(() => auth.signIn(account, password, request));
    if (opened === null) {
      await failed(request, person === null ? 'no such account' : `password of user:${person.id}`);
      return null;
    }
    await limits.acceptPassword(account, request.address);
    return signedIn(opened, request, `user:${opened.person.id}`, 'by password');
  };

  const byLink = async (
    token: string,
    newPassword: string | undefined,
    request: SignInRequest,
  ): Promise<OpenedSession | null> => {
    const auth = await library();
    const opened = await auth.redeem(token, request);
    if (opened === null) {
      await limits.countWrongKey(request.address);
      await failed(request, 'link');
      return null;
    }
    rememberUsed(token);
    const { id } = opened.person;
    if (newPassword !== undefined) {
      await auth.setPassword(id, newPassword);
      // Every other session ends: it may belong to somebody who had the old password.
      const own = (await auth.sessionOf(cookiesOf(opened)))?.session.id;
      ended(await auth.endSessions(id, (session) => session.id !== own));
      await tell(request, 'password.changed', `user:${id}`, 'by a recovery link');
    }
    return signedIn(opened, request, `user:${id}`, 'by link');
  };

  const byKey = async (key: string, request: SignInRequest): Promise<OpenedSession | null> => {
    limits.checkAdminKey(request.address);
    if (!isAdminKey(key)) {
      await limits.countWrongKey(request.address);
      await failed(request, 'key');
      return null;
    }
    limits.acceptAdminKey(request.address);
    const auth = await library();
    const { email } = await auth.keyHolder();
    const opened = await auth.redeem(await auth.mintToken(email), request);
    if (opened === null) throw new WinterdockError('internal', 'A session could not be made.');
    return signedIn(opened, request, 'key:admin', 'by the admin key');
  };

  const invitationOf = async (token: string): Promise<InvitationRow | null> => {
    const row = await registry.invitations.find(hashOf(token), now());
    if (row === null) return null;
    return row.createdBy === FIRST_START && (await admins()).length > 0 ? null : row;
  };

  const signIns: SignIns = {
    hasAdmin: async () => (await admins()).length > 0,
    hasPeople: async () => (await (await library()).people()).length > 0,

    async ownerToken() {
      const [first] = await admins();
      if (first !== undefined) return (await library()).mintToken(first.email);
      await registry.invitations.withdrawAllOf(FIRST_START);
      const input = { email: null, role: 'admin', tenants: null, createdBy: FIRST_START };
      return (await signIns.invite(input, () => [])).token;
    },

    async invite(input, ledger) {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const seconds = input.createdBy === FIRST_START ? FIRST_SECONDS : INVITATION_SECONDS;
      const created = now();
      const row = { ...input, id: randomUUID(), hash: hashOf(token), created, expires: created + seconds };
      await registry.invitations.add(row, ledger(row));
      return { row, token };
    },

    async offerOf(token) {
      const row = await invitationOf(token);
      if (row === null) return null;
      return { first: row.createdBy === FIRST_START, email: row.email, role: roleOf(row), tenants: row.tenants };
    },

    async linkState(token) {
      const hash = hashOf(token);
      const invitation = await registry.invitations.stateOf(hash, now());
      // A first-start link is used once an admin exists, whoever made them.
      if (invitation === 'good') return (await invitationOf(token)) === null ? 'used' : 'good';
      if (invitation !== null) return invitation;
      if (usedLinks.has(hash)) return 'used';
      const expiry = await (await library()).tokenExpiry(token);
      if (expiry === null) return 'unknown';
      return expiry === 0 ? 'expired' : 'good';
    },

    async join(token, { email, name, password }, request) {
      const auth = await library();
      const row = await invitationOf(token);
      if (row === null) {
        await limits.countWrongKey(request.address);
        await failed(request, 'link');
        return null;
      }
      const account = row.email ?? email.trim().toLowerCase();
      if ((await auth.personByEmail(account)) !== null) {
        throw new WinterdockError('conflict', 'There is an account with this e-mail address already.', {
          hint: 'Sign in with it, or give another address.',
        });
      }
      if (!(await registry.invitations.use(row.id, now()))) return null;
      let person: PersonRecord;
      try {
        const input = { email: account, name, role: roleOf(row), tenants: row.tenants, password };
        person = await limited(() => auth.create(input));
      } catch (error) {
        await registry.invitations.release(row.id);
        throw error;
      }
      if (row.createdBy === FIRST_START) await registry.invitations.withdrawAllOf(FIRST_START);
      const by = row.createdBy === FIRST_START ? 'the first admin' : `invited by ${row.createdBy}`;
      await tell(request, 'person.joined', `user:${person.id}`, `${by}: ${roleText(row)}`);
      const opened = await limited(() => auth.signIn(account, password, request));
      if (opened !== null) entered?.(opened.person);
      return opened;
    },

    signIn(credential, request) {
      if ('email' in credential) return byPassword(credential.email, credential.password, request);
      if ('token' in credential) return byLink(credential.token, credential.newPassword, request);
      return byKey(credential.key, request);
    },
  };
  return signIns;
}

/** The `Cookie` header that a browser would send for a new session. */
function cookiesOf({ setCookie }: OpenedSession): string {
  return setCookie.map((cookie) => cookie.split(';', 1)[0]).join('; ');
}

function roleOf({ role }: InvitationRow): PersonRole {
  const known = PERSON_ROLES.find((name) => name === role);
  if (known === undefined) throw new WinterdockError('internal', 'The invitation has no role of a person.');
  return known;
}

/** A role and its tenants, in words for the ledger. */
export function roleText({ role, tenants }: { role: string; tenants: readonly string[] | null }): string {
  return `${role} of ${tenants === null ? 'all tenants' : tenants.join(', ')}`;
}
