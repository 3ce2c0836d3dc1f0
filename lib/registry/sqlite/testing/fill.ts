/**
 * A registry with many generated rows, for measurements. Fast because it is not durable: indexes, triggers and counts
 * are made at the end. For new files only; a crash leaves an unusable file.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import {
  DEFAULT_HOT_TO_WARM_SECONDS,
  DEFAULT_IDLE_TO_FREEZE_SECONDS,
  DEFAULT_IDLE_TO_SUSPEND_SECONDS,
} from '../../../lifecycle/ladder.ts';
import type { State } from '../../../lifecycle/state-map.ts';
import { instanceId } from '../../../testing/plain-ids.ts';
import { UNOWNED } from '../../owner.ts';
import { searchText } from '../../search-words.ts';
import type { DerivedColumns } from '../../statements/instance-rows.ts';
import { dueAt } from '../../thresholds.ts';
import type { InstanceRow, LedgerEntry } from '../../types.ts';
import { RegistryDatabase } from '../database.ts';
import { insertRow } from '../instance-rows.ts';
import { LedgerTable } from '../ledger.ts';

/**
 * Queries for a filled registry. The rare word is in about 100 rows, the common one in half of them, the others in a
 * tenth or more.
 */
export const FILLED = {
  tenant: 'tenant-0',
  state: 'frozen',
  label: { key: 'team', value: 'team-3' },
  rareWord: 'lighthouse',
  commonWord: 'prod',
  middlingWord: 'atlas',
  /** One in eight rows is this host's, and one in two hundred the other's. */
  largeHost: 'large',
  smallHost: 'small',
} as const;

/** Epoch seconds of the last activity. */
export const FILLED_AT = 1_765_000_000;
/** Epoch seconds until which every row is held, so that nothing is due. */
const HELD_UNTIL = 4_000_000_000;
const YEAR = 31_536_000;
const RARE_ROWS = 100;
const NOUNS = ['atlas', 'borealis', 'cobalt', 'dynamo', 'ember', 'fjord', 'garnet', 'harbour', 'indigo', 'juniper'];
const THRESHOLDS = {
  hotToWarmSeconds: DEFAULT_HOT_TO_WARM_SECONDS,
  idleToSuspendSeconds: DEFAULT_IDLE_TO_SUSPEND_SECONDS,
  idleToFreezeSeconds: DEFAULT_IDLE_TO_FREEZE_SECONDS,
};
const COLOURS = ['amber', 'blue', 'green', 'red'];

/**
 * Gives a filled registry in `folder` (absolute) a file in each drawer that its rows name: no server starts where
 * none is there.
 */
export function placeFilledFiles(folder: string): void {
  const client = new Database(join(folder, 'registry.sqlite'), { readonly: true });
  const first = client.prepare('SELECT id FROM instances WHERE state = ? ORDER BY id LIMIT 1').pluck();
  const [suspended, frozen] = [first.get('suspended'), first.get('frozen')];
  client.close();
  mkdirSync(join(folder, 'live', String(suspended)), { recursive: true });
  mkdirSync(join(folder, 'cold'), { recursive: true });
  const file = new Database(join(folder, 'cold', `${frozen}.sqlite`));
  file.exec('CREATE TABLE stand_in (at INTEGER)');
  file.close();
}

/**
 * Makes a registry file with `rows` instances at `path`, where there must be none. A million take about two minutes and
 * 1.3 GB. None is active, due or faulted, so that a server can be started on it; there are no files behind them.
 * `hosts`: those that are suspended are on the disks of hosts (`FILLED`), and none is anybody's otherwise.
 */
export function fillRegistry(path: string, rows: number, { hosts = false } = {}): void {
  const database = new RegistryDatabase(path);
  try {
    const { client } = database;
    if (Number(client.prepare('SELECT count(*) FROM instances').pluck().get()) > 0)
      throw new Error(`${path} has rows already.`);
    client.exec(
      'PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000',
    );
    const parts = client
      .prepare<[], { type: string; name: string; sql: string }>(
        `SELECT type, name, sql FROM sqlite_schema
         WHERE sql IS NOT NULL AND type IN ('index', 'trigger') AND tbl_name IN ('instances', 'labels', 'events')`,
      )
      .all();
    for (const { type, name } of parts) client.exec(`DROP ${type} ${name}`);
    client.transaction(() => {
      for (let n = 0; n < rows; n += 1) {
        const { row, kept } = filledRow(n, rows);
        insertRow(database, hosts ? { ...row, ...ownedBy(n, row) } : row, kept);
      }
      client.exec(DERIVED);
    })();
    for (const { sql } of parts) client.exec(sql);
    client.pragma('journal_mode = WAL');
  } finally {
    database.close();
  }
}

/** The owner of row `n`, where it is suspended. */
function ownedBy(n: number, { state }: Pick<InstanceRow, 'state'>): Pick<InstanceRow, 'ownerHost' | 'ownerTerm'> {
  if (state !== 'suspended') return UNOWNED;
  return { ownerHost: n % 50 === 0 ? FILLED.smallHost : n % 2 === 0 ? FILLED.largeHost : 'another', ownerTerm: 1 };
}

