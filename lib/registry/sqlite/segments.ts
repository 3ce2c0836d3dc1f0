/**
 * The ledger's sealed months, as rows: sealed, marked as exported, marked for dropping, their lines removed. Triggers
 * allow only valid changes of a segment. Knows nothing of signatures or of when a month is over.
 */
import { WinterdockError } from '../../base/errors.ts';
import type { Segment, SegmentStore } from '../segments.ts';
import { segmentStatements } from '../statements/segments.ts';
import { type RegistryDatabase, sqliteCode } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

export class SegmentTable implements SyncMethods<SegmentStore> {
  readonly #database: RegistryDatabase;
  readonly #ledger: LedgerTable;

  readonly #statements;

  constructor(database: RegistryDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    this.#statements = segmentStatements(database);
  }

  list(): Segment[] {
    return this.#statements.list().all();
  }

  get(id: string): Segment | null {
    return this.#statements.get().get({ id }) ?? null;
  }

  firstSince(seq: number, timeMs: number): number | null {
    return this.#statements.firstSince().get({ seq, timeMs })?.first ?? null;
  }

  seal(segment: Parameters<SegmentStore['seal']>[0], entry: Parameters<SegmentStore['seal']>[1]): void {
    this.#logged(entry, () => {
      this.#statements.seal().run({ ...segment });
    });
  }

  markExported(id: string, timeMs: number): void {
    this.#database.write(() => this.#statements.exported().run({ exportedMs: timeMs, id }));
  }

  markDropped(
    id: string,
    mark: { timeMs: number; signature: string },
    entry: Parameters<SegmentStore['markDropped']>[2],
  ): void {
    this.#logged(entry, () => {
      const marked = this.#statements.drop().run({ droppedMs: mark.timeMs, dropSignature: mark.signature, id });
      if (marked.changes === 1) return;
      throw new WinterdockError('conflict', `The segment ${id} is not there, not exported yet, or dropped already.`);
    });
  }

  deleteDropped(limit: number): number {
    const first = this.#statements.first().get()?.seq ?? null;
    const last = this.#statements.sweepTo().get()?.seq ?? 0;
    if (first === null || first > last) return 0;
    return this.#database.write(
      () => this.#statements.sweep().run({ first, last: Math.min(last, first + limit - 1) }).changes,
    );
  }

  #logged(entry: Parameters<SegmentStore['seal']>[1], work: () => void): void {
    let lines: ReturnType<LedgerTable['append']> = [];
    try {
      this.#database.write(() => {
        work();
        lines = this.#ledger.append([entry]);
      });
    } catch (error) {
      if (sqliteCode(error)?.startsWith('SQLITE_CONSTRAINT') !== true) throw error;
      throw new WinterdockError('conflict', 'The segment is sealed already, or does not follow the last one.', {
        cause: error,
      });
    }
    this.#ledger.announce(lines);
  }
}
