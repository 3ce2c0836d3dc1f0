/** The registry on one SQLite file. Puts the parts together; what each does is in its own file. */
import { type Clock, epochSeconds, systemClock } from '../../base/clock.ts';
import { CommitEvents } from '../commit-events.ts';
import type { CopyStore } from '../copies.ts';
import type { FactStore } from '../facts.ts';
import type { DueRow, InstanceStore } from '../instances.ts';
import type { InvitationStore } from '../invitations.ts';
import type { JobStore } from '../jobs.ts';
import type { KeyStore } from '../keys.ts';
import type { LedgerStore, LedgerView } from '../ledger.ts';
import type { MaintenanceStore } from '../maintenance.ts';
import type { QuotaStore } from '../quotas.ts';
import type { Registry } from '../registry.ts';
import type { SegmentStore } from '../segments.ts';
import type { ShareStore } from '../shares.ts';
import type { TenantForgettingStore } from '../tenant-forgettings.ts';
import type { ThresholdStore } from '../threshold-store.ts';
import { thresholdsOf } from '../thresholds.ts';
import type { Thresholds } from '../types.ts';
import type { WakeTimeStore } from '../wake-times.ts';
import { checkBeside } from './check.ts';
import { sqliteCopies } from './copies.ts';
import {
  bytesByState,
  countsByFault,
  countsByFaultOf,
  countsByState,
  countsByStateOf,
  tenantsWithCounts,
} from './counts.ts';
import { RegistryDatabase } from './database.ts';
import { dueRows, filedRows, ping, tenantOf, unsettledRows } from './due.ts';
import { dueCounts } from './due-counts.ts';
import { openFacts } from './facts.ts';
import { openForgettings } from './forgettings.ts';
import { readHops } from './hops.ts';
import { SqliteInvitationBook } from './invitations.ts';
import { openJobs } from './jobs.ts';
import { SqliteKeyBook } from './keys.ts';
import { Ledger } from './ledger.ts';
import { openLedgerFile } from './ledger-file.ts';
import { Lists } from './lists.ts';
import { SqlitePeopleBook } from './people.ts';
import { promised, type Synchronous } from './promised.ts';
import { QuotaBook } from './quotas.ts';
import { recount } from './recount.ts';
import { findRow } from './rows.ts';
import { SegmentTable } from './segments.ts';
import { openShares } from './shares.ts';
import { ThresholdBook } from './threshold-book.ts';
import { tryThresholds } from './threshold-trial.ts';
import { openWakeTimes } from './wake-times.ts';
import { Writes } from './writes.ts';

/**
 * Opens the registry, making and migrating the file. `path` is absolute or `:memory:`; `thresholds` are the global ones
 * until others are set. Not `durable`: for a file that nobody has before it is whole, written without waiting for the
 * disk. Throws what SQLite throws when the file cannot be opened.
 */
