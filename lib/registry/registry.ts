/**
 * The registry: one interface for each subject. Every driver (lib/registry/sqlite) passes testing/contract-suite.ts.
 * Every method is one transaction and returns a promise; none takes a callback, a handle or a query. Knows nothing of
 * files or processes.
 */
import type { AgentStore } from './agents.ts';
import type { BackupStore } from './backups.ts';
import type { ClaimStore } from './claims.ts';
import type { CommitEvents } from './commit-events.ts';
import type { CopyStore } from './copies.ts';
import type { CpuUseStore } from './cpu-use.ts';
import type { EnvironmentStore } from './environments.ts';
import type { FactStore } from './facts.ts';
import type { HostStore } from './hosts.ts';
import type { InstanceStore } from './instances.ts';
import type { InvitationStore } from './invitations.ts';
import type { JobStore } from './jobs.ts';
import type { KeyStore } from './keys.ts';
import type { LedgerStore } from './ledger.ts';
import type { MaintenanceStore } from './maintenance.ts';
import type { NetworkStore } from './network.ts';
import type { PeopleStore } from './people.ts';
import type { QuotaStore } from './quotas.ts';
import type { RunStore } from './runs.ts';
import type { ScheduleStore } from './schedules.ts';
import type { SecretStore } from './secrets.ts';
import type { SegmentStore } from './segments.ts';
import type { ShareStore } from './shares.ts';
import type { RegistryStorage } from './storage.ts';
import type { StoreNameStore } from './store-names.ts';
import type { TenantForgettingStore } from './tenant-forgettings.ts';
import type { ThresholdStore } from './threshold-store.ts';
import type { UsageStore } from './usage.ts';
import type { WakeTimeStore } from './wake-times.ts';
import type { WebhookStore } from './webhooks.ts';
import type { WorkbookStore } from './workbooks.ts';
import type { WriteStore } from './write-store.ts';

export interface Registry {
  readonly instances: InstanceStore;
  readonly ledger: LedgerStore;
  /** The sealed months of the ledger. */
  readonly segments: SegmentStore;
  /** One verb applied to many instances. */
  readonly jobs: JobStore;
  /** What runs in instances by itself, and when. */
  readonly schedules: ScheduleStore;
  /** Who is told of ledger lines. */
  readonly webhooks: WebhookStore;
  /** What sandboxes may reach of the network, and what they did reach. */
  readonly network: NetworkStore;
  /** What was begun in instances and outlives its request. */
  readonly runs: RunStore;
  /** Variables that guests find in their environment. */
  readonly environments: EnvironmentStore;
  /** What is added to guests' requests and never shown to them. */
  readonly secrets: SecretStore;
  /** The keys of programs. */
  readonly keys: KeyStore;
  /** Invitations: links that let people in. */
  readonly invitations: InvitationStore;
  /** People and their sessions, as the auth library keeps them. */
  readonly people: PeopleStore;
  /** Agents of the session API. */
  readonly agents: AgentStore;
  /** Snapshots, blueprints, and their clones. */
  readonly copies: CopyStore;
  /** Bundles that were exported. */
  readonly shares: ShareStore;
  /** Quotas of tenants, and their usage. */
  readonly quotas: QuotaStore;
  /** Removal of all data of a tenant. */
  readonly tenantForgettings: TenantForgettingStore;
  readonly thresholds: ThresholdStore;
  /** Small values by name that survive a restart. */
  readonly facts: FactStore;
  /** Durations of wakes. */
  readonly wakeTimes: WakeTimeStore;
  /** Processor time of tenants by day, and its quotas. */
  readonly cpuUse: CpuUseStore;
  /** What sandboxes, tenants and the server took, by the hour. */
  readonly usage: UsageStore;
  /** Workbooks: sources with their versions and plans. */
  readonly workbooks: WorkbookStore;
  /** Work that any host may do, and that one does at a time. */
  readonly claims: ClaimStore;
  /** The names of objects in the store. */
  readonly storeNames: StoreNameStore;
  /** Backups that the server makes. */
  readonly backups: BackupStore;
  /** The servers that use it, and their terms. */
  readonly hosts: HostStore;
  readonly maintenance: MaintenanceStore;
  /** How it is stored. */
  readonly storage: RegistryStorage;
  /** The ids of writes that were made. */
  readonly writes: WriteStore;
  /** Notifies listeners in this process of the registry's commits, those of other processes too. */
  readonly commitEvents: CommitEvents;
  /**
   * The same registry, for one write that carries this random id: its transaction notes the id with what it changes.
   * When the id is noted already, it changes nothing and rejects with `madeBefore` (write-store.ts).
   */
  carrying(writeId: string): Registry;
  /** Closes it. Idempotent. */
  close(): Promise<void>;
}
