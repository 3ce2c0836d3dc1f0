/** The registry on one SQLite file. Puts the parts together; what each does is in its own file. */
import type { Database } from 'better-sqlite3';
import { type Clock, epochSeconds, systemClock } from '../../clock.ts';
import type { State } from '../../lifecycle/states.ts';
import type { DueRow, InstanceRow, LedgerEntry, NewInstance, Registry, Thresholds } from '../registry.ts';
import { thresholdsOf } from '../thresholds.ts';
import { sqliteCopies } from './copies.ts';
import {
  bytesByState,
  countsByFault,
  countsByFaultOf,
  countsByState,
  countsByStateOf,
  tenantsWithCounts,
} from './counts.ts';
import { RegistryDatabase, type Value } from './database.ts';
import { dueCounts } from './due-counts.ts';
import { openFacts } from './facts.ts';
import { openForgettings } from './forgettings.ts';
import { readHops } from './hops.ts';
import { SqliteInvitationBook } from './invitations.ts';
import { openJobs } from './jobs.ts';
import { SqliteKeyBook } from './keys.ts';
import { Ledger } from './ledger.ts';
import { Lists } from './lists.ts';
import type { Upgrade } from './migrate.ts';
import { SqlitePeopleBook } from './people.ts';
import { QuotaBook } from './quotas.ts';
import { recount } from './recount.ts';
import { findRow, ROW_COLUMNS, rowOf } from './rows.ts';
import { SegmentTable } from './segments.ts';
import { openShares } from './shares.ts';
import { ThresholdBook } from './threshold-book.ts';
import { tryThresholds } from './threshold-trial.ts';
import { openWakeTimes } from './wake-times.ts';
import { Writes } from './writes.ts';

export interface SqliteRegistry extends Registry {
  /** The same connection for the auth library, whose tables are in the same file. Never hold a transaction of it across an await. */
  readonly database: Database;
  /** Brings what was committed from the log into the file, so that the file alone is not far behind. Waits for nobody. False when the disk did not take it. */
  checkpoint(): boolean;
  /**
   * Inserts the row of a file that lies at its `vfsPath` already and walks it to `to`, in one transaction with its lines: of a sandbox that was
   * there once. Throws as `create` does, and `invalid_transition`.
   */
  adopt(instance: NewInstance, to: State, now: number, entries: LedgerEntry[]): InstanceRow;
  /** Makes the counts that are not those of the rows again, with the line that `entry` gives. Returns the names of their tables. */
  recount(entry: (tables: string[]) => LedgerEntry): string[];
  /** What opening it did to a file of an older version; null when nothing was to be done. */
  readonly upgraded: Upgrade | null;
}

const DUE = `SELECT ${ROW_COLUMNS} FROM instances INDEXED BY instances_due
  WHERE due_at <= ? AND due_at IS NOT NULL AND pending IS NULL ORDER BY due_at LIMIT ?`;
const DUE_OF_TENANTS = `SELECT ${ROW_COLUMNS} FROM instances INDEXED BY instances_due
  WHERE due_at <= ? AND due_at IS NOT NULL AND pending IS NULL AND tenant IN (SELECT value FROM json_each(?))
  ORDER BY due_at LIMIT ?`;
const TENANT_OF = 'SELECT tenant FROM instances INDEXED BY instances_whose WHERE id = ?';
const UNSETTLED = `SELECT ${ROW_COLUMNS} FROM instances INDEXED BY instances_pending WHERE pending IS NOT NULL
  UNION ALL SELECT ${ROW_COLUMNS} FROM instances INDEXED BY instances_by_state_updated WHERE state = 'active' AND pending IS NULL`;
const FILED = `SELECT ${ROW_COLUMNS} FROM instances
  WHERE id > ? AND vfs_path IS NOT NULL AND vfs_path <> ':memory:' ORDER BY id LIMIT ?`;
const PING = `INSERT INTO settings(key, value, updated) VALUES ('ping', 'true', ?)
  ON CONFLICT DO UPDATE SET updated = excluded.updated`;

/**
 * Opens the registry, making and migrating the file. `path` is absolute or `:memory:`; `thresholds` are the global ones until
 * others are set. Throws what SQLite throws when the file cannot be opened.
 */
