/** The operations about access: people, their sessions, keys, and what the caller itself may do. */
import type { Caller } from '../../auth/caller.ts';
import type {
  CreatedKey,
  Invitation,
  Invited,
  InviteInput,
  Key,
  KeyInput,
  Me,
  PasswordChange,
  Person,
  PersonPatch,
  PersonSession,
} from '../../contract/schema/access.ts';

export interface AccessOperations {
  me(caller: Caller): Promise<Me>;
  people(caller: Caller): Promise<Person[]>;
  /** Invitations that are neither used nor expired. */
  invitations(caller: Caller): Promise<Invitation[]>;
  /** Makes a link that lets one person in, once and for a week. Throws `conflict` when the address has an account. */
  invite(caller: Caller, input: InviteInput): Promise<Invited>;
  withdrawInvitation(caller: Caller, id: string): Promise<void>;
  /** Throws `conflict` when nobody would be left who is an admin. */
  patchPerson(caller: Caller, id: string, patch: PersonPatch): Promise<Person>;
  /** `id` is a person's or `me`. */
  sessionsOf(caller: Caller, id: string): Promise<PersonSession[]>;
  /** Ends one session of a person, or all of them. */
  endSession(caller: Caller, id: string, which: { session?: string }): Promise<void>;
  /** Sets the caller's own password and ends all its other sessions. Throws `forbidden` when `current` is wrong. */
  changePassword(caller: Caller, change: PasswordChange): Promise<void>;
  listKeys(caller: Caller): Promise<Key[]>;
  createKey(caller: Caller, input: KeyInput): Promise<CreatedKey>;
  /** Holds at once, for open streams too. */
  revokeKey(caller: Caller, id: string): Promise<void>;
}
