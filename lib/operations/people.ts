/**
 * Operations on people: who the caller is, accounts, invitations, sessions, passwords. Each change is a line of the
 * ledger. The guard has decided before who may do what.
 */
import type { Auth } from '../auth/auth.ts';
import type { Caller } from '../auth/caller.ts';
import type { PersonRecord, SessionRecord } from '../auth/library.ts';
import { roleText } from '../auth/sign-ins.ts';
import type { Clock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { mayDo, type OperationName, READS, RULES } from '../contract/access.ts';
import type {
  Invitation,
  Invited,
  InviteInput,
  Me,
  PasswordChange,
  Person,
  PersonPatch,
  PersonSession,
} from '../contract/schema/access.ts';
import type { InvitationRow } from '../registry/invitations.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerEntry } from '../registry/types.ts';
import { withActorName, withActorNames } from './actor-names.ts';
import { auditContextOf } from './audit-context.ts';

export interface PeopleOperations {
  me(caller: Caller): Promise<Me>;
  people(caller: Caller): Promise<Person[]>;
  /** Invitations that are neither used nor expired. */
  invitations(caller: Caller): Promise<Invitation[]>;
  /** Makes a link that lets one person in, once and for a week. Throws `conflict` when the address has an account. */
  invite(caller: Caller, input: InviteInput): Promise<Invited>;
  withdrawInvitation(caller: Caller, id: string): Promise<void>;
  /** Throws `conflict` when no admin would be left. */
  patchPerson(caller: Caller, id: string, patch: PersonPatch): Promise<Person>;
  /** `id` is a person's or `me`. */
  sessionsOf(caller: Caller, id: string): Promise<PersonSession[]>;
  /** Ends one session of a person, or all of them. */
  endSession(caller: Caller, id: string, which: { session?: string }): Promise<void>;
  /** Sets the caller's own password and ends all its other sessions. Throws `forbidden` when `current` is wrong. */
  changePassword(caller: Caller, change: PasswordChange): Promise<void>;
}

export function peopleOperations(parts: {
  auth: Auth;
  registry: Pick<Registry, 'tenantForgettings' | 'invitations' | 'ledger'>;
  clock: Clock;
}): PeopleOperations {
  const { auth, registry, clock } = parts;
  const { people, keys, signIns, limits, actors } = auth;

  const entry = (caller: Caller, type: string, reason: string): LedgerEntry =>
    ledgerEntry(parts, null, auditContextOf(caller, reason), type);
  const record = (caller: Caller, type: string, reason: string) =>
    registry.ledger.append([entry(caller, type, reason)]);

  const ownAccount = async (caller: Caller): Promise<string> => {
    const own = ownId(caller);
    if (own !== null) return own;
    if (caller.actor === 'key:admin' && caller.session !== null) return (await people.keyHolder()).id;
    throw new WinterdockError('not_found', 'A key is not a person and has no sessions.');
  };
  const personIdOf = async (caller: Caller, id: string): Promise<string> => (id === 'me' ? ownAccount(caller) : id);

  const personById = async (id: string): Promise<PersonRecord> => {
    const person = await people.get(id);
    if (person === null) throw new WinterdockError('not_found', `There is no person "${id}".`);
    return person;
  };

  return {
    async me(caller) {
      const { actor, role, tenants } = caller;
      const id = ownId(caller);
      const person = id === null ? null : await people.get(id);
      const key = id === null && actor !== 'key:admin' ? await keys.get(actor.slice('key:'.length)) : null;
      const names = Object.keys(RULES) as OperationName[];
      return {
        actor,
        role,
        tenants: tenants === null ? null : [...tenants],
        person: person === null ? null : { id: person.id, email: person.email, name: person.name },
        key: key === null ? null : { id: key.id, name: key.name, expires: key.expires },
        may: names.filter((name) => mayDo(caller, name)),
        reads: [...READS[role]],
      };
    },

    async people() {
      return (await people.list()).map((person) => personOf(person, person.sessions));
    },

    async invitations() {
      const open = await registry.invitations.list(seconds(clock.now()));
      return withActorNames(actors, 'created_by', open.map(invitationOf));
    },

    async invite(caller, { email = null, role, tenants = null }) {
      if (email !== null && (await people.byEmail(email)) !== null) {
        throw new WinterdockError('conflict', 'There is an account with this e-mail address already.');
      }
      if (role === 'admin' && tenants !== null) throw adminOfAll();
      const { row, token } = await signIns.invite({ email, role, tenants, createdBy: caller.actor }, (made) => [
        entry(caller, 'person.invited', `${roleText(made)}, invitation ${made.id}`),
      ]);
      return { ...(await withActorName(actors, 'created_by', invitationOf(row))), link: auth.linkOf(token) };
    },

    async withdrawInvitation(caller, id) {
      const entries = [entry(caller, 'invitation.withdrawn', `invitation ${id}`)];
      if (await registry.invitations.withdraw(id, seconds(clock.now()), entries)) return;
      throw new WinterdockError('not_found', `There is no open invitation "${id}".`);
    },

    async patchPerson(caller, id, patch) {
      const before = await personById(id);
      const { name, role = before.role, tenants = before.tenants, disabled } = patch;
      if (role === 'admin' && tenants !== null && patch.tenants !== undefined) throw adminOfAll();
      const among = role === 'admin' ? null : tenants;
      if (patch.tenants !== undefined) await registry.tenantForgettings.requireNone(among);
      const after = await people.change(id, {
        ...(name === undefined ? {} : { name }),
        ...(disabled === undefined ? {} : { disabled }),
        role,
        tenants: among,
      });
      const was = roleText(before);
      const is = roleText(after);
      if (was !== is || before.name !== after.name)
        await record(caller, 'person.changed', was === is ? `user:${id}: name` : `user:${id}: ${was} → ${is}`);
      if (before.disabled !== after.disabled)
        await record(caller, after.disabled ? 'person.disabled' : 'person.enabled', `user:${id}`);
      return personOf(after, await people.sessions(id));
    },

    async sessionsOf(caller, id) {
      const person = await personById(await personIdOf(caller, id));
      return (await people.sessions(person.id)).map((session) => ({
        id: session.id,
        created: seconds(session.createdMs),
        expires: seconds(session.expiresMs),
        address: session.address,
        agent: session.agent,
        current: session.id === caller.session,
      }));
    },

    async endSession(caller, id, { session }) {
      const person = await personById(await personIdOf(caller, id));
      const gone = await people.endSessions(person.id, (one) => session === undefined || one.id === session);
      if (gone.length === 0 && session !== undefined)
        throw new WinterdockError('not_found', `There is no session "${session}".`);
      if (gone.length > 0) await record(caller, 'session.ended', `user:${person.id}, ${gone.length} of them`);
    },

    async changePassword(caller, { current, next }) {
      const own = ownId(caller);
      if (own === null) throw new WinterdockError('not_found', 'A key has no password.');
      const person = await personById(own);
      await limits.countAttempt(person.email, caller.address, true);
      if (!(await people.isPassword(person.id, current)))
        throw new WinterdockError('forbidden', 'That is not your current password.');
      await limits.acceptPassword(person.email, caller.address);
      await people.setPassword(person.id, next);
      await people.endSessions(person.id, ({ id }) => id !== caller.session);
      await record(caller, 'password.changed', `user:${person.id}`);
    },
  };
}

const seconds = (ms: number) => Math.floor(ms / 1000);

function personOf(person: PersonRecord, sessions: readonly SessionRecord[]): Person {
  const { id, email, name, role, tenants, disabled, createdMs } = person;
  const [latest] = sessions;
  return {
    id,
    email,
    name,
    role,
    tenants: tenants === null ? null : [...tenants],
    disabled,
    created: seconds(createdMs),
    sessions: sessions.length,
    signed_in: latest === undefined ? null : seconds(latest.createdMs),
  };
}

function invitationOf({
  id,
  email,
  role,
  tenants,
  created,
  createdBy,
  expires,
}: InvitationRow): Omit<Invitation, 'created_by_name'> {
  return {
    id,
    email,
    role: role as Invitation['role'],
    tenants: tenants === null ? null : [...tenants],
    created,
    created_by: createdBy,
    expires,
  };
}

/** The caller's id as a person, or null for a key. */
function ownId({ actor }: Caller): string | null {
  return actor.startsWith('user:') ? actor.slice('user:'.length) : null;
}

function adminOfAll(): WinterdockError {
  return new WinterdockError('validation', 'tenants: an admin has access to all tenants', {
    extra: { errors: [{ path: 'tenants', message: 'an admin is of all tenants' }] },
  });
}
