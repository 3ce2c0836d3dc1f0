/**
 * The ledger's sealed months, as rows: sealed, marked as exported, marked for dropping, their lines removed. Triggers
 * allow only valid changes of a segment. Knows nothing of signatures or of when a month is over.
 */
import { WinterdockError } from '../../base/errors.ts';
import type { Segment, SegmentStore } from '../segments.ts';
import { segmentStatements } from '../statements/segments.ts';
import type { LedgerEntry } from '../types.ts';
import type { PostgresDatabase } from './database.ts';
import { isRefused } from './errors.ts';
import type { LedgerTable } from './ledger.ts';

export class SegmentTable implements SegmentStore {
  readonly #database: PostgresDatabase;
  readonly #ledger: LedgerTable;

  readonly #statements;

  constructor(database: PostgresDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    this.#statements = database.with(segmentStatements);
  }

  async list(): Promise<Segment[]> {
    return await this.#statements.list().all();
  }

  async get(id: string): Promise<Segment | null> {
    return (await this.#statements.get().get({ id })) ?? null;
  }

  async firstSince(seq: number, timeMs: number): Promise<number | null> {
    return (await this.#statements.firstSince().get({ seq, timeMs }))?.first ?? null;
  }

  seal(segment: Parameters<SegmentStore['seal']>[0], entry: Parameters<SegmentStore['seal']>[1]): Promise<void> {
    return this.#logged(entry, async () => {
      await this.#statements.seal().run({ ...segment });
    });
  }

  async markExported(id: string, timeMs: number): Promise<void> {
    await this.#database.write(async () => await this.#statements.exported().run({ exportedMs: timeMs, id }));
  }

  markDropped(
    id: string,
    mark: { timeMs: number; signature: string },
    entry: Parameters<SegmentStore['markDropped']>[2],
  ): Promise<void> {
    return this.#logged(entry, async () => {
      const marked = await this.#statements.drop().run({ droppedMs: mark.timeMs, dropSignature: mark.signature, id });
      if (marked.changes === 1) return;
      throw new WinterdockError('conflict', `The segment ${id} is not there, not exported yet, or dropped already.`);
    });
  }

  async deleteDropped(limit: number): Promise<number> {
    const first = (await this.#statements.first().get())?.seq ?? null;
    const last = (await this.#statements.sweepTo().get())?.seq ?? 0;
    if (first === null || first > last) return 0;
    return await this.#database.write(
      async () => (await this.#statements.sweep().run({ first, last: Math.min(last, first + limit - 1) })).changes,
    );
  }

  async #logged(entry: LedgerEntry, work: () => Promise<void>): Promise<void> {
    try {
      await this.#ledger.recorded([entry], work);
    } catch (error) {
      // The table's key, or a trigger that keeps the order.
      if (!isRefused(error)) throw error;
      throw new WinterdockError('conflict', 'The segment is sealed already, or does not follow the last one.', {
        cause: error,
      });
    }
  }
}