export function openSqliteRegistry(options: { path: string; clock?: Clock; thresholds: Thresholds }): SqliteRegistry {
  const clock = options.clock ?? systemClock;
  const database = new RegistryDatabase(options.path);
  const ledger = new Ledger(database);
  ledger.chainOlder();
  const lists = new Lists(database);
  const thresholds = new ThresholdBook(database, options.thresholds, clock);
  const quotas = new QuotaBook(database, ledger);
  const writes = new Writes({ database, ledger, lists, thresholds, quotas });
  const rows = (sql: string, ...params: Value[]) =>
    database
      .sql(sql)
      .all(...params)
      .map(rowOf);

  const due = (until: number, limit: number, tenants?: readonly string[]): DueRow[] => {
    const byTenant = new Map<string, Thresholds>();
    const found =
      tenants === undefined ? rows(DUE, until, limit) : rows(DUE_OF_TENANTS, until, JSON.stringify(tenants), limit);
    return found.map((row) => {
      const ofTenant = byTenant.get(row.tenant) ?? thresholds.ofTenant(row.tenant);
      byTenant.set(row.tenant, ofTenant);
      return { row, thresholds: thresholdsOf(row, ofTenant) };
    });
  };

  return {
    database: database.client,
    upgraded: database.upgraded,
    keys: new SqliteKeyBook(database, ledger),
    invitations: new SqliteInvitationBook(database, ledger),
    people: new SqlitePeopleBook(database),
    copies: sqliteCopies({ database, ledger, writes, quotas }),
    create: (instance, now, entry) => writes.create(instance, now, entry),
    tenantOf: (id) => database.value(TENANT_OF, id) as string | null,
    get: (id) => findRow(database, id),
    patch: (id, patch, _now, entry, check) => writes.patch(id, patch, entry, check),
    begin: (id, intent, options) => writes.begin(id, intent, options),
    abandon: (id, patch, entries) => writes.abandon(id, patch, entries),
    commit: (transition) => writes.commit(transition),
    setFault: (id, fault, entry) => writes.setFault(id, fault, entry),
    recordCheck: (...args) => writes.recordCheck(...args),
    touch: (touches) => writes.touch(touches),
    notAfter: (now, slack, limit) => writes.notAfter(now, slack, limit),

    list: (request) => lists.page(request),
    count: (filter, cap) => lists.count(filter, cap),
    countsByState: (tenants) => (tenants === undefined ? countsByState(database) : countsByStateOf(database, tenants)),
    countsByFault: (tenants) => (tenants === undefined ? countsByFault(database) : countsByFaultOf(database, tenants)),
    tenants: () => tenantsWithCounts(database),
    due: (now, limit) => due(now, limit),
    dueUntil: due,
    dueCounts: (spans, tenants) => dueCounts(database, spans, tenants),
    unsettled: () => rows(UNSETTLED),
    filed: (after, limit) => rows(FILED, after, limit),

    append(entries) {
      ledger.announce(database.write(() => ledger.append(entries)));
    },
    appendSums(nowMs, { all = false } = {}) {
      ledger.announce(database.write(() => ledger.appendSums(nowMs, all)));
    },
    ledger: (filter, limit, cursor) => ledger.page(filter, limit, cursor),
    ledgerAfter: (seq, limit) => ledger.after(seq, limit),
    ledgerAmong: (tenants, { from, to }, limit) => ledger.among(tenants, from, to, limit),
    lastSeq: () => ledger.lastSeq(),
    chain: (seq, limit) => ledger.chain(seq, limit),
    chainHead: () => ledger.head(),
    shares: openShares(database, ledger),
    jobs: openJobs(database, ledger, (filter, fields) => lists.everything(filter, fields)),
    quotas,
    forgettings: openForgettings(database, ledger, () => lists.wordsChanged('removed')),
    wakeTimes: openWakeTimes(database),
    hops: (sinceMs, tenants, seen) => readHops(database, sinceMs, tenants, seen),
    segments: new SegmentTable(database, ledger),
    facts: openFacts(database),
    vitals() {
      const pageBytes = database.integer('PRAGMA page_size');
      return {
        bytes: database.integer('PRAGMA page_count') * pageBytes,
        freeBytes: database.integer('PRAGMA freelist_count') * pageBytes,
        rows: countsByState(database),
        fileBytes: bytesByState(database),
      };
    },
    onAppend: (listener) => ledger.onAppend(listener),

    thresholds: (tenant) => thresholds.ofTenant(tenant),
    globalThresholds: () => thresholds.global(),
    setGlobalThresholds(patch, entry) {
      const [changed, lines] = database.write(() => [thresholds.setGlobal(patch), ledger.append([entry])] as const);
      ledger.announce(lines);
      return changed;
    },
    setTenantThresholds(tenant, patch, entry) {
      const [changed, lines] = database.write(
        () => [thresholds.setTenant(tenant, patch), ledger.append([entry])] as const,
      );
      ledger.announce(lines);
      return changed;
    },
    tryThresholds: (trial) => tryThresholds(database, thresholds.global(), trial),

    ping() {
      database.write(() => database.sql(PING).run(epochSeconds(clock)));
    },
    adopt: (...args) => writes.adopt(...args),
    recount: (entry) => recount(database, ledger, entry),
    checkpoint: () => database.checkpoint(),
    close: () => database.close(),
  };
}
