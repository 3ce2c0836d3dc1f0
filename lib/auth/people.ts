/**
 * Accounts as an admin manages them: roles, tenants, disabling, sessions, passwords. A change of rights takes effect at
 * once, for cached sessions and open streams too. Does not check the caller's own rights: operations do.
 */
import { WinterdockError } from '../base/errors.ts';
import type { AuthLibrary, PersonRecord, SessionRecord } from './library.ts';

export interface People {
  /** Everyone, oldest first, with their open sessions. */
  list(): Promise<(PersonRecord & { sessions: SessionRecord[] })[]>;
  get(id: string): Promise<PersonRecord | null>;
  /** The account of sessions that were opened with the admin key. */
  keyHolder(): Promise<PersonRecord>;
  byEmail(email: string): Promise<PersonRecord | null>;
  /** Throws `not_found`, and `conflict` when no admin would be left. Disabling ends every session. */
  change(
    id: string,
    patch: Partial<Pick<PersonRecord, 'name' | 'role' | 'tenants' | 'disabled'>>,
  ): Promise<PersonRecord>;
  /** Open sessions, the newest first. */
  sessions(id: string): Promise<SessionRecord[]>;
  /** Ends the sessions for which `which` is true. Returns their ids. */
  endSessions(id: string, which: (session: SessionRecord) => boolean): Promise<string[]>;
  isPassword(id: string, password: string): Promise<boolean>;
  setPassword(id: string, password: string): Promise<void>;
}

/**
 * Makes it. `ended` receives the ids of ended sessions; `changed` the person after a change.
 */
export function createPeople(parts: {
  library: () => Promise<AuthLibrary>;
  ended: (sessions: readonly string[]) => void;
  changed: (person: PersonRecord) => void;
}): People {
  const { library, ended, changed } = parts;
  /** Changes run one at a time: two at once could remove the last two admins. */
  let queue: Promise<unknown> = Promise.resolve();

  const change: People['change'] = async (id, patch) => {
    const opened = await library();
    const people = await opened.people();
    const person = people.find((one) => one.id === id);
    if (person === undefined) throw new WinterdockError('not_found', `There is no person "${id}".`);
    const after = { ...person, ...patch };
    const isAdmin = ({ role, disabled }: PersonRecord) => role === 'admin' && !disabled;
    if (people.some(isAdmin) && !people.map((one) => (one.id === id ? after : one)).some(isAdmin)) {
      throw new WinterdockError('conflict', 'No admin would be left.', {
        hint: 'Make another person an admin first.',
      });
    }
    await opened.update(id, patch);
    changed(after);
    if (after.disabled) ended(await opened.endSessions(id, () => true));
    return after;
  };

  return {
    async list() {
      const opened = await library();
      const people = await opened.people();
      return Promise.all(people.map(async (person) => ({ ...person, sessions: await opened.sessions(person.id) })));
    },
    keyHolder: async () => (await library()).keyHolder(),
    get: async (id) => (await library()).person(id),
    byEmail: async (email) => (await library()).personByEmail(email),
    change(id, patch) {
      const done = queue.then(() => change(id, patch));
      queue = done.catch(() => undefined);
      return done;
    },
    sessions: async (id) => (await library()).sessions(id),
    async endSessions(id, which) {
      const gone = await (await library()).endSessions(id, which);
      ended(gone);
      return gone;
    },
    isPassword: async (id, password) => (await library()).isPassword(id, password),
    setPassword: async (id, password) => (await library()).setPassword(id, password),
  };
}
