/**
 * The ledger's sealed months, as rows: sealed, marked as exported, marked for dropping, their lines removed. Knows nothing of signatures
 * or of when a month is over; triggers hold what may be done to a segment.
 */
import { WinterdockError } from '../../errors.ts';
import type { Segment, Segments } from '../segments.ts';
import { type RegistryDatabase, sqliteCode, type Value } from './database.ts';
import type { Ledger } from './ledger.ts';

const COLUMNS = `id, first_seq, last_seq, lines, previous_hash, first_hash, last_hash, sealed_ms, issuer, signature,
  exported_ms, dropped_ms, drop_signature`;
const SEAL = `INSERT INTO ledger_segments(${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL)`;
/** All of them, oldest first. */
export const SELECT_SEGMENTS = `SELECT ${COLUMNS} FROM ledger_segments ORDER BY first_seq`;
const SELECT_SEGMENT = `SELECT ${COLUMNS} FROM ledger_segments WHERE id = ?`;
const FIRST_SINCE = 'SELECT min(seq) FROM events INDEXED BY events_by_time WHERE time_ms >= ? AND seq > ?';
const EXPORTED = 'UPDATE ledger_segments SET exported_ms = ? WHERE id = ? AND exported_ms IS NULL';
const DROP = `UPDATE ledger_segments SET dropped_ms = ?, drop_signature = ?
  WHERE id = ? AND dropped_ms IS NULL AND exported_ms IS NOT NULL`;
const SWEEP_TO = 'SELECT max(last_seq) FROM ledger_segments WHERE dropped_ms IS NOT NULL';

export class SegmentTable implements Segments {
  readonly #database: RegistryDatabase;
  readonly #ledger: Ledger;

  constructor(database: RegistryDatabase, ledger: Ledger) {
    this.#database = database;
    this.#ledger = ledger;
  }

  list(): Segment[] {
    return this.#database.sql(SELECT_SEGMENTS).all().map(segmentOf);
  }

  get(id: string): Segment | null {
    const values = this.#database.sql(SELECT_SEGMENT).get(id);
    return values === undefined ? null : segmentOf(values);
  }

  firstSince(seq: number, timeMs: number): number | null {
    return this.#database.value(FIRST_SINCE, timeMs, seq) as number | null;
  }

  seal(segment: Parameters<Segments['seal']>[0], entry: Parameters<Segments['seal']>[1]): void {
    const { firstSeq, lastSeq, lines, previousHash, firstHash, lastHash, sealedMs, issuer, signature } = segment;
    this.#logged(entry, () => {
      this.#database
        .sql(SEAL)
        .run(segment.id, firstSeq, lastSeq, lines, previousHash, firstHash, lastHash, sealedMs, issuer, signature);
    });
  }

  exported(id: string, timeMs: number): void {
    this.#database.write(() => this.#database.sql(EXPORTED).run(timeMs, id));
  }

  drop(id: string, mark: { timeMs: number; signature: string }, entry: Parameters<Segments['drop']>[2]): void {
    this.#logged(entry, () => {
      if (this.#database.sql(DROP).run(mark.timeMs, mark.signature, id).changes === 1) return;
      throw new WinterdockError('conflict', `The segment ${id} is not there, not exported yet, or dropped already.`);
    });
  }

  sweep(limit: number): number {
    const first = this.#database.integer('SELECT min(seq) FROM events');
    const last = this.#database.integer(SWEEP_TO);
    if (first === 0 || first > last) return 0;
    return this.#database.write(
      () =>
        this.#database.sql('DELETE FROM events WHERE seq BETWEEN ? AND ?').run(first, Math.min(last, first + limit - 1))
          .changes,
    );
  }

  #logged(entry: Parameters<Segments['seal']>[1], work: () => void): void {
    let lines: ReturnType<Ledger['append']> = [];
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

/** One row of `SELECT_SEGMENTS`. */
export function segmentOf(values: Value[]): Segment {
  return {
    id: values[0] as string,
    firstSeq: values[1] as number,
    lastSeq: values[2] as number,
    lines: values[3] as number,
    previousHash: values[4] as string,
    firstHash: values[5] as string,
    lastHash: values[6] as string,
    sealedMs: values[7] as number,
    issuer: values[8] as string,
    signature: values[9] as string,
    exportedMs: values[10] as number | null,
    droppedMs: values[11] as number | null,
    dropSignature: values[12] as string | null,
  };
}
