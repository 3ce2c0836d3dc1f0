/**
 * Every change of a row: created, patched, given an intent, committed, faulted, touched. Each is one transaction with
 * its ledger lines. Knows nothing of files; the hops come from the state map, the due times from the ladder.
 */

import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { plan } from '../../lifecycle/plan.ts';
import { type State, transition } from '../../lifecycle/state-map.ts';
import type { Volume } from '../../vfs/volumes.ts';
import type { FiledInStore, InstancePatch, InstanceStore, Transition } from '../instances.ts';
import { isSameAcquisition, UNOWNED } from '../owner.ts';
import {
  invalidTransition,
  ownerChanged,
  settingsChanged,
  stateChanged,
  tenantBeingForgotten,
} from '../registry-errors.ts';
import {
  abandonedRow,
  adoptedRow,
  faultOf,
  hasSettingsOf,
  isDockedAnew,
  movedRow,
  newRow,
  wellFormed,
} from '../row-changes.ts';
import { searchText } from '../search-words.ts';
import { boundOrder, writeStatements } from '../statements/instance-writes.ts';
import type { SeedingChunk } from '../statements/seeding-chunks.ts';
import { dueAt } from '../thresholds.ts';
import type { InstanceRow, Intent, LedgerEntry, NewInstance, RowOwner } from '../types.ts';
import { differing, type HotWrites } from './change-with-lines.ts';
import type { PostgresDatabase } from './database.ts';
import type { InstanceQueries } from './instance-queries.ts';
import { findRow, insertRow, lockRow, taken, updateRow } from './instance-rows.ts';
import type { LedgerTable } from './ledger.ts';
import type { QuotaTable } from './quotas.ts';
import type { DockingCheck } from './schedule-allowance.ts';
import type { SeedingChunks } from './seeding-chunks.ts';
import type { StoreNameTable } from './store-names.ts';
import type { ThresholdTable } from './threshold-table.ts';

/** How often a change is asked for of a row that is another one each time. */
const ATTEMPTS = 5;

const notThere = (id: InstanceId) => new WinterdockError('not_found', `There is no sandbox "${id}".`);

export class InstanceWriter {
  readonly #database: PostgresDatabase;
  readonly #ledger: LedgerTable;
  readonly #thresholds: ThresholdTable;
  readonly #quotas: QuotaTable;
  readonly #chunks: SeedingChunks;
  readonly #docking: DockingCheck;
  readonly #storeNames: StoreNameTable;
  readonly #hot: HotWrites;
  /** Rows with an intent of this process, as they were then. */
  readonly #begun = new Map<InstanceId, InstanceRow>();

  readonly #queries: InstanceQueries;
  readonly #statements;

  constructor(parts: {
    database: PostgresDatabase;
    queries: InstanceQueries;
    ledger: LedgerTable;
    thresholds: ThresholdTable;
    quotas: QuotaTable;
    chunks: SeedingChunks;
    docking: DockingCheck;
    storeNames: StoreNameTable;
    hot: HotWrites;
  }) {
    this.#database = parts.database;
    this.#ledger = parts.ledger;
    this.#thresholds = parts.thresholds;
    this.#quotas = parts.quotas;
    this.#chunks = parts.chunks;
    this.#docking = parts.docking;
    this.#storeNames = parts.storeNames;
    this.#hot = parts.hot;
    this.#queries = parts.queries;
    this.#statements = writeStatements(parts.database);
  }

