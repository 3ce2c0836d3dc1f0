/** The registry on a database of Postgres. Wires the parts together; each has its own file. */
import { epochSeconds, systemClock } from '../../base/clock.ts';
import type { RegistryOptions } from '../driver.ts';
import type { DueRow, InstanceStore } from '../instances.ts';
import type { LedgerStore } from '../ledger.ts';
import type { MaintenanceStore } from '../maintenance.ts';
import type { Registry } from '../registry.ts';
import { FOUND } from '../statements/jobs.ts';
import type { ThresholdStore } from '../threshold-store.ts';
import { effectiveThresholds } from '../thresholds.ts';
import type { InstanceRow, Thresholds } from '../types.ts';
import { AcknowledgedChain } from './acknowledged.ts';
import { openAgents } from './agents.ts';
import { openBackups } from './backups.ts';
import { carryingWrites } from './carried-writes.ts';
import { HotWrites } from './change-with-lines.ts';
import { ClaimTable } from './claims.ts';
import { openCopies } from './copies.ts';
import { InstanceCounts } from './counts.ts';
import { openCpuUse } from './cpu-use.ts';
import type { PostgresDatabase } from './database.ts';
import { openDueCounts } from './due-counts.ts';
import { openEnvironments } from './environments.ts';
import { openFacts } from './facts.ts';
import { type Listen, RegistryFollower } from './follower.ts';
import { openHosts } from './hosts.ts';
import { InstanceQueries } from './instance-queries.ts';
import { findRow } from './instance-rows.ts';
import { InvitationTable } from './invitations.ts';
import { openJobs } from './jobs.ts';
import { keptRows } from './kept-rows.ts';
import { KeyTable } from './keys.ts';
import { LedgerTable } from './ledger.ts';
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
import { openUsage } from './usage.ts';
import { openWakeTimes } from './wake-times.ts';
import { openWebhooks } from './webhooks.ts';
import { openWorkbooks } from './workbooks.ts';
import { openWriteIds } from './write-ids.ts';
import { InstanceWriter } from './writes.ts';

const RUNS_PER_SCHEDULE = 100;
/** Rows of a selection that are read at once. */
const PIECE = 1000;
const NO_LIMITS = { perSandbox: Number.MAX_SAFE_INTEGER, perTenant: Number.MAX_SAFE_INTEGER };

/**
 * Opens the registry that `database` is connected to, whose tables are there. It closes the connections. `name`: for
 * people. `listen`: with it the registry follows what other processes commit.
 */
