/** The registry on one SQLite file. Wires the parts together; each has its own file. */
import { epochSeconds, systemClock } from '../../base/clock.ts';
import type { AgentStore } from '../agents.ts';
import type { BackupStore } from '../backups.ts';
import type { ClaimStore } from '../claims.ts';
import type { CopyStore } from '../copies.ts';
import type { CpuUseStore } from '../cpu-use.ts';
import type { RegistryOptions } from '../driver.ts';
import type { EnvironmentStore } from '../environments.ts';
import type { FactStore } from '../facts.ts';
import type { HostStore } from '../hosts.ts';
import type { DueRow, InstanceStore } from '../instances.ts';
import type { InvitationStore } from '../invitations.ts';
import type { JobStore } from '../jobs.ts';
import type { KeyStore } from '../keys.ts';
import type { LedgerStore, LedgerView } from '../ledger.ts';
import type { MaintenanceStore } from '../maintenance.ts';
import type { NetworkStore } from '../network.ts';
import type { QuotaStore } from '../quotas.ts';
import type { Registry } from '../registry.ts';
import type { RunStore } from '../runs.ts';
import type { ScheduleStore } from '../schedules.ts';
import type { SecretStore } from '../secrets.ts';
import type { SegmentStore } from '../segments.ts';
import type { ShareStore } from '../shares.ts';
import type { RegistryStorage } from '../storage.ts';
import type { StoreNameStore } from '../store-names.ts';
import type { TenantForgettingStore } from '../tenant-forgettings.ts';
import type { ThresholdStore } from '../threshold-store.ts';
import { effectiveThresholds } from '../thresholds.ts';
import type { InstanceRow, Thresholds } from '../types.ts';
import type { UsageStore } from '../usage.ts';
import type { WakeTimeStore } from '../wake-times.ts';
import type { WebhookStore } from '../webhooks.ts';
import type { WorkbookStore } from '../workbooks.ts';
import type { WriteStore } from '../write-store.ts';
import { openAgents } from './agents.ts';
import { openBackups } from './backups.ts';
import { carryingWrites } from './carried-writes.ts';
import { ClaimTable } from './claims.ts';
import { openCopies } from './copies.ts';
import {
  readBytesByState,
  readCountsByFault,
  readCountsByFaultOf,
  readCountsByState,
  readCountsByStateOf,
  tenantsWithCounts,
} from './counts.ts';
import { openCpuUse } from './cpu-use.ts';
import { RegistryDatabase } from './database.ts';
import { openDueCounts } from './due-counts.ts';
import { openEnvironments } from './environments.ts';
import { openFacts } from './facts.ts';
import { openHosts } from './hosts.ts';
import { InstanceQueries } from './instance-queries.ts';
import { findRow } from './instance-rows.ts';
import { InvitationTable } from './invitations.ts';
import { openJobs } from './jobs.ts';
import { keptRows } from './kept-rows.ts';
import { KeyTable } from './keys.ts';
import { LedgerTable } from './ledger.ts';
import { openLedgerFile } from './ledger-file.ts';
import { lifeLines } from './life-lines.ts';
import { InstanceLists } from './lists.ts';
import { openNetwork } from './network.ts';
import { PeopleTables } from './people.ts';
import { QuotaTable } from './quotas.ts';
import { readTransitions } from './recorded-transitions.ts';
import { recount } from './recount.ts';
import { openRuns } from './runs.ts';
import { ScheduleAllowanceCheck } from './schedule-allowance.ts';
import { openSchedules } from './schedules.ts';
import { openSecrets } from './secrets.ts';
import { SeedingChunks } from './seeding-chunks.ts';
import { SegmentTable } from './segments.ts';
import { openShares } from './shares.ts';
import { openStorage } from './storage.ts';
import { StoreNameTable } from './store-names.ts';
import { storedRows } from './stored-rows.ts';
import { takenRows } from './taken-rows.ts';
import { openTenantForgettings } from './tenant-forgettings.ts';
import { ThresholdTable } from './threshold-table.ts';
import { compareThresholds } from './threshold-trial.ts';
import { type SyncMethods, toAsync } from './to-async.ts';
import { openUsage } from './usage.ts';
import { openWakeTimes } from './wake-times.ts';
import { openWebhooks } from './webhooks.ts';
import { openWorkbooks } from './workbooks.ts';
import { openWriteIds } from './write-ids.ts';
import { InstanceWriter } from './writes.ts';

const RUNS_PER_SCHEDULE = 100;

/**
 * Opens the registry; creates and migrates the file. `path` is absolute or `:memory:`. Throws SQLite's errors when the
 * file cannot be opened. The driver is the one place that calls it.
 */
