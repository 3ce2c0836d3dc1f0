/**
 * Every operation there is, made from one file a subject. HTTP handlers, pages and server actions call these and reach
 * the engine by nothing else: validated input in, contract objects out. Each is wrapped by the guard (guard.ts).
 */
import type { Auth } from '../auth/auth.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { Bundles } from '../bundles/bundles.ts';
import type { Blueprints } from '../copies/blueprints.ts';
import type { Repairs } from '../copies/repairs.ts';
import type { Snapshots } from '../copies/snapshots.ts';
import type { Metrics } from '../health/metrics.ts';
import type { StorageHealth } from '../health/storage-health.ts';
import type { JobRunner } from '../jobs/runner.ts';
import type { TenantForgetter } from '../jobs/tenant-forgetter.ts';
import type { LedgerMaintenance } from '../ledger/ledger-maintenance.ts';
import type { Registry } from '../registry/registry.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Drawers } from '../storage/drawer.ts';
import { type BundleOperations, bundleOperations } from './bundles.ts';
import { type CallOperations, callOperations } from './calls.ts';
import { type CopyOperations, copyOperations } from './copies.ts';
import { type FileOperations, fileOperations } from './files.ts';
import { type InstanceOperations, instanceOperations } from './instances.ts';
import { type JobOperations, jobOperations } from './jobs.ts';
import { type KeyOperations, keyOperations } from './keys.ts';
import { type LedgerOperations, ledgerOperations } from './ledger.ts';
import { type MetricsOperations, metricsOperations } from './metrics.ts';
import { type MoveOperations, moveOperations } from './moves.ts';
import { type PeopleOperations, peopleOperations } from './people.ts';
import { type RepairOperations, repairOperations } from './repairs.ts';
import { type SettingsOperations, settingsOperations } from './settings.ts';
import { type StorageOperations, storageOperations } from './storage.ts';
import { type TenantOperations, tenantOperations } from './tenants.ts';

export interface Operations
  extends InstanceOperations,
    MoveOperations,
    CallOperations,
    FileOperations,
    LedgerOperations,
    CopyOperations,
    BundleOperations,
    RepairOperations,
    JobOperations,
    TenantOperations,
    SettingsOperations,
    MetricsOperations,
    StorageOperations,
    PeopleOperations,
    KeyOperations {}

/** The parts of the engine that operations stand on. */
export interface EngineParts {
  auth: Auth;
  blueprints: Blueprints;
  bundles: Bundles;
  clock: Clock;
  config: Pick<Config, 'dataFolder' | 'registryPath'>;
  drawers: Drawers;
  forgetter: Pick<TenantForgetter, 'begin'>;
  health: StorageHealth;
  keeper: LedgerMaintenance;
  metrics: Pick<Metrics, 'resumedWarm' | 'text' | 'wakeTimes'>;
  registry: Registry;
  repairs: Repairs;
  runner: JobRunner;
  sessions: Sessions;
  snapshots: Snapshots;
}

export function createOperations(parts: EngineParts): Operations {
  return {
    ...instanceOperations(parts),
    ...moveOperations(parts),
    ...callOperations(parts),
    ...fileOperations(parts),
    ...ledgerOperations(parts),
    ...copyOperations(parts),
    ...bundleOperations(parts),
    ...repairOperations(parts),
    ...jobOperations(parts),
    ...tenantOperations(parts),
    ...settingsOperations(parts),
    ...metricsOperations(parts),
    ...storageOperations(parts),
    ...peopleOperations(parts),
    ...keyOperations(parts),
  };
}