export async function openPostgresRegistry(
  database: PostgresDatabase,
  options: RegistryOptions & { name: string; listen?: Listen },
): Promise<Registry> {
  const clock = options.clock ?? systemClock;
  const [[position, hash] = []] = await database.ask('select seq, hash from ledger_head');
  const ledger = new LedgerTable(database, Number(position));
  const { commitEvents } = ledger;
  const { listen } = options;
  const ask = (text: string) => database.ask(text);
  const follower = listen === undefined ? null : new RegistryFollower({ listen, ask, ledger });
  if (follower === null) commitEvents.hearBy(() => false);
  else ledger.onCommitted = (seq) => follower.committed(seq);
  const acknowledged = new AcknowledgedChain({ seq: Number(position), hash: String(hash) });
  commitEvents.onLedgerAppend(({ origin, lines }) => acknowledged.add(lines, origin === commitEvents.origin));
  database.examine((sql) => acknowledged.check(sql));
  const counts = new InstanceCounts(database);
  const lists = new InstanceLists(database, counts);
  const thresholds = new ThresholdTable(database, options.thresholds, clock);
  await thresholds.start();
  const quotas = new QuotaTable(database, ledger);
  const chunks = new SeedingChunks(database);
  const room = new ScheduleAllowanceCheck(database);
  const claims = new ClaimTable(database, clock);
  const { scheduleLimits = NO_LIMITS } = options;
  const docking = {
    requireDockable: (rows: readonly InstanceRow[], later?: number) =>
      room.requireDockable(rows, scheduleLimits, later),
  };
  const storeNames = new StoreNameTable(database, clock);
  const queries = new InstanceQueries(database);
  const hot = new HotWrites(database, ledger, options.thresholds);
  const writes = new InstanceWriter({
    database,
    queries,
    ledger,
    thresholds,
    quotas,
    chunks,
    docking,
    storeNames,
    hot,
  });
  const due = async (
    until: number,
    limit: number,
    whose: { tenants?: readonly string[]; host?: string } = {},
  ): Promise<DueRow[]> => {
    const byTenant = new Map<string, Thresholds>();
    const rows = await queries.due(until, limit, whose);
    for (const tenant of new Set(rows.map((row) => row.tenant)))
      byTenant.set(tenant, await thresholds.ofTenant(tenant));
    return rows.map((row) => ({
      row,
      thresholds: effectiveThresholds(row, byTenant.get(row.tenant) ?? options.thresholds),
    }));
  };

  const instances: InstanceStore = {
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
    touch: (touches) => hot.touch(touches),
    clampUpdated: (...args) => writes.clampUpdated(...args),
    list: (request) => lists.page(request),
    count: (filter, cap) => lists.count(filter, cap),
    total: (filter, cap) => lists.total(filter, cap),
    countsByState: (tenants) => counts.byState(tenants),
    countsByFault: (tenants) => counts.byFault(tenants),
    tenants: () => counts.tenants(),
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
  const book: LedgerStore = {
    async append(entries, id) {
      const note = id === undefined ? null : { id, atMs: await writeIds.tidy() };
      await hot.append(ledger.admit(entries), note);
    },
    async appendRepeatCounts(nowMs, { all = false } = {}) {
      await ledger.announce(await database.write(() => ledger.appendRepeatCounts(nowMs, all)));
      await ledger.announceOthers();
    },
    page: (filter, limit, cursor) => ledger.page(filter, limit, cursor),
    after: (seq, limit) => ledger.after(seq, limit),
    ofTenants: (tenants, { from, to }, limit) => ledger.ofTenants(tenants, from, to, limit),
    lastSeq: () => ledger.lastSeq(),
    chain: (seq, limit) => ledger.chain(seq, limit),
    head: () => ledger.head(),
    acknowledged: async () => acknowledged.head ?? (await ledger.head()),
    async view() {
      const moment = await database.moment();
      return {
        lines: (seq, limit) => moment.run(() => ledger.chain(seq, limit)),
        segments: () => moment.run(() => segments.list()),
        close: () => moment.close(),
      };
    },
    transitions: async (sinceMs, tenants) => readTransitions(database, sinceMs, tenants),
    ...lifeLines(database),
  };
  const settings: ThresholdStore = {
    ofTenant: (tenant) => thresholds.ofTenant(tenant),
    global: () => thresholds.global(),
    setGlobal: (patch, entry) =>
      ledger.logged(async (append) => {
        const changed = await thresholds.setGlobal(patch);
        await append([entry]);
        return changed;
      }),
    setOfTenant: (tenant, patch, entry) =>
      ledger.logged(async (append) => {
        const changed = await thresholds.setTenant(tenant, patch);
        await append([entry]);
        return changed;
      }),
    compare: async (trial) => compareThresholds(database, await thresholds.global(), trial),
  };
  const maintenance: MaintenanceStore = {
    sizes: async () => ({ rows: await counts.byState(), fileBytes: await counts.bytesByState() }),
    keptRows: keptRows(database),
    ping: () => queries.ping(epochSeconds(clock)),
    recount: (entry) => recount(database, ledger, entry),
  };

  const registry: Registry = {
    instances,
    ledger: book,
    segments,
    jobs: openJobs(database, ledger, commitEvents, (filter) => lists.everything(filter, FOUND, PIECE)),
    schedules: openSchedules(database, ledger, claims, room, options.runsPerSchedule ?? RUNS_PER_SCHEDULE),
    webhooks: openWebhooks(database, ledger),
    network: openNetwork(database, ledger, isNew),
    runs: openRuns(database, ledger),
    environments: openEnvironments(database, ledger),
    agents: openAgents(database, ledger),
    secrets: openSecrets(database, ledger),
    keys: new KeyTable(database, ledger),
    invitations: new InvitationTable(database, ledger),
    people: new PeopleTables(database),
    copies: openCopies({ database, ledger, writes, quotas, chunks }),
    shares: openShares(database, ledger),
    quotas,
    tenantForgettings: openTenantForgettings(database, ledger),
    thresholds: settings,
    facts: openFacts(database, ledger),
    wakeTimes: openWakeTimes(database, isNew),
    cpuUse: openCpuUse(database),
    usage: openUsage(database, () => ledger.lastSeq(), isNew),
    workbooks: openWorkbooks(database, ledger),
    storeNames: storeNames.store(),
    claims: claims.store(),
    backups: openBackups(database, ledger),
    hosts: openHosts(database, ledger),
    maintenance,
    storage: openStorage(database, options.name),
    writes: writeIds.store,
    commitEvents,
    carrying: (writeId) => carryingWrites(registry, database, () => writeIds.requireNew(writeId)),
    async close() {
      await follower?.close();
      await database.close();
    },
  };
  await follower?.start();
  return registry;
}
