/** What a driver of object stores does: names are valid when they come here, and nothing is observed yet. */
import type { Readable } from 'node:stream';
import type { ListedObject, ObjectRange, ObjectStat, PutOptions, StoreTraits } from './object-store.ts';

/** What a write under a name takes its bytes from. */
export interface WriteTask {
  pieces: AsyncIterable<Buffer>;
  /** Called behind the last piece and before the object appears. When it throws, no object appears. */
  accept: () => void;
  /** About as many come. */
  bytes: number;
  /** Of what comes, where it is known before; `accept` compares it. */
  sha256?: string;
  /** As `TransferOptions.timeMs`. */
  timeMs?: number;
  signal?: AbortSignal;
}

export interface OpenedObject {
  stream: Readable;
  /** Of the whole object. */
  stat: ObjectStat;
  /** Of the whole object, where the store has it from when it was written; null where it does not say. */
  sha256: string | null;
}

export interface StoreDriver {
  put(name: string, bytes: Uint8Array, options: PutOptions): Promise<ObjectStat>;
  get(name: string, most: number, signal?: AbortSignal): Promise<Uint8Array>;
  open(name: string, range: ObjectRange | undefined, signal?: AbortSignal): Promise<OpenedObject>;
  /** Stores pieces of any size, one after the other, as one object. Leaves nothing when it fails. */
  write(name: string, written: WriteTask): Promise<void>;
  head(name: string, signal?: AbortSignal): Promise<ObjectStat | null>;
  list(prefix: string, signal?: AbortSignal): AsyncIterable<readonly ListedObject[]>;
  remove(name: string, signal?: AbortSignal): Promise<void>;
  purge(name: string, signal?: AbortSignal): Promise<{ remainsUntil: number | null }>;
  copy(from: string, to: string, signal?: AbortSignal): Promise<ObjectStat>;
  /** Versioning, locks and rules, asked without writing anything; null where the store does not say. */
  rules(signal?: AbortSignal): Promise<Pick<StoreTraits, 'versioning' | 'lockDays' | 'expiry'>>;
  /**
   * Writes on condition of an etag. False when the store refuses it for another etag; null when it does not know the
   * condition.
   */
  putIfMatch(name: string, bytes: Uint8Array, etag: string, signal?: AbortSignal): Promise<boolean | null>;
  /** The same on condition that the name is free, with nothing done about stores that do not keep it. */
  putIfAbsent(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<boolean | null>;
  /** Throws `storage_unavailable` when the store is not the one that was opened: none where nobody can tell. */
  requireThere?(): Promise<void>;
  close(): void;
}

/** Tells the errors of what is read apart from those of where it is written to. */
export class PieceSource {
  readonly #pieces: AsyncIterable<Buffer>;
  failure: unknown;

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces;
  }

  async *pieces(): AsyncGenerator<Buffer> {
    try {
      yield* this.#pieces;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}
