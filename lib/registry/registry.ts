/**
 * The registry's contract, an interface for each subject. A driver (lib/registry/sqlite) passes the one suite in
 * contract.ts. Every method is one transaction, and returns a promise; nobody passes it a callback, a handle or a
 * query. Knows nothing of files or processes.
 */
import type { CopyStore } from './copies.ts';
import type { Facts } from './facts.ts';
import type { Feed } from './feed.ts';
import type { Forgettings } from './forgettings.ts';
import type { Instances } from './instances.ts';
import type { InvitationBook } from './invitations.ts';
import type { Jobs } from './jobs.ts';
import type { KeyBook } from './keys.ts';
import type { LedgerBook } from './ledger.ts';
import type { PeopleBook } from './people.ts';
import type { Quotas } from './quotas.ts';
import type { Segments } from './segments.ts';
import type { Settings } from './settings.ts';
import type { Shares } from './shares.ts';
import type { Upkeep } from './upkeep.ts';
import type { WakeTimes } from './wake-times.ts';

export interface Registry {
  readonly instances: Instances;
  readonly ledger: LedgerBook;
  /** The sealed months of the ledger. */
  readonly segments: Segments;
  /** Things to be done to many instances. */
  readonly jobs: Jobs;
  /** The keys of programs. */
  readonly keys: KeyBook;
  /** Links that let people in. */
  readonly invitations: InvitationBook;
  /** People and their sessions, as the auth library keeps them. */
  readonly people: PeopleBook;
  /** Snapshots, blueprints, and what was made from them. */
  readonly copies: CopyStore;
  /** What left in bundles. */
  readonly shares: Shares;
  /** What tenants may have, and what they have. */
  readonly quotas: Quotas;
  /** Tenants that are being forgotten, and how they go. */
  readonly forgettings: Forgettings;
  readonly settings: Settings;
  /** Small facts that outlive a restart. */
  readonly facts: Facts;
  /** How long wakes took. */
  readonly wakeTimes: WakeTimes;
  readonly upkeep: Upkeep;
  /** What was committed through this registry, told to whoever listens in this process. */
  readonly feed: Feed;
  /** Ends it. Idempotent. */
  close(): Promise<void>;
}
