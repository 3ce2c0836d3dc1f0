/**
 * The ledger's sealed months, as rows: sealed, marked as exported, marked for dropping, their lines removed. Triggers
 * allow only valid changes of a segment. Knows nothing of signatures or of when a month is over.
 */
import {
  and,
  eq,
  getTableColumns,
  gt,
  gte,
  isNotNull,
  isNull,
  lte,
  max,
  min,
  placeholder,
} from '../../../db/drizzle.ts';
import { events, ledgerSegments } from '../../../db/schema.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { Segment, SegmentStore } from '../segments.ts';
import { boundColumns } from './bound-values.ts';
import { type RegistryDatabase, sqliteCode } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import { selectBy } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

const SEGMENT = getTableColumns(ledgerSegments);

export class SegmentTable implements SyncMethods<SegmentStore> {
  readonly #database: RegistryDatabase;
  readonly #ledger: LedgerTable;

  readonly #list;
  readonly #get;
  readonly #firstSince;
  readonly #seal;
  readonly #exported;
  readonly #drop;
  readonly #first;
  readonly #sweepTo;
  readonly #sweep;

  constructor(database: RegistryDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    const isIt = eq(ledgerSegments.id, placeholder('id'));
    this.#list = database.statement((queries) =>
      queries.select().from(ledgerSegments).orderBy(ledgerSegments.firstSeq).prepare(),
    );
    this.#get = database.statement((queries) => queries.select().from(ledgerSegments).where(isIt).prepare());
    this.#firstSince = database.statement((queries) =>
      selectBy(queries, { first: min(events.seq) }, events, 'events_by_time')
        .where(and(gte(events.timeMs, placeholder('timeMs')), gt(events.seq, placeholder('seq'))))
        .prepare(),
    );
    const { exportedMs, droppedMs, dropSignature, ...sealed } = SEGMENT;
    this.#seal = database.statement((queries) => queries.insert(ledgerSegments).values(boundColumns(sealed)).prepare());
    this.#exported = database.statement((queries) =>
      queries
        .update(ledgerSegments)
        .set(boundColumns({ exportedMs }))
        .where(and(isIt, isNull(exportedMs)))
        .prepare(),
    );
    this.#drop = database.statement((queries) =>
      queries
        .update(ledgerSegments)
        .set(boundColumns({ droppedMs, dropSignature }))
        .where(and(isIt, isNull(droppedMs), isNotNull(exportedMs)))
        .prepare(),
    );
    this.#first = database.statement((queries) =>
      queries
        .select({ seq: min(events.seq) })
        .from(events)
        .prepare(),
    );
    this.#sweepTo = database.statement((queries) =>
      queries
        .select({ seq: max(ledgerSegments.lastSeq) })
        .from(ledgerSegments)
        .where(isNotNull(droppedMs))
        .prepare(),
    );
    this.#sweep = database.statement((queries) =>
      queries
        .delete(events)
        .where(and(gte(events.seq, placeholder('first')), lte(events.seq, placeholder('last'))))
        .prepare(),
    );
  }

  list(): Segment[] {
    return this.#list().all();
  }

  get(id: string): Segment | null {
    return this.#get().get({ id }) ?? null;
  }

  firstSince(seq: number, timeMs: number): number | null {
    return this.#firstSince().get({ seq, timeMs })?.first ?? null;
  }

  seal(segment: Parameters<SegmentStore['seal']>[0], entry: Parameters<SegmentStore['seal']>[1]): void {
    this.#logged(entry, () => {
      this.#seal().run({ ...segment });
    });
  }

  markExported(id: string, timeMs: number): void {
    this.#database.write(() => this.#exported().run({ exportedMs: timeMs, id }));
  }

  markDropped(
    id: string,
    mark: { timeMs: number; signature: string },
    entry: Parameters<SegmentStore['markDropped']>[2],
  ): void {
    this.#logged(entry, () => {
      const marked = this.#drop().run({ droppedMs: mark.timeMs, dropSignature: mark.signature, id });
      if (marked.changes === 1) return;
      throw new WinterdockError('conflict', `The segment ${id} is not there, not exported yet, or dropped already.`);
    });
  }

  deleteDropped(limit: number): number {
    const first = this.#first().get()?.seq ?? null;
    const last = this.#sweepTo().get()?.seq ?? 0;
    if (first === null || first > last) return 0;
    return this.#database.write(() => this.#sweep().run({ first, last: Math.min(last, first + limit - 1) }).changes);
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
