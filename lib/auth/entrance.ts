/**
 * The ways in for people: the link of a first start or of a recovery, an invitation, a password, the admin key. Each
 * leaves a line in the ledger, those that fail too. Passwords, links and sessions are the auth library's; this decides
 * who may try, and how often.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InvitationRow } from '../registry/invitations.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerEntry } from '../registry/types.ts';
import { ledgerEntry } from '../sessions/engine.ts';
import { clientOf } from './address.ts';
import type { AuthLibrary, Entered, Origin, PersonRecord } from './library.ts';
import { type Limits, tooOften } from './limits.ts';
import { PERSON_ROLES, type PersonRole } from './roles.ts';

/** Who knocks, for the ledger and for the counting of attempts. */
export interface Visitor extends Origin {
  requestId: string;
}

/** What a person shows to come in. A link may set a new password on the way. */
type Credential = { email: string; password: string } | { token: string; newPassword?: string } | { key: string };

/** What a link offers to whoever opens it: an account to make, or null: to sign in. */
export interface Offer {
  /** The very first admin, who needs no invitation. */
  first: boolean;
  /** Whom the account is for; null: the person says so. */
  email: string | null;
  role: PersonRole;
  tenants: readonly string[] | null;
}

/**
 * Whether a link still lets somebody in, and if not, why; `unknown` is none of ours, or one that was withdrawn or
 * forgotten.
 */
export type LinkState = 'good' | 'used' | 'expired' | 'unknown';

export interface Entrance {
  /** Whether there is a person who is an admin and not disabled. */
  hasAdmin(): Promise<boolean>;
  /** Whether anybody could sign in by a password. */
  hasPeople(): Promise<boolean>;
  /**
   * The token of a link for whoever runs the server, for 15 minutes and once: it makes the first admin, or signs in the
   * first one there is.
   */
  ownersToken(): Promise<string>;
  /** Makes the token of an invitation. */
  invite(
    wish: Pick<InvitationRow, 'email' | 'role' | 'tenants' | 'createdBy'>,
    ledger: (row: InvitationRow) => LedgerEntry[],
  ): Promise<{ row: InvitationRow; token: string }>;
  /** What a link's token offers; null when it is none of an account to make. Uses nothing up. */
  offerOf(token: string): Promise<Offer | null>;
  /** What is to be said of a link before anybody tries it. Uses nothing up. */
  stateOf(token: string): Promise<LinkState>;
  /**
   * Makes the account that a link offers and opens its first session. Null when the link is not good any more. Throws
   * `conflict` when the address has an account.
   */
  join(
    token: string,
    person: { email: string; name: string; password: string },
    visitor: Visitor,
  ): Promise<Entered | null>;
  /** Opens a session. Null when the credential is wrong; throws `rate_limited` when there were too many of those. */
  signIn(credential: Credential, visitor: Visitor): Promise<Entered | null>;
}

const FIRST_START = 'first-start';
const FIRST_SECONDS = 15 * 60;
const INVITATION_SECONDS = 7 * 86_400;
const TOKEN_BYTES = 32;
/** Open sessions of one person; who opens one more is out where they came in first. */
export const SESSIONS_EACH = 50;
/** Links that signed somebody in, remembered by digest until the next start. */
const SPENT_LINKS = 1000;
/** Passwords looked at at the same time: each costs tens of megabytes and a tenth of a second. */
const PASSWORDS_AT_ONCE = 2;
const PASSWORDS_WAITING = 50;

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

/**
 * Makes the ways in. `isAdminKey` compares; `ended` is told of sessions that are over; the library is loaded at the
 * first use.
 */
