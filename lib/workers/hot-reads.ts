/**
 * Small reads that the process of an awake sandbox answers between its calls: it has the file open already. Each is a
 * question that may remain without an answer; the caller then reads the file in a reader process. Owns their time and
 * size limits and the check of the answers, which a hostile process may have made up.
 */
import type { PeekRequest, ReadAnswer, ReadRequest, VfsStat } from '../vfs/types.ts';
import type { ToInstance } from './protocol/protocol.ts';

/** Longer than a process needs that gets a turn now and then; a reader process takes as long to be waited for. */
const ANSWER_MS = 200;
/** Larger contents would leave their memory in the process. */
const PEEK_BYTES = 256 * 1024;

/** Whether a read may be answered so: it takes a few statements, and its answer has a known form. */
export function isSmallRead(request: ReadRequest): request is PeekRequest {
  if (request.op === 'stat') return true;
  return request.op === 'get' && (request.range === undefined || request.range.end - request.range.start < PEEK_BYTES);
}

export class HotReads {
  readonly #send: (message: ToInstance) => void;
  readonly #waiting = new Map<number, (result: unknown) => void>();

  constructor(send: (message: ToInstance) => void) {
    this.#send = send;
  }

  get underWay(): boolean {
    return this.#waiting.size > 0;
  }

  /** The answer; null when there is none in time, or when the content is too large. */
  ask(id: number, request: PeekRequest): Promise<ReadAnswer | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.settle(id, null), ANSWER_MS);
      this.#waiting.set(id, (result) => {
        clearTimeout(timer);
        resolve(parseAnswer(request, result));
      });
      this.#send({ type: 'peek', id, request, maxBytes: PEEK_BYTES });
    });
  }

  /** Gives a read its answer, null for a failure. False when `id` is not one that waits here. */
  settle(id: number, result: unknown): boolean {
    const answer = this.#waiting.get(id);
    this.#waiting.delete(id);
    answer?.(result);
    return answer !== undefined;
  }

  /** The process is gone. */
  end(): void {
    for (const id of [...this.#waiting.keys()]) this.settle(id, null);
  }
}

function parseAnswer({ op, path }: PeekRequest, result: unknown): ReadAnswer | null {
  if (typeof result !== 'object' || result === null) return null;
  const answer = result as Record<string, unknown>;
  const stat = answer.stat === null ? null : parseStat(answer.stat, path);
  if (answer.op !== op || stat === undefined) return null;
  if (op === 'stat') return { op, stat };
  const { content } = answer;
  if (stat === null) return content === null ? { op, stat, content } : null;
  return content instanceof Uint8Array && content.byteLength <= PEEK_BYTES ? { op, stat, content } : null;
}

function parseStat(value: unknown, path: string): VfsStat | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { size, mtime, version } = value as Record<string, unknown>;
  if (!isWhole(size) || !isWhole(mtime) || !isWhole(version)) return undefined;
  return { path, size, mtime, version };
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