  async create(instance: NewInstance, now: number, entry: LedgerEntry): Promise<InstanceRow> {
    const row = newRow(instance, now);
    return this.#tellingRefusals(entry, async () => {
      await this.#logged([entry], async () => {
        await this.#admit([row]);
        await this.#insert(row);
        await this.#docking.requireDockable([row]);
      });
      return row;
    });
  }

  /**
   * Admits instances of one tenant, all or none, and inserts the first `atOnce` of them with their lines. `content`
   * returns, inside the transaction, what each of them begins with; `rest` gets those that are not inserted.
   */
  async createAll(
    instances: NewInstance[],
    now: number,
    entries: LedgerEntry[],
    atOnce: number,
    content: () => Promise<Pick<InstanceRow, 'vfsPath' | 'bytes' | 'file'>>,
    rest: (rows: InstanceRow[]) => Promise<void>,
  ): Promise<InstanceRow[]> {
    return this.#tellingRefusals(entries[0], () =>
      this.#logged(instances.length > atOnce ? entries.slice(0, atOnce) : entries, async () => {
        const shared = await content();
        const rows = instances.map((instance) => ({ ...newRow(instance, now), ...shared }));
        await this.#admit(rows);
        const later = rows.splice(atOnce);
        await this.#chunks.requireFree(later);
        for (const row of rows) await this.#insert(row);
        await this.#docking.requireDockable(rows, later.length);
        await rest(later);
        return rows;
      }),
    );
  }

  /** Inserts instances that were admitted, and removes their chunk. `also` runs in the same transaction. */
  createChunk({ number, rows, ledger }: SeedingChunk, also: () => Promise<void>): Promise<InstanceRow[]> {
    return this.#logged(ledger, async () => {
      await this.#chunks.remove(number);
      for (const row of rows) await this.#insert(row);
      await also();
      return rows;
    });
  }

  /**
   * Inserts a row for a file that is already at its `vfsPath` and moves it to `to` by the shortest plan, in one
   * transaction with its lines. For a sandbox that existed before. `filed`: its file is in the store, and its name
   * there was never recorded. Throws as `create` does, and `invalid_transition`.
   */
  async adopt(
    instance: NewInstance,
    to: State,
    now: number,
    entries: LedgerEntry[],
    filed?: FiledInStore,
  ): Promise<InstanceRow> {
    const hops = plan('created', to);
    if (hops === null) throw invalidTransition({ id: instance.id, from: 'created', to });
    const { row, moved } = adoptedRow(newRow(instance, now), to, hops.length, filed);
    return this.#tellingRefusals(entries[0], () =>
      this.#logged(entries, async () => {
        await this.#admit([row]);
        await this.#insert(row);
        if (filed !== undefined) await this.#storeNames.adopt(moved, filed, now * 1000);
        await this.#update(row, moved);
        return moved;
      }),
    );
  }

  /** A quota's refusal gets a ledger line, although the rest of the transaction is rolled back. */
  async #tellingRefusals<T>(entry: LedgerEntry | undefined, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (entry !== undefined && isWinterdockError(error) && error.code === 'quota_exceeded') {
        const refused = { type: 'create.refused', trigger: 'quota', error: error.message } as const;
        await this.#logged([{ ...entry, ...refused, instance: null, to: null, source: null }], async () => undefined);
      }
      throw error;
    }
  }

  /** Checks the quota of new rows of one tenant, and that no waiting instance holds one of their names. */
  async #admit(rows: readonly InstanceRow[]): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const bytes = rows.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
    await this.#quotas.needSandboxes(first.tenant, rows.length);
    await this.#quotas.needBytes(first.tenant, bytes);
    await this.#chunks.requireNotHeld(rows);
  }

  async #insert(row: InstanceRow): Promise<void> {
    try {
      // A chunk of an earlier version says nothing of owners, stores and replicas.
      await insertRow(
        this.#database,
        { ...UNOWNED, ...row, stored: row.stored ?? null, replicate: row.replicate ?? null },
        { dueAt: await this.#dueAt(row), words: searchText(row) },
      );
    } catch (error) {
      throw taken(error, row) ?? error;
    }
  }

  patch(id: InstanceId, patch: InstancePatch, entry: LedgerEntry, asRead?: InstanceRow): Promise<InstanceRow | null> {
    return this.#logged([entry], async (cancel) => {
      const before = await lockRow(this.#database, id);
      if (before === null) return cancel(null);
      if (before.state === 'deleted') throw new WinterdockError('gone', `The sandbox "${id}" was deleted.`);
      if (asRead !== undefined && !hasSettingsOf(before, asRead)) throw settingsChanged(id);
      const { labels = before.labels, ...rest } = patch;
      const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
      const after: InstanceRow = { ...before, ...given, labels: wellFormed(labels) };
      after.name = after.name?.toWellFormed() ?? null;
      if (after.name !== before.name) await this.#chunks.requireNotHeld([after]);
      try {
        await this.#update(before, after);
      } catch (error) {
        throw taken(error, after) ?? error;
      }
      if (isDockedAnew(before, after)) await this.#docking.requireDockable([after]);
      return after;
    });
  }

  relabel(
    id: InstanceId,
    changes: Readonly<Record<string, string | null>>,
    most: number,
    entry: LedgerEntry,
  ): Promise<'changed' | 'same' | 'too_many' | null> {
    return this.#logged([entry], async (cancel) => {
      const before = await lockRow(this.#database, id);
      if (before === null) return cancel(null);
      if (before.state === 'deleted') throw new WinterdockError('gone', `The sandbox "${id}" was deleted.`);
      const merged: Record<string, string | null> = { ...before.labels, ...changes };
      const entries = Object.entries(merged).filter((one): one is [string, string] => one[1] !== null);
      if (JSON.stringify(entries) === JSON.stringify(Object.entries(before.labels))) return cancel('same');
      if (entries.length > most) return cancel('too_many');
      await this.#update(before, { ...before, labels: wellFormed(Object.fromEntries(entries)) });
      return 'changed';
    });
  }

  async begin(
    id: InstanceId,
    intent: Intent,
    { owner, writeId = null, order }: NonNullable<Parameters<InstanceStore['begin']>[2]> = {},
  ): Promise<boolean> {
    const { from, generation } = intent;
    const { host: ownerHost = null, term: ownerTerm = null, token: ownerToken = null } = owner ?? {};
    const bound = { intent, id, from, generation, ownerHost, ownerTerm, ownerToken, writeId, ...boundOrder(order) };
    const wakes = intent.to === 'active' && from !== 'active';
    const begun = await this.#hot.begin(bound, { wakes, isOrdered: order !== undefined });
    if (begun !== null) {
      this.#begun.set(id, begun);
      return true;
    }
    const row = wakes ? await findRow(this.#database, id) : null;
    if (row === null || row.pending !== null || row.state !== from || row.generation !== generation) return false;
    await this.#quotas.needActive(row.tenant, { waking: true });
    if ((await this.#statements.beingForgotten().get({ tenant: row.tenant })) !== undefined)
      throw tenantBeingForgotten(row.tenant);
    return false;
  }

  abandon(
    id: InstanceId,
    patch: Parameters<InstanceStore['abandon']>[1],
    entries: LedgerEntry[],
    owner: RowOwner | null = null,
  ): Promise<InstanceRow> {
    const lines = this.#ledger.admit(entries);
    return this.#changed(id, async (row) => {
      const before = row ?? this.#begun.get(id);
      if (before?.ownerToken !== (owner?.token ?? null)) {
        if (row === null) return null;
        throw ownerChanged(row);
      }
      const { state, generation, vfsPath, ownerToken, file, ownerHost, ownerTerm } = before;
      const known = { id, state, generation, vfsPath, ownerToken };
      // A row that is so has the same file and host too.
      const whole = { ...known, file, ownerHost, ownerTerm };
      return this.#hot.change(known, differing(whole, abandonedRow(whole as InstanceRow, patch, owner)), lines);
    });
  }

  async commit(hop: Transition): Promise<InstanceRow> {
    const moves = hop.from !== hop.to;
    const way = moves ? [hop.from, ...(hop.through ?? []), hop.to] : [];
    for (const [at, to] of way.slice(1).entries()) {
      const from = way[at] ?? hop.from;
      if (transition(from, to) !== 'ok') throw invalidTransition({ id: hop.id, from, to });
    }
    if (hop.from === 'deleted') throw invalidTransition(hop);
    const { id, from: state, generation, owner, ledger } = hop;
    const known = { id, state, generation, ownerToken: owner?.token ?? null };
    const changed = differing(known, movedRow(known as InstanceRow, hop, Math.max(1, way.length - 1)));
    const makesActive = moves && hop.to === 'active';
    const also = hop.to === 'deleted' ? [this.#storeNames.supersedeOfDeleted(id)] : [];
    const lines = this.#ledger.admit(ledger);
    return this.#changed(id, async (row) => {
      if (row !== null) {
        if (row.state !== hop.from || row.generation !== hop.generation) throw stateChanged(row, hop);
        if (row.ownerToken !== known.ownerToken) throw ownerChanged(row);
        if (makesActive) await this.#quotas.needActive(row.tenant, { waking: false });
      }
      return this.#hot.change(known, changed, lines, { makesActive, also });
    });
  }

  /**
   * Makes a change that needs no row; null from it: the row is not as it must be. Then it is asked again with the row,
   * and throws what is wrong with it, or there was something in between.
   */
  async #changed(
    id: InstanceId,
    change: (row: InstanceRow | null) => Promise<InstanceRow | null>,
  ): Promise<InstanceRow> {
    try {
      let after = await change(null);
      for (let attempt = 1; after === null && attempt <= ATTEMPTS; attempt += 1) {
        const row = await findRow(this.#database, id);
        if (row === null) throw notThere(id);
        after = await change(row);
      }
      if (after !== null) return after;
    } finally {
      this.#begun.delete(id);
    }
    throw new WinterdockError('conflict', `The sandbox "${id}" was changed over and over meanwhile.`, {
      hint: 'Look at it again, then decide.',
    });
  }

  setFault(...[id, fault, entry, asRead]: Parameters<InstanceStore['setFault']>): Promise<boolean> {
    return this.#logged([entry], async (cancel) => {
      const before = await this.#existing(id);
      if (asRead !== undefined && !isSameAcquisition(before, asRead)) return cancel(false);
      await this.#update(before, { ...before, ...faultOf(fault, before) });
      return true;
    });
  }

  async recordCheck(
    id: InstanceId,
    generation: number,
    check: { sha256: string; quickCheck: string | null },
    volumes?: Record<Volume, number>,
  ): Promise<void> {
    await this.#database.write(async () => {
      const row = await lockRow(this.#database, id);
      if (row === null || row.generation !== generation || row.file === null) return;
      const { sha256, quickCheck } = check;
      await updateRow(this.#database, row, { ...row, file: { ...row.file, sha256, quickCheck } }, {});
      if (volumes === undefined) return;
      await this.#statements
        .recordVolumes()
        .run({ ...(await this.#statements.numberOf().get({ id })), tenant: row.tenant, ...volumes });
    });
  }

  async clampUpdated(now: number, slack: number, limit: number, host?: string): Promise<number> {
    const later = async () => await this.#queries.laterThan(now + slack, limit, host);
    if ((await later()).length === 0) return 0;
    return await this.#database.write(async () => {
      const rows = await later();
      for (const row of rows) await this.#update(row, { ...row, updated: now });
      return rows.length;
    });
  }

  /** Runs `work` and appends the lines in one transaction, then announces them. `cancel`: without lines. */
  #logged<T>(entries: LedgerEntry[], work: (cancel: <V>(value: V) => V) => Promise<T>): Promise<T> {
    return this.#ledger.logged(async (append) => {
      let cancelled = false;
      const done = await work((value) => {
        cancelled = true;
        return value;
      });
      if (!cancelled) await append(entries);
      return done;
    });
  }

  async #existing(id: InstanceId): Promise<InstanceRow> {
    const row = await lockRow(this.#database, id);
    if (row === null) throw notThere(id);
    return row;
  }

  async #dueAt(row: InstanceRow): Promise<number | null> {
    return dueAt(row, await this.#thresholds.ofTenant(row.tenant));
  }

  async #update(before: InstanceRow, after: InstanceRow): Promise<void> {
    const thresholds = await this.#thresholds.ofTenant(before.tenant);
    const due = dueAt(after, thresholds);
    const reworded = before.name !== after.name || before.labels !== after.labels;
    await updateRow(this.#database, before, after, {
      ...(due === dueAt(before, thresholds) ? {} : { dueAt: due }),
      ...(reworded ? { words: searchText(after) } : {}),
    });
  }
}
