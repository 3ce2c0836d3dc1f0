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
import { isSameAcquisition, mayMeasure, UNOWNED } from '../owner.ts';
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
import type { InstanceRow, Intent, LedgerEntry, LedgerLine, NewInstance, RowOwner } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import type { InstanceQueries } from './instance-queries.ts';
import { findRow, insertRow, taken, updateRow } from './instance-rows.ts';
import type { LedgerTable } from './ledger.ts';
import type { InstanceLists } from './lists.ts';
import type { QuotaTable } from './quotas.ts';
import type { DockingCheck } from './schedule-allowance.ts';
import type { SeedingChunks } from './seeding-chunks.ts';
import type { StoreNameTable } from './store-names.ts';
import type { ThresholdTable } from './threshold-table.ts';

export class InstanceWriter {
  readonly #database: RegistryDatabase;
  readonly #ledger: LedgerTable;
  readonly #lists: InstanceLists;
  readonly #thresholds: ThresholdTable;
  readonly #quotas: QuotaTable;
  readonly #chunks: SeedingChunks;
  readonly #docking: DockingCheck;
  readonly #storeNames: StoreNameTable;

  readonly #queries: InstanceQueries;
  readonly #statements;

  constructor(parts: {
    database: RegistryDatabase;
    queries: InstanceQueries;
    ledger: LedgerTable;
    lists: InstanceLists;
    thresholds: ThresholdTable;
    quotas: QuotaTable;
    chunks: SeedingChunks;
    docking: DockingCheck;
    storeNames: StoreNameTable;
  }) {
    this.#database = parts.database;
    this.#ledger = parts.ledger;
    this.#lists = parts.lists;
    this.#thresholds = parts.thresholds;
    this.#quotas = parts.quotas;
    this.#chunks = parts.chunks;
    this.#docking = parts.docking;
    this.#storeNames = parts.storeNames;
    this.#queries = parts.queries;
    this.#statements = writeStatements(parts.database);
  }