/** The counts and words that the triggers would have written. */
const DERIVED = `
  INSERT INTO labels(instance_row, key, value, updated, created, name_key, bytes_key, tenant, state)
    SELECT instances.rowid, one.key, one.value, updated, created, name_key, bytes_key, tenant, state
    FROM instances, json_each(labels) AS one;
  INSERT INTO instance_text(rowid, words) SELECT rowid, words FROM instances;
  INSERT INTO counts_by_state(state, n) SELECT state, count(*) FROM instances GROUP BY 1;
  INSERT INTO counts_by_tenant(tenant, state, n, bytes)
    SELECT tenant, state, count(*), coalesce(sum(bytes), 0) FROM instances GROUP BY 1, 2;
  INSERT INTO counts_by_label(key, value, n) SELECT key, value, count(*) FROM labels GROUP BY 1, 2;
`;

/**
 * Row `n` of so many, with its derived columns: the same number gives the same row. Nine tenths are in eight large
 * tenants, the rest in tenants of about fifty.
 */
export function filledRow(n: number, rows: number): { row: InstanceRow; kept: DerivedColumns } {
  const chance = shares(n);
  const share = chance();
  const state: State = share < 0.05 ? 'created' : share < 0.3 ? 'suspended' : share < 0.9 ? 'frozen' : 'archived';
  const large = chance() < 0.9;
  const tenant = large ? `tenant-${Math.floor(chance() * 8)}` : `small-${Math.floor(chance() * Math.ceil(rows / 500))}`;
  const updated = FILLED_AT - Math.floor(chance() * YEAR);
  const created = updated - Math.floor(chance() * YEAR);
  const id = instanceId(`sb-${Math.floor(chance() * 2 ** 40).toString(36)}-${n.toString(36)}`);
  const rare = n % Math.max(1, Math.floor(rows / RARE_ROWS)) === 0 ? ` ${FILLED.rareWord}` : '';
  const row: InstanceRow = {
    id,
    tenant,
    state,
    vfsPath: state === 'created' ? null : state === 'suspended' ? `live/${id}/vfs.sqlite` : `cold/${id}.sqlite`,
    updated,
    name: `${NOUNS[Math.floor(chance() * NOUNS.length)]} run ${n}${rare}`,
    generation: 0,
    fault: null,
    faultReason: null,
    pending: null,
    created,
    stateSince: updated,
    keepHot: false,
    holdUntil: HELD_UNTIL,
    ephemeral: false,
    policy: 'posix',
    hotToWarmSeconds: null,
    idleToSuspendSeconds: null,
    idleToFreezeSeconds: null,
    replicate: null,
    bytes: state === 'created' ? null : Math.floor(chance() * 1e8),
    workbook: null,
    workbookVersion: null,
    lineageBlueprint: null,
    lineageSnapshot: null,
    lineageParent: null,
    file: null,
    failures: 0,
    ...UNOWNED,
    stored: null,
    labels: {
      env: chance() < 0.5 ? 'prod' : 'staging',
      team: `team-${Math.floor(chance() * 8)}`,
      colour: COLOURS[Math.floor(chance() * COLOURS.length)] ?? 'red',
    },
  };
  return { row, kept: { dueAt: dueAt(row, THRESHOLDS), words: searchText(row) } };
}

/** Pseudo-random numbers from 0 to 1, reproducible by their seed (mulberry32). */
function shares(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b9);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The actors of a filled ledger: a rare one has one line in ten thousand. */
export const FILLED_ACTORS = { common: 'key:fill', rare: 'key:rare' } as const;

/**
 * Gives a filled registry `lines` lines of the ledger, chained like any others, about its instances one after another.
 * A million take half a minute. Nothing is durable.
 */
export function fillLedger(path: string, lines: number): void {
  const database = new RegistryDatabase(path);
  try {
    const { client } = database;
    client.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -500000');
    const indexes = client
      .prepare<[], { name: string; sql: string }>(
        `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'events' AND sql IS NOT NULL`,
      )
      .all();
    const rows = client.prepare('SELECT id, tenant FROM instances LIMIT ?').raw().all(lines) as [string, string][];
    const ledger = new LedgerTable(database);
    client.transaction(() => {
      for (const { name } of indexes) client.exec(`DROP INDEX ${name}`);
      for (let n = 0; n < lines; n += LINES_AT_ONCE) {
        ledger.append(
          Array.from({ length: Math.min(LINES_AT_ONCE, lines - n) }, (_, at) => lineOf(n + at, lines, rows)),
        );
      }
      for (const { sql } of indexes) client.exec(sql);
    })();
  } finally {
    database.close();
  }
}

const LINES_AT_ONCE = 10_000;

function lineOf(n: number, lines: number, rows: [string, string][]): LedgerEntry {
  const [instance, tenant] = rows[n % rows.length] ?? ['none', 'none'];
  const wakes = n % 2 === 0;
  return {
    timeMs: (FILLED_AT - lines + n) * 1000,
    instance: instanceId(instance),
    tenant,
    type: n % 100 === 0 ? 'fault.raised' : 'transition',
    from: wakes ? 'suspended' : 'active',
    to: wakes ? 'active' : 'suspended',
    trigger: wakes ? 'request' : 'idle',
    actor: n % 10_000 === 0 ? FILLED_ACTORS.rare : FILLED_ACTORS.common,
    via: wakes ? 'api' : 'ticker',
    source: wakes ? 'local' : null,
    tookMs: 1.5,
    reason: null,
    error: null,
    requestId: `req-${n.toString(36)}`,
    address: '192.0.2.7',
  };
}
