/**
 * The operations about access over the auth layer: contract input in, contract objects out, and a line in the ledger
 * for whatever they change. Who may do what was decided by the guard.
 */

import { prefixOf } from '../auth/api-keys.ts';
import type { Auth } from '../auth/auth.ts';
import type { Caller } from '../auth/caller.ts';
import type { PersonRecord, SessionRecord } from '../auth/library.ts';
import { ROLES } from '../auth/roles.ts';
import { roleText } from '../auth/sign-ins.ts';
import type { Clock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { mayDo, READS, RULES } from '../contract/access.ts';
import type { Invitation, Key, Person } from '../contract/schema/access.ts';
import type { InvitationRow } from '../registry/invitations.ts';
import type { KeyRow } from '../registry/keys.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerEntry } from '../registry/types.ts';
import { ledgerEntry } from '../sessions/engine.ts';
import { causeOf } from './audit-context.ts';
import type { AccessOperations } from './interfaces/access.ts';
import type { Operations } from './operations.ts';

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

function keyOf({ id, name, role, tenant, created, createdBy, expires, lastUsed }: KeyRow): Key {
  return {
    id,
    name,
    role: ROLES.find((known) => known === role) ?? 'viewer',
    tenant,
    prefix: prefixOf(id),
    created,
    created_by: createdBy,
    expires,
    last_used: lastUsed,
  };
}

function invitationOf({ id, email, role, tenants, created, createdBy, expires }: InvitationRow): Invitation {
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

/** Id of the person who asks, or null when a key does. */
function ownId({ actor }: Caller): string | null {
  return actor.startsWith('user:') ? actor.slice('user:'.length) : null;
}

/** Makes them. */
export function accessOperations(parts: {
  auth: Auth;
  registry: Pick<Registry, 'forgettings' | 'invitations' | 'ledger'>;
  clock: Clock;
}): AccessOperations {
  const { auth, registry, clock } = parts;
  const { people, keys, signIns, limits } = auth;

  const entry = (caller: Caller, type: string, reason: string, tenant: string | null = null): LedgerEntry => ({
    ...ledgerEntry({ clock }, null, causeOf(caller, reason), type),
    tenant,
  });
  const tell = (caller: Caller, type: string, reason: string) => registry.ledger.append([entry(caller, type, reason)]);

  const ownAccount = async (caller: Caller): Promise<string> => {
    const own = ownId(caller);
    if (own !== null) return own;
    if (caller.actor === 'key:admin' && caller.session !== null) return (await people.keyHolder()).id;
    throw new WinterdockError('not_found', 'A key is no person and has no sessions.');
  };
  const personIdOf = async (caller: Caller, id: string): Promise<string> => (id === 'me' ? ownAccount(caller) : id);

  const found = async (id: string): Promise<PersonRecord> => {
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
      const names = Object.keys(RULES) as (keyof Operations)[];
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
      return (await registry.invitations.list(seconds(clock.now()))).map(invitationOf);
    },

    async invite(caller, { email = null, role, tenants = null }) {
      if (email !== null && (await people.byEmail(email)) !== null) {
        throw new WinterdockError('conflict', 'There is an account with this e-mail address already.');
      }
      if (role === 'admin' && tenants !== null) throw adminOfAll();
      const { row, token } = await signIns.invite({ email, role, tenants, createdBy: caller.actor }, (made) => [
        entry(caller, 'person.invited', `${roleText(made)}, invitation ${made.id}`),
      ]);
      return { ...invitationOf(row), link: auth.linkOf(token) };
    },

    async withdrawInvitation(caller, id) {
      const told = [entry(caller, 'invitation.withdrawn', `invitation ${id}`)];
      if (await registry.invitations.withdraw(id, seconds(clock.now()), told)) return;
      throw new WinterdockError('not_found', `There is no open invitation "${id}".`);
    },

    async patchPerson(caller, id, patch) {
      const before = await found(id);
      const { name, role = before.role, tenants = before.tenants, disabled } = patch;
      if (role === 'admin' && tenants !== null && patch.tenants !== undefined) throw adminOfAll();
      const among = role === 'admin' ? null : tenants;
      if (patch.tenants !== undefined) await registry.forgettings.requireNone(among);
      const after = await people.change(id, {
        ...(name === undefined ? {} : { name }),
        ...(disabled === undefined ? {} : { disabled }),
        role,
        tenants: among,
      });
      const was = roleText(before);
      const is = roleText(after);
      if (was !== is || before.name !== after.name)
        await tell(caller, 'person.changed', was === is ? `user:${id}: name` : `user:${id}: ${was} → ${is}`);
      if (before.disabled !== after.disabled)
        await tell(caller, after.disabled ? 'person.disabled' : 'person.enabled', `user:${id}`);
      return personOf(after, await people.sessions(id));
    },

    async sessionsOf(caller, id) {
      const person = await found(await personIdOf(caller, id));
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
      const person = await found(await personIdOf(caller, id));
      const gone = await people.endSessions(person.id, (one) => session === undefined || one.id === session);
      if (gone.length === 0 && session !== undefined)
        throw new WinterdockError('not_found', `There is no session "${session}".`);
      if (gone.length > 0) await tell(caller, 'session.ended', `user:${person.id}, ${gone.length} of them`);
    },

    async changePassword(caller, { current, next }) {
      const own = ownId(caller);
      if (own === null) throw new WinterdockError('not_found', 'A key has no password.');
      const person = await found(own);
      await limits.countAttempt(person.email, caller.address, true);
      if (!(await people.isPassword(person.id, current)))
        throw new WinterdockError('forbidden', 'That is not your password now.');
      await limits.acceptPassword(person.email, caller.address);
      await people.setPassword(person.id, next);
      await people.endSessions(person.id, ({ id }) => id !== caller.session);
      await tell(caller, 'password.changed', `user:${person.id}`);
    },

    listKeys: async () => (await keys.list()).map(keyOf),

    async createKey(caller, { name, role, tenant = null, expires = null }) {
      if (expires !== null && expires <= seconds(clock.now())) {
        throw new WinterdockError('validation', 'expires: must be in the future', {
          extra: { errors: [{ path: 'expires', message: 'must be in the future' }] },
        });
      }
      const wish = { name, role, tenant, expires, createdBy: caller.actor };
      const [row, key] = await keys.make(wish, ({ id }) =>
        entry(caller, 'key.created', `${prefixOf(id)}: ${wordsOf(role, tenant)}`, tenant),
      );
      return { ...keyOf(row), key };
    },

    async revokeKey(caller, id) {
      const row = await keys.get(id);
      const told = entry(caller, 'key.revoked', prefixOf(id), row?.tenant ?? null);
      if (row !== null && (await keys.revoke(id, told))) return;
      throw new WinterdockError('not_found', `There is no key "${id}".`);
    },
  };
}

function wordsOf(role: string, tenant: string | null): string {
  return roleText({ role, tenants: tenant === null ? null : [tenant] });
}

function adminOfAll(): WinterdockError {
  return new WinterdockError('validation', 'tenants: an admin is of all tenants', {
    extra: { errors: [{ path: 'tenants', message: 'an admin is of all tenants' }] },
  });
}