export function createEntrance(parts: {
  library: () => Promise<AuthLibrary>;
  registry: Pick<Registry, 'invitations' | 'ledger'>;
  limits: Limits;
  clock: Clock;
  isAdminKey: (key: string) => boolean;
  ended: (sessions: readonly string[]) => void;
}): Entrance {
  const { library, registry, limits, clock, isAdminKey, ended } = parts;
  const now = () => epochSeconds(clock);

  const tell = (visitor: Visitor, type: string, actor: string, reason: string): Promise<void> | void => {
    const { address, requestId } = visitor;
    const cause = { trigger: 'operator', actor, via: 'console', requestId, address, reason } as const;
    return registry.ledger.append([ledgerEntry({ clock }, null, cause, type)]);
  };
  const failed = (visitor: Visitor, what: string) => tell(visitor, 'signin.failed', 'nobody', what);
  const entered = async (entering: Entered, visitor: Visitor, actor: string, how: string): Promise<Entered> => {
    const over = await (await library()).trimSessions(entering.person.id, SESSIONS_EACH);
    if (over.length > 0) ended(over);
    await tell(visitor, 'person.signed_in', actor, how);
    return entering;
  };

  const spent = new Set<string>();
  const spend = (token: string) => {
    if (spent.size >= SPENT_LINKS) spent.delete(spent.values().next().value ?? '');
    spent.add(hashOf(token));
  };

  let looking = 0;
  const waiting: (() => void)[] = [];
  /** Looks at few passwords at a time. */
  const inTurn = async <T>(look: () => Promise<T>): Promise<T> => {
    if (looking < PASSWORDS_AT_ONCE) looking += 1;
    else if (waiting.length >= PASSWORDS_WAITING) throw tooOften('Too many people sign in at this moment.', 5);
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await look();
    } finally {
      const next = waiting.shift();
      if (next === undefined) looking -= 1;
      else next();
    }
  };

  const admins = async (): Promise<PersonRecord[]> =>
    (await (await library()).people()).filter(({ role, disabled }) => role === 'admin' && !disabled);

  /** Whether one of the person's open sessions began where this attempt comes from. */
  const isKnownAt = async (person: PersonRecord | null, visitor: Visitor): Promise<boolean> => {
    if (person === null) return false;
    const client = clientOf(visitor.address);
    return (await (await library()).sessions(person.id)).some(({ address }) => clientOf(address) === client);
  };

  const byPassword = async (email: string, password: string, visitor: Visitor): Promise<Entered | null> => {
    const opened = await library();
    const account = email.trim().toLowerCase();
    const person = await opened.personByEmail(account);
    await limits.attempt(account, visitor.address, await isKnownAt(person, visitor));
    const entering = await inTurn(() => opened.signIn(account, password, visitor));
    if (entering === null) {
      await failed(visitor, person === null ? 'no such account' : `password of user:${person.id}`);
      return null;
    }
    await limits.succeeded(account, visitor.address);
    return entered(entering, visitor, `user:${entering.person.id}`, 'by password');
  };

  const byLink = async (token: string, newPassword: string | undefined, visitor: Visitor): Promise<Entered | null> => {
    const opened = await library();
    const entering = await opened.redeem(token, visitor);
    if (entering === null) {
      await limits.wrongKey(visitor.address);
      await failed(visitor, 'link');
      return null;
    }
    spend(token);
    const { id } = entering.person;
    if (newPassword !== undefined) {
      await opened.setPassword(id, newPassword);
      // Whoever had the old password, or a session that it opened, is out.
      const own = (await opened.sessionOf(cookiesOf(entering)))?.session.id;
      ended(await opened.endSessions(id, (session) => session.id !== own));
      await tell(visitor, 'password.changed', `user:${id}`, 'by a recovery link');
    }
    return entered(entering, visitor, `user:${id}`, 'by link');
  };

  const byKey = async (key: string, visitor: Visitor): Promise<Entered | null> => {
    limits.beforeAdminKey(visitor.address);
    if (!isAdminKey(key)) {
      await limits.wrongKey(visitor.address);
      await failed(visitor, 'key');
      return null;
    }
    limits.rightAdminKey(visitor.address);
    const opened = await library();
    const { email } = await opened.keyHolder();
    const entering = await opened.redeem(await opened.mintToken(email), visitor);
    if (entering === null) throw new WinterdockError('internal', 'A session could not be made.');
    return entered(entering, visitor, 'key:admin', 'by the admin key');
  };

  const invitationOf = async (token: string): Promise<InvitationRow | null> => {
    const row = await registry.invitations.find(hashOf(token), now());
    if (row === null) return null;
    return row.createdBy === FIRST_START && (await admins()).length > 0 ? null : row;
  };

  const entrance: Entrance = {
    hasAdmin: async () => (await admins()).length > 0,
    hasPeople: async () => (await (await library()).people()).length > 0,

    async ownersToken() {
      const [first] = await admins();
      if (first !== undefined) return (await library()).mintToken(first.email);
      await registry.invitations.withdrawAllOf(FIRST_START);
      const wish = { email: null, role: 'admin', tenants: null, createdBy: FIRST_START };
      return (await entrance.invite(wish, () => [])).token;
    },

    async invite(wish, ledger) {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const seconds = wish.createdBy === FIRST_START ? FIRST_SECONDS : INVITATION_SECONDS;
      const created = now();
      const row = { ...wish, id: randomUUID(), hash: hashOf(token), created, expires: created + seconds };
      await registry.invitations.add(row, ledger(row));
      return { row, token };
    },

    async offerOf(token) {
      const row = await invitationOf(token);
      if (row === null) return null;
      return { first: row.createdBy === FIRST_START, email: row.email, role: roleOf(row), tenants: row.tenants };
    },

    async stateOf(token) {
      const hash = hashOf(token);
      const invited = await registry.invitations.stateOf(hash, now());
      // The first admin is there already: nobody is to be made by this one any more.
      if (invited === 'good') return (await invitationOf(token)) === null ? 'used' : 'good';
      if (invited !== null) return invited;
      if (spent.has(hash)) return 'used';
      const ends = await (await library()).tokenEnds(token);
      if (ends === null) return 'unknown';
      return ends > Date.now() ? 'good' : 'expired';
    },

    async join(token, { email, name, password }, visitor) {
      const opened = await library();
      const row = await invitationOf(token);
      if (row === null) {
        await limits.wrongKey(visitor.address);
        await failed(visitor, 'link');
        return null;
      }
      const account = row.email ?? email.trim().toLowerCase();
      if ((await opened.personByEmail(account)) !== null) {
        throw new WinterdockError('conflict', 'There is an account with this e-mail address already.', {
          hint: 'Sign in with it, or give another address.',
        });
      }
      if (!(await registry.invitations.use(row.id, now()))) return null;
      let person: PersonRecord;
      try {
        const wish = { email: account, name, role: roleOf(row), tenants: row.tenants, password };
        person = await inTurn(() => opened.create(wish));
      } catch (error) {
        await registry.invitations.release(row.id);
        throw error;
      }
      if (row.createdBy === FIRST_START) await registry.invitations.withdrawAllOf(FIRST_START);
      const by = row.createdBy === FIRST_START ? 'the first admin' : `invited by ${row.createdBy}`;
      await tell(visitor, 'person.joined', `user:${person.id}`, `${by}: ${roleWords(row)}`);
      return inTurn(() => opened.signIn(account, password, visitor));
    },

    signIn(credential, visitor) {
      if ('email' in credential) return byPassword(credential.email, credential.password, visitor);
      if ('token' in credential) return byLink(credential.token, credential.newPassword, visitor);
      return byKey(credential.key, visitor);
    },
  };
  return entrance;
}

/** What a browser sends back of the cookies of a new session. */
function cookiesOf({ setCookie }: Entered): string {
  return setCookie.map((cookie) => cookie.split(';', 1)[0]).join('; ');
}

function roleOf({ role }: InvitationRow): PersonRole {
  const known = PERSON_ROLES.find((one) => one === role);
  if (known === undefined) throw new WinterdockError('internal', 'The invitation has no role of a person.');
  return known;
}

/** A role and whom it may act for, in words for the ledger. */
export function roleWords({ role, tenants }: { role: string; tenants: readonly string[] | null }): string {
  return `${role} of ${tenants === null ? 'all tenants' : tenants.join(', ')}`;
}
