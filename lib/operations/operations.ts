/**
 * Every operation there is, made from one file a subject. HTTP handlers, pages and server actions call these and reach
 * the engine by nothing else: validated input in, contract objects out. Each is wrapped by the guard (guard.ts).
 */
import type { Auth } from '../auth/auth.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { SecretSealer } from '../base/sealed-secrets.ts';
import type { Bundles } from '../bundles/bundles.ts';
import type { Agents } from '../copies/agents.ts';
import type { Blueprints } from '../copies/blueprints.ts';
import type { Repairs } from '../copies/repairs.ts';
import type { Snapshots } from '../copies/snapshots.ts';
import type { LoadSampler } from '../health/load/load-sampler.ts';
import type { Metrics } from '../health/metrics.ts';
import type { StorageHealth } from '../health/storage-health.ts';
import type { UsageUpkeep } from '../health/usage-upkeep.ts';
import type { HostWatch } from '../hosts/host-watch.ts';
import type { JobRunner } from '../jobs/runner.ts';
import type { TenantForgetter } from '../jobs/tenant-forgetter.ts';
import type { TenantStore } from '../jobs/tenant-objects.ts';
import type { LedgerMaintenance } from '../ledger/ledger-maintenance.ts';
import type { SandboxLogs } from '../logs/sandbox-logs.ts';
import type { NetworkBroker } from '../network/broker.ts';
import type { AddressPolicy } from '../outgoing/address-policy.ts';
import type { Registry } from '../registry/registry.ts';
import type { Runs } from '../runs/runs.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { Scheduler } from '../schedules/scheduler.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Drawers } from '../storage/drawer.ts';
import type { Terminals } from '../terminals/terminals.ts';
import type { WebhookCourier } from '../webhooks/courier.ts';
import type { SourceParser } from '../workbooks/source-parser.ts';
import type { InstancePool } from '../workers/protocol/instance.ts';
import { type AgentOperations, agentOperations } from './agents.ts';
import { type AttentionOperations, attentionOperations } from './attention.ts';
import { type BackupEngine, type BackupOperations, backupOperations } from './backups.ts';
import { type BundleOperations, bundleOperations } from './bundles.ts';
import { type CallOperations, callOperations } from './calls.ts';
import { type ComponentCallOperations, componentCallOperations } from './component-calls.ts';
import { type CopyOperations, copyOperations } from './copies.ts';
import { type EnvironmentOperations, environmentOperations } from './environments.ts';
import { type FileOperations, fileOperations } from './files.ts';
import { withHeldOperations } from './held-operations.ts';
import { type HostOperations, hostOperations } from './hosts.ts';
import { type InstanceOperations, instanceOperations } from './instances.ts';
import { type JobOperations, jobOperations } from './jobs.ts';
import type { KeptLimits } from './kept-series.ts';
import { type KeyOperations, keyOperations } from './keys.ts';
import { type LedgerOperations, ledgerOperations } from './ledger.ts';
import { type LoadOperations, loadOperations } from './load.ts';
import { type LogOperations, logOperations } from './logs.ts';
import { type MetricsOperations, metricsOperations } from './metrics.ts';
import { type MomentOperations, momentOperations } from './moments.ts';
import { type MoveOperations, moveOperations } from './moves.ts';
import { type NetworkOperations, networkOperations } from './network.ts';
import { type PeopleOperations, peopleOperations } from './people.ts';
import { type ProfileOperations, profileOperations } from './profile.ts';
import { type RepairOperations, repairOperations } from './repairs.ts';
import { type SandboxRunOperations, sandboxRunOperations } from './runs.ts';
import { type ScheduleOperations, scheduleOperations } from './schedules.ts';
import { type SecretOperations, secretOperations } from './secrets.ts';
import { type SettingsOperations, settingsOperations } from './settings.ts';
import { type StorageOperations, storageOperations } from './storage.ts';
import { type TenantOperations, tenantOperations } from './tenants.ts';
import { type TerminalOperations, terminalOperations } from './terminals.ts';
import { type UsageOperations, usageOperations } from './usage.ts';
import { type WarningOperations, warningOperations } from './warnings.ts';
import { type WebhookOperations, webhookOperations } from './webhooks.ts';
import { type WorkbookOperations, workbookOperations } from './workbooks.ts';