export function openSqliteRegistry(
  options: RegistryOptions & {
    path: string;
    /** The path that it was named by, which may be a link to it. */
    link?: string;
  },
): Registry {
  const clock = options.clock ?? systemClock;
  const database = new RegistryDatabase(options.path, options);
  const ledger = new LedgerTable(database);
  const { commitEvents } = ledger;
  const lists = new InstanceLists(database);
  const thresholds = new ThresholdTable(database, options.thresholds, clock);
  const quotas = new QuotaTable(database, ledger);
  const chunks = new SeedingChunks(database);
  const room = new ScheduleAllowanceCheck(database);
  const claims = new ClaimTable(database, clock);
  const { scheduleLimits = { perSandbox: Number.MAX_SAFE_INTEGER, perTenant: Number.MAX_SAFE_INTEGER } } = options;
  const docking = {
    requireDockable: (rows: readonly InstanceRow[], later?: number) =>
      room.requireDockable(rows, scheduleLimits, later),
  };
  const storeNames = new StoreNameTable(database, clock);
  const queries = new InstanceQueries(database);
  const writes = new InstanceWriter({
    database,
    queries,
    ledger,
    lists,
    thresholds,
    quotas,
    chunks,
    docking,
    storeNames,
  });
  const due = (until: number, limit: number, whose: { tenants?: readonly string[]; host?: string } = {}): DueRow[] => {
    const byTenant = new Map<string, Thresholds>();
    return queries.due(until, limit, whose).map((row) => {
      const ofTenant = byTenant.get(row.tenant) ?? thresholds.ofTenant(row.tenant);
      byTenant.set(row.tenant, ofTenant);
      return { row, thresholds: effectiveThresholds(row, ofTenant) };
    });
  };

  const instances: SyncMethods<InstanceStore> = {
    create: (instance, now, entry) => writes.create(instance, now, entry),
    tenantOf: (id) => queries.tenantOf(id),
    get: (id) => findRow(database, id),
    patch: (id, patch, _now, entry, asRead) => writes.patch(id, patch, entry, asRead),
    relabel: (...args) => writes.relabel(...args),
    begin: (...args) => writes.begin(...args),
    abandon: (...args) => writes.abandon(...args),
    commit: (transition) => writes.commit(transition),
    setFault: (...args) => writes.setFault(...args),
    recordCheck: (...args) => writes.recordCheck(...args),
    touch: (touches) => writes.touch(touches),
    clampUpdated: (...args) => writes.clampUpdated(...args),
    list: (request) => lists.page(request),
    count: (filter, cap) => lists.count(filter, cap),
    total: (filter, cap) => lists.total(filter, cap),
    countsByState: (tenants) =>
      tenants === undefined ? readCountsByState(database) : readCountsByStateOf(database, tenants),
    countsByFault: (tenants) =>
      tenants === undefined ? readCountsByFault(database) : readCountsByFaultOf(database, tenants),
    tenants: () => tenantsWithCounts(database),
    due: (now, limit, host) => due(now, limit, host === undefined ? {} : { host }),
    dueUntil: (until, limit, tenants) => due(until, limit, tenants === undefined ? {} : { tenants }),
    dueCounts: openDueCounts(database),
    unsettled: (host) => queries.unsettled(host),
    withFile: (after, limit) => queries.withFile(after, limit),
    stillHeld: (ids, tokens) => queries.stillHeld(ids, tokens),
    adopt: (...args) => writes.adopt(...args),
    ...storedRows(database, queries, ledger, storeNames),
    ...takenRows(database, ledger),
  };
  const writeIds = openWriteIds(database, clock);
  const { isNew } = writeIds;
  const segments = new SegmentTable(database, ledger);
  // A registry in memory has one connection, so it is read through that one.
  const isFile = !database.client.memory;
  const living: SyncMethods<LedgerView> = {
    lines: (seq, limit) => ledger.chain(seq, limit),
    segments: () => segments.list(),
    close: () => undefined,
  };
  const book: SyncMethods<LedgerStore> = {
    append(entries, writeId) {
      ledger.announce(database.write(() => (isNew(writeId) ? ledger.append(entries) : [])));
    },
    appendRepeatCounts(nowMs, { all = false } = {}) {
      ledger.announce(database.write(() => ledger.appendRepeatCounts(nowMs, all)));
      ledger.announceOthers();
    },
    page: (filter, limit, cursor) => ledger.page(filter, limit, cursor),
    after: (seq, limit) => ledger.after(seq, limit),
    ofTenants: (tenants, { from, to }, limit) => ledger.ofTenants(tenants, from, to, limit),
    lastSeq: () => ledger.lastSeq(),
    chain: (seq, limit) => ledger.chain(seq, limit),
    head: () => ledger.head(),
    acknowledged: () => ledger.head(),
    view: () => toAsync<LedgerView>(isFile ? openLedgerFile(options.path) : living),
    transitions: (sinceMs, tenants) => readTransitions(database, sinceMs, tenants),
    ...lifeLines(database),
  };
  const settings: SyncMethods<ThresholdStore> = {
    ofTenant: (tenant) => thresholds.ofTenant(tenant),
    global: () => thresholds.global(),
    setGlobal(patch, entry) {
      const [changed, lines] = database.write(() => [thresholds.setGlobal(patch), ledger.append([entry])] as const);
      ledger.announce(lines);
      return changed;
    },
    setOfTenant(tenant, patch, entry) {
      const [changed, lines] = database.write(
        () => [thresholds.setTenant(tenant, patch), ledger.append([entry])] as const,
      );
      ledger.announce(lines);
      return changed;
    },
    compare: (trial) => compareThresholds(database, thresholds.global(), trial),
  };
  const storage = openStorage({
    database,
    path: options.path,
    link: options.link ?? options.path,
    textsRemoved: () => lists.textsChanged('removed'),
  });
  const maintenance: SyncMethods<MaintenanceStore> = {
    sizes: () => ({ rows: readCountsByState(database), fileBytes: readBytesByState(database) }),
    keptRows: keptRows(database),
    ping() {
      queries.ping(epochSeconds(clock));
    },
    recount: (entry) => recount(database, ledger, entry),
  };

  const registry: Registry = {
    instances: toAsync<InstanceStore>(instances),
    ledger: toAsync<LedgerStore>(book),
    segments: toAsync<SegmentStore>(segments),
    jobs: toAsync<JobStore>(
      openJobs(database, ledger, commitEvents, (filter, fields) => lists.everything(filter, fields)),
    ),
    schedules: toAsync<ScheduleStore>(
      openSchedules(database, ledger, claims, room, options.runsPerSchedule ?? RUNS_PER_SCHEDULE),
    ),
    webhooks: toAsync<WebhookStore>(openWebhooks(database, ledger)),
    network: toAsync<NetworkStore>(openNetwork(database, ledger, isNew)),
    runs: toAsync<RunStore>(openRuns(database, ledger)),
    environments: toAsync<EnvironmentStore>(openEnvironments(database, ledger)),
    agents: toAsync<AgentStore>(openAgents(database, ledger)),
    secrets: toAsync<SecretStore>(openSecrets(database, ledger)),
    keys: toAsync<KeyStore>(new KeyTable(database, ledger)),
    invitations: toAsync<InvitationStore>(new InvitationTable(database, ledger)),
    people: new PeopleTables(database),
    copies: toAsync<CopyStore>(openCopies({ database, ledger, writes, quotas, chunks })),
    shares: toAsync<ShareStore>(openShares(database, ledger)),
    quotas: toAsync<QuotaStore>(quotas),
    tenantForgettings: toAsync<TenantForgettingStore>(
      openTenantForgettings(database, ledger, () => lists.textsChanged('removed')),
    ),
    thresholds: toAsync<ThresholdStore>(settings),
    facts: toAsync<FactStore>(openFacts(database, ledger)),
    wakeTimes: toAsync<WakeTimeStore>(openWakeTimes(database, isNew)),
    cpuUse: toAsync<CpuUseStore>(openCpuUse(database)),
    usage: toAsync<UsageStore>(openUsage(database, () => ledger.lastSeq(), isNew)),
    workbooks: toAsync<WorkbookStore>(openWorkbooks(database, ledger)),
    storeNames: toAsync<StoreNameStore>(storeNames.store()),
    claims: toAsync<ClaimStore>(claims.store()),
    backups: toAsync<BackupStore>(openBackups(database, ledger)),
    hosts: toAsync<HostStore>(openHosts(database, ledger)),
    maintenance: toAsync<MaintenanceStore>(maintenance),
    storage: toAsync<RegistryStorage>(storage),
    writes: toAsync<WriteStore>({
      ...writeIds.store,
      rowMadeBy: (id, writeId) => {
        const row = findRow(database, id);
        return row?.writeId === writeId ? row : null;
      },
    }),
    commitEvents,
    carrying: (writeId) => carryingWrites(registry, database, () => writeIds.requireNew(writeId)),
    async close() {
      database.close();
    },
  };
  return registry;
}