  create(instance: NewInstance, now: number, entry: LedgerEntry): InstanceRow {
    const row = newRow(instance, now);
    return this.#tellingRefusals(entry, () => {
      this.#logged([entry], () => {
        this.#admit([row]);
        this.#insert(row);
        this.#docking.requireDockable([row]);
      });
      return row;
    });
  }

  /**
   * Admits instances of one tenant, all or none, and inserts the first `atOnce` of them with their lines. `content`
   * returns, inside the transaction, what each of them begins with; `rest` gets those that are not inserted.
   */
  createAll(
    instances: NewInstance[],
    now: number,
    entries: LedgerEntry[],
    atOnce: number,
    content: () => Pick<InstanceRow, 'vfsPath' | 'bytes' | 'file'>,
    rest: (rows: InstanceRow[]) => void,
  ): InstanceRow[] {
    return this.#tellingRefusals(entries[0], () =>
      this.#logged(instances.length > atOnce ? entries.slice(0, atOnce) : entries, () => {
        const shared = content();
        const rows = instances.map((instance) => ({ ...newRow(instance, now), ...shared }));
        this.#admit(rows);
        const later = rows.splice(atOnce);
        this.#chunks.requireFree(later);
        for (const row of rows) this.#insert(row);
        this.#docking.requireDockable(rows, later.length);
        rest(later);
        return rows;
      }),
    );
  }

  /** Inserts instances that were admitted, and removes their chunk. `also` runs in the same transaction. */
  createChunk({ number, rows, ledger }: SeedingChunk, also: () => void): InstanceRow[] {
    return this.#logged(ledger, () => {
      this.#chunks.remove(number);
      for (const row of rows) this.#insert(row);
      also();
      return rows;
    });
  }

  /**
   * Inserts a row for a file that is already at its `vfsPath` and moves it to `to` by the shortest plan, in one
   * transaction with its lines. For a sandbox that existed before. `filed`: its file is in the store, and its name
   * there was never recorded. Throws as `create` does, and `invalid_transition`.
   */
  adopt(instance: NewInstance, to: State, now: number, entries: LedgerEntry[], filed?: FiledInStore): InstanceRow {
    const hops = plan('created', to);
    if (hops === null) throw invalidTransition({ id: instance.id, from: 'created', to });
    const { row, moved } = adoptedRow(newRow(instance, now), to, hops.length, filed);
    return this.#tellingRefusals(entries[0], () =>
      this.#logged(entries, () => {
        this.#admit([row]);
        this.#insert(row);
        if (filed !== undefined) this.#storeNames.adopt(moved, filed, now * 1000);
        this.#update(row, moved);
        return moved;
      }),
    );
  }

  /** A quota's refusal gets a ledger line, although the rest of the transaction is rolled back. */
  #tellingRefusals<T>(entry: LedgerEntry | undefined, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (entry !== undefined && isWinterdockError(error) && error.code === 'quota_exceeded') {
        const refused = { type: 'create.refused', trigger: 'quota', error: error.message } as const;
        this.#logged([{ ...entry, ...refused, instance: null, to: null, source: null }], () => undefined);
      }
      throw error;
    }
  }

  /** Checks the quota of new rows of one tenant, and that no waiting instance holds one of their names. */
  #admit(rows: readonly InstanceRow[]): void {
    const [first] = rows;
    if (first === undefined) return;
    const bytes = rows.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
    this.#quotas.needSandboxes(first.tenant, rows.length);
    this.#quotas.needBytes(first.tenant, bytes);
    this.#chunks.requireNotHeld(rows);
  }

  #insert(row: InstanceRow): void {
    try {
      // A chunk of an earlier version says nothing of owners, stores and replicas.
      insertRow(
        this.#database,
        { ...UNOWNED, ...row, stored: row.stored ?? null, replicate: row.replicate ?? null },
        { dueAt: this.#dueAt(row), words: searchText(row) },
      );
      this.#lists.textsChanged('added');
    } catch (error) {
      throw taken(error, row) ?? error;
    }
  }

  patch(id: InstanceId, patch: InstancePatch, entry: LedgerEntry, asRead?: InstanceRow): InstanceRow | null {
    return this.#logged([entry], (cancel) => {
      const before = findRow(this.#database, id);
      if (before === null) return cancel(null);
      if (before.state === 'deleted') throw new WinterdockError('gone', `The sandbox "${id}" was deleted.`);
      if (asRead !== undefined && !hasSettingsOf(before, asRead)) throw settingsChanged(id);
      const { labels = before.labels, ...rest } = patch;
      const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
      const after: InstanceRow = { ...before, ...given, labels: wellFormed(labels) };
      after.name = after.name?.toWellFormed() ?? null;
      if (after.name !== before.name) this.#chunks.requireNotHeld([after]);
      try {
        this.#update(before, after);
      } catch (error) {
        throw taken(error, after) ?? error;
      }
      if (isDockedAnew(before, after)) this.#docking.requireDockable([after]);
      return after;
    });
  }

  relabel(
    id: InstanceId,
    changes: Readonly<Record<string, string | null>>,
    most: number,
    entry: LedgerEntry,
  ): 'changed' | 'same' | 'too_many' | null {
    return this.#logged([entry], (cancel) => {
      const before = findRow(this.#database, id);
      if (before === null) return cancel(null);
      if (before.state === 'deleted') throw new WinterdockError('gone', `The sandbox "${id}" was deleted.`);
      const merged: Record<string, string | null> = { ...before.labels, ...changes };
      const entries = Object.entries(merged).filter((one): one is [string, string] => one[1] !== null);
      if (JSON.stringify(entries) === JSON.stringify(Object.entries(before.labels))) return cancel('same');
      if (entries.length > most) return cancel('too_many');
      this.#update(before, { ...before, labels: wellFormed(Object.fromEntries(entries)) });
      return 'changed';
    });
  }

  begin(
    id: InstanceId,
    intent: Intent,
    { durable = false, owner, writeId = null, order }: NonNullable<Parameters<InstanceStore['begin']>[2]> = {},
  ): boolean {
    if (intent.to === 'active' && intent.from !== 'active') {
      const row = findRow(this.#database, id);
      if (row !== null) {
        this.#quotas.needActive(row.tenant, { waking: true });
        if (this.#statements.beingForgotten().get({ tenant: row.tenant }) !== undefined)
          throw tenantBeingForgotten(row.tenant);
      }
    }
    const { from, generation } = intent;
    const { host: ownerHost = null, term: ownerTerm = null, token: ownerToken = null } = owner ?? {};
    const bound = { intent, id, from, generation, ownerHost, ownerTerm, ownerToken, writeId, ...boundOrder(order) };
    const { begin: plain, beginOrdered } = this.#statements;
    const begin = () => (order === undefined ? plain() : beginOrdered()).run(bound).changes === 1;
    return durable ? this.#database.write(begin) : this.#database.writeWithoutSync(begin);
  }

  abandon(
    id: InstanceId,
    patch: Parameters<InstanceStore['abandon']>[1],
    entries: LedgerEntry[],
    owner: RowOwner | null = null,
  ): InstanceRow {
    return this.#logged(entries, () => {
      const before = this.#existing(id);
      if (before.ownerToken !== (owner?.token ?? null)) throw ownerChanged(before);
      const after = abandonedRow(before, patch, owner);
      this.#update(before, after);
      return after;
    });
  }

  commit(hop: Transition): InstanceRow {
    const moves = hop.from !== hop.to;
    const way = moves ? [hop.from, ...(hop.through ?? []), hop.to] : [];
    for (const [at, to] of way.slice(1).entries()) {
      const from = way[at] ?? hop.from;
      if (transition(from, to) !== 'ok') throw invalidTransition({ id: hop.id, from, to });
    }
    if (hop.from === 'deleted') throw invalidTransition(hop);
    return this.#logged(hop.ledger, () => {
      const before = this.#existing(hop.id);
      if (before.state !== hop.from || before.generation !== hop.generation) throw stateChanged(before, hop);
      if (before.ownerToken !== (hop.owner?.token ?? null)) throw ownerChanged(before);
      if (moves && hop.to === 'active') this.#quotas.needActive(before.tenant, { waking: false });
      const after = movedRow(before, hop, Math.max(1, way.length - 1));
      this.#update(before, after);
      if (hop.to === 'deleted') this.#storeNames.supersedeOf(hop.id);
      return after;
    });
  }

  setFault(...[id, fault, entry, asRead]: Parameters<InstanceStore['setFault']>): boolean {
    return this.#logged([entry], (cancel) => {
      const before = this.#existing(id);
      if (asRead !== undefined && !isSameAcquisition(before, asRead)) return cancel(false);
      this.#update(before, { ...before, ...faultOf(fault, before) });
      return true;
    });
  }

  recordCheck(
    id: InstanceId,
    generation: number,
    check: { sha256: string; quickCheck: string | null },
    volumes?: Record<Volume, number>,
  ): void {
    this.#database.write(() => {
      const row = findRow(this.#database, id);
      if (row === null || row.generation !== generation || row.file === null) return;
      const { sha256, quickCheck } = check;
      updateRow(this.#database, row, { ...row, file: { ...row.file, sha256, quickCheck } }, {});
      if (volumes === undefined) return;
      this.#statements
        .recordVolumes()
        .run({ ...this.#statements.numberOf().get({ id }), tenant: row.tenant, ...volumes });
    });
  }

  /** Skips unknown and deleted ids: a touched sandbox may be gone by now. */
  touch(touches: Parameters<InstanceStore['touch']>[0]): void {
    if (touches.length === 0) return;
    this.#database.write(() => {
      for (const { id, updated, bytes, owner } of touches) {
        const before = findRow(this.#database, id);
        if (before === null || before.state === 'deleted') continue;
        const measured = bytes !== undefined && (owner === undefined || mayMeasure(before, owner)) ? { bytes } : {};
        this.#update(before, { ...before, updated: Math.max(before.updated, updated), ...measured });
      }
    });
  }

  clampUpdated(now: number, slack: number, limit: number, host?: string): number {
    const later = () => this.#queries.laterThan(now + slack, limit, host);
    if (later().length === 0) return 0;
    return this.#database.write(() => {
      const rows = later();
      for (const row of rows) this.#update(row, { ...row, updated: now });
      return rows.length;
    });
  }

  /** Runs `work` and appends the lines in one transaction, then announces them. `cancel` rolls back without lines. */
  #logged<T>(entries: LedgerEntry[], work: (cancel: <V>(value: V) => V) => T): T {
    let lines: LedgerLine[] = [];
    const result = this.#database.write(() => {
      let cancelled = false;
      const done = work((value) => {
        cancelled = true;
        return value;
      });
      if (!cancelled) lines = this.#ledger.append(entries);
      return done;
    });
    this.#ledger.announce(lines);
    return result;
  }

  #existing(id: InstanceId): InstanceRow {
    const row = findRow(this.#database, id);
    if (row === null) throw new WinterdockError('not_found', `There is no sandbox "${id}".`);
    return row;
  }

  #dueAt(row: InstanceRow): number | null {
    return dueAt(row, this.#thresholds.ofTenant(row.tenant));
  }

  #update(before: InstanceRow, after: InstanceRow): void {
    const thresholds = this.#thresholds.ofTenant(before.tenant);
    const due = dueAt(after, thresholds);
    const reworded = before.name !== after.name || before.labels !== after.labels;
    updateRow(this.#database, before, after, {
      ...(due === dueAt(before, thresholds) ? {} : { dueAt: due }),
      ...(reworded ? { words: searchText(after) } : {}),
    });
    if (reworded || after.state === 'deleted') this.#lists.textsChanged('removed');
  }
}