export interface Operations
  extends InstanceOperations,
    MoveOperations,
    CallOperations,
    SandboxRunOperations,
    LogOperations,
    TerminalOperations,
    ComponentCallOperations,
    FileOperations,
    MomentOperations,
    LedgerOperations,
    CopyOperations,
    AgentOperations,
    BundleOperations,
    RepairOperations,
    JobOperations,
    ScheduleOperations,
    TenantOperations,
    EnvironmentOperations,
    SecretOperations,
    WorkbookOperations,
    SettingsOperations,
    MetricsOperations,
    StorageOperations,
    BackupOperations,
    HostOperations,
    UsageOperations,
    LoadOperations,
    PeopleOperations,
    ProfileOperations,
    WarningOperations,
    AttentionOperations,
    KeyOperations,
    WebhookOperations,
    NetworkOperations {}

/** The parts of the engine that operations stand on. */
export interface EngineParts {
  agents: Agents;
  auth: Auth;
  backups: BackupEngine;
  blueprints: Blueprints;
  bundles: Bundles;
  clock: Clock;
  courier: Pick<WebhookCourier, 'changed' | 'test'>;
  config: KeptLimits &
    Pick<
      Config,
      | 'backupPassphrase'
      | 'dataFolder'
      | 'hostName'
      | 'keysFolder'
      | 'maxActive'
      | 'maxCallMs'
      | 'maxFileBytes'
      | 'scheduleSpreadSeconds'
      | 'schedulesPerSandbox'
      | 'schedulesPerTenant'
      | 'store'
    >;
  drawers: Drawers;
  forgetter: Pick<TenantForgetter, 'begin'>;
  health: StorageHealth;
  keeper: LedgerMaintenance;
  logs: SandboxLogs;
  guard: AddressPolicy;
  network: Pick<NetworkBroker, 'flush'>;
  metrics: Pick<Metrics, 'resumedWarm' | 'resumes' | 'text' | 'wakeTimes'>;
  pool: Pick<InstancePool, 'active' | 'claimed' | 'ready' | 'startedAhead' | 'requirePolicy'>;
  registry: Registry;
  repairs: Repairs;
  runner: JobRunner;
  sealer: SecretSealer;
  secrets: Secrets;
  runs: Runs;
  terminals: Terminals;
  scheduler: Scheduler;
  sandboxes: Sandboxes;
  snapshots: Snapshots;
  sourceParser: SourceParser;
  store: TenantStore | null;
  usage: Pick<UsageUpkeep, 'count'>;
  /** The hosts as this one sees them; null: nobody else uses the registry. */
  watch: Pick<HostWatch, 'get' | 'look'> | null;
  load: Pick<LoadSampler, 'minutesOf' | 'samplesOf' | 'sinceMs' | 'top'>;
}

export function createOperations(parts: EngineParts): Operations {
  const operations: Operations = {
    ...instanceOperations(parts),
    ...moveOperations(parts),
    ...callOperations(parts),
    ...sandboxRunOperations(parts),
    ...logOperations(parts),
    ...terminalOperations(parts),
    ...componentCallOperations(parts),
    ...fileOperations(parts),
    ...momentOperations(parts),
    ...ledgerOperations(parts),
    ...copyOperations(parts),
    ...agentOperations(parts),
    ...bundleOperations(parts),
    ...repairOperations(parts),
    ...jobOperations(parts),
    ...scheduleOperations(parts),
    ...tenantOperations(parts),
    ...environmentOperations(parts),
    ...secretOperations(parts),
    ...workbookOperations(parts),
    ...settingsOperations(parts),
    ...metricsOperations(parts),
    ...storageOperations(parts),
    ...backupOperations(parts),
    ...hostOperations(parts),
    ...usageOperations(parts),
    ...loadOperations(parts),
    ...peopleOperations(parts),
    ...profileOperations(parts),
    ...warningOperations(parts),
    ...attentionOperations(parts, () => operations),
    ...keyOperations(parts),
    ...webhookOperations(parts),
    ...networkOperations(parts),
  };
  const hasReplica = parts.config.store.replica !== null;
  return withHeldOperations(operations, { sandboxes: parts.sandboxes, hasReplica });
}
