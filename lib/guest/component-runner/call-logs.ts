/** What the components of one call print and log, in order and bounded. */
import type { ComponentLog, ComponentProgress } from '../../workers/protocol/component-call.ts';

/** Most characters of a call; the rest is dropped, and a last piece says so. */
const MAX_CHARACTERS = 1024 * 1024;
/** Most pieces: adjacent ones of one stream and step are one. */
const MAX_PIECES = 10_000;

export class CallLogs {
  readonly #pieces: ComponentLog[] = [];
  readonly #onPiece: ((progress: ComponentProgress) => void) | null;
  #characters = 0;
  #isFull = false;

  /** `onPiece`: called with each piece, for a caller who follows the call. */
  constructor(onPiece: ((progress: ComponentProgress) => void) | null) {
    this.#onPiece = onPiece;
  }

  /** True once anything was dropped. */
  get isFull(): boolean {
    return this.#isFull;
  }

  add(step: number, stream: ComponentLog['stream'], text: string): void {
    if (this.#isFull || text === '') return;
    const room = MAX_CHARACTERS - this.#characters;
    const kept = text.slice(0, room).toWellFormed();
    this.#characters += kept.length;
    const last = this.#pieces.at(-1);
    if (last !== undefined && last.step === step && last.stream === stream) last.text += kept;
    else this.#pieces.push({ stream, text: kept, step });
    this.#onPiece?.({ log: { stream, text: kept, step } });
    if (text.length < room && this.#pieces.length < MAX_PIECES) return;
    this.#isFull = true;
    const notice: ComponentLog = {
      stream: 'log',
      text: 'More was printed than a call may keep: the rest was dropped.',
      step,
    };
    this.#pieces.push(notice);
    this.#onPiece?.({ log: notice });
  }

  take(): ComponentLog[] {
    return this.#pieces.splice(0);
  }
}