export function openSqliteRegistry(options: {
  path: string;
  clock?: Clock;
  thresholds: Thresholds;
  durable?: boolean;
}): Registry {
  const clock = options.clock ?? systemClock;
  const database = new RegistryDatabase(options.path, options);
  const feed = new CommitEvents();
  const ledger = new Ledger(database, feed);
  ledger.chainOlder();
  const lists = new Lists(database);
  const thresholds = new ThresholdBook(database, options.thresholds, clock);
  const quotas = new QuotaBook(database, ledger);
  const writes = new Writes({ database, ledger, lists, thresholds, quotas });
  const due = (until: number, limit: number, tenants?: readonly string[]): DueRow[] => {
    const byTenant = new Map<string, Thresholds>();
    return dueRows(database, until, limit, tenants).map((row) => {
      const ofTenant = byTenant.get(row.tenant) ?? thresholds.ofTenant(row.tenant);
      byTenant.set(row.tenant, ofTenant);
      return { row, thresholds: thresholdsOf(row, ofTenant) };
    });
  };

  const instances: Synchronous<InstanceStore> = {
    create: (instance, now, entry) => writes.create(instance, now, entry),
    tenantOf: (id) => tenantOf(database, id),
    get: (id) => findRow(database, id),
    patch: (id, patch, _now, entry, asRead) => writes.patch(id, patch, entry, asRead),
    relabel: (...args) => writes.relabel(...args),
    begin: (...args) => writes.begin(...args),
    abandon: (...args) => writes.abandon(...args),
    commit: (transition) => writes.commit(transition),
    setFault: (...args) => writes.setFault(...args),
    recordCheck: (...args) => writes.recordCheck(...args),
    touch: (touches) => writes.touch(touches),
    clampUpdated: (...args) => writes.notAfter(...args),
    list: (request) => lists.page(request),
    count: (filter, cap) => lists.count(filter, cap),
    countsByState: (tenants) => (tenants === undefined ? countsByState(database) : countsByStateOf(database, tenants)),
    countsByFault: (tenants) => (tenants === undefined ? countsByFault(database) : countsByFaultOf(database, tenants)),
    tenants: () => tenantsWithCounts(database),
    due: (now, limit) => due(now, limit),
    dueUntil: due,
    dueCounts: (spans, tenants) => dueCounts(database, spans, tenants),
    unsettled: () => unsettledRows(database),
    withFile: (after, limit) => filedRows(database, after, limit),
    adopt: (...args) => writes.adopt(...args),
  };
  const segments = new SegmentTable(database, ledger);
  // A registry in memory has one connection: it is walked as it is.
  const isFile = !database.client.memory;
  const living: Synchronous<LedgerView> = {
    lines: (seq, limit) => ledger.chain(seq, limit),
    segments: () => segments.list(),
    close: () => undefined,
  };
  const book: Synchronous<LedgerStore> = {
    append(entries) {
      ledger.announce(database.write(() => ledger.append(entries)));
    },
    appendRepeatCounts(nowMs, { all = false } = {}) {
      ledger.announce(database.write(() => ledger.appendSums(nowMs, all)));
    },
    page: (filter, limit, cursor) => ledger.page(filter, limit, cursor),
    after: (seq, limit) => ledger.after(seq, limit),
    ofTenants: (tenants, { from, to }, limit) => ledger.among(tenants, from, to, limit),
    lastSeq: () => ledger.lastSeq(),
    chain: (seq, limit) => ledger.chain(seq, limit),
    head: () => ledger.head(),
    view: () => promised<LedgerView>(isFile ? openLedgerFile(options.path) : living),
    transitions: (sinceMs, tenants) => readHops(database, sinceMs, tenants),
  };
  const settings: Synchronous<ThresholdStore> = {
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
    compare: (trial) => tryThresholds(database, thresholds.global(), trial),
  };
  const maintenance: Synchronous<MaintenanceStore> = {
    sizes() {
      return { ...database.sizes(), rows: countsByState(database), fileBytes: bytesByState(database) };
    },
    ping() {
      ping(database, epochSeconds(clock));
    },
    // One in memory is nowhere that could be damaged.
    check: async (signal) => (options.path === ':memory:' ? 'ok' : checkBeside(options.path, signal)),
    upgrade: () => database.upgraded,
    checkpoint: () => database.checkpoint(),
    recount: (entry) => recount(database, ledger, entry),
  };

  return {
    instances: promised<InstanceStore>(instances),
    ledger: promised<LedgerStore>(book),
    segments: promised<SegmentStore>(segments),
    jobs: promised<JobStore>(openJobs(database, ledger, feed, (filter, fields) => lists.everything(filter, fields))),
    keys: promised<KeyStore>(new SqliteKeyBook(database, ledger)),
    invitations: promised<InvitationStore>(new SqliteInvitationBook(database, ledger)),
    people: new SqlitePeopleBook(database),
    copies: promised<CopyStore>(sqliteCopies({ database, ledger, writes, quotas })),
    shares: promised<ShareStore>(openShares(database, ledger)),
    quotas: promised<QuotaStore>(quotas),
    forgettings: promised<TenantForgettingStore>(
      openForgettings(database, ledger, () => lists.wordsChanged('removed')),
    ),
    thresholds: promised<ThresholdStore>(settings),
    facts: promised<FactStore>(openFacts(database)),
    wakeTimes: promised<WakeTimeStore>(openWakeTimes(database)),
    maintenance: promised<MaintenanceStore>(maintenance),
    commitEvents: feed,
    async close() {
      database.close();
    },
  };
}
