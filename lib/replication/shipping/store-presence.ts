/**
 * Whether the store takes what it is given: after a failure it is away, is asked again later and later, and is back
 * once it has taken something. Knows nothing of segments.
 */
import { setTimeout as pause } from 'node:timers/promises';

/** Pauses after a failure, in milliseconds: doubled up to the longest. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
const MOST_DOUBLINGS = 10;

export interface StorePresenceParts {
  /** Whether the store can be used: asked now and then after a failure. */
  isBack: () => Promise<boolean>;
  /** Ends the asking. */
  ending: AbortSignal;
  /** It cannot be used any more. */
  onAway: () => void;
  /** It answers: something may be sent again. */
  onAnswers: () => void;
}

export class StorePresence {
  readonly #parts: StorePresenceParts;
  #failures = 0;
  #away: { sinceMs: number; why: string } | null = null;
  /** It answers, and is away until it has taken something. */
  #isTrying = false;
  #hurried = Promise.withResolvers<void>();
  #asking: Promise<void> = Promise.resolve();

  constructor(parts: StorePresenceParts) {
    this.#parts = parts;
  }

  /** Since when nothing could be stored (monotonic milliseconds), and why; null: it can. */
  get away(): { sinceMs: number; why: string } | null {
    return this.#away;
  }

  /** Whether the answer to what was sent last may have been lost. */
  get hasFailed(): boolean {
    return this.#failures > 0;
  }

  /** Whether it is about to show that it is back. */
  get isTrying(): boolean {
    return this.#isTrying;
  }

  /** How much may be sent at the same time, of `usual`. */
  room(usual: number): number {
    if (this.#parts.ending.aborted || (this.#away !== null && !this.#isTrying)) return 0;
    return this.#failures > 0 ? 1 : usual;
  }

  took(): void {
    this.#failures = 0;
    if (this.#isTrying) this.#away = null;
    this.#isTrying = false;
  }

  /** Nothing is there that it could be tried with: one that answers is back. */
  hasNothing(): void {
    if (this.#isTrying) this.#away = null;
    this.#isTrying = false;
  }

  /** `why`: a sentence. */
  failed(why: string): void {
    this.#failures += 1;
    const before = this.#away;
    if (before !== null && !this.#isTrying) return;
    this.#isTrying = false;
    this.#away = { sinceMs: before?.sinceMs ?? performance.now(), why };
    this.#asking = this.#ask();
    if (before === null) this.#parts.onAway();
  }

  /** Somebody waits for a store that is away: it is asked soon. */
  hurry(): void {
    this.#hurried.resolve();
  }

  /** Resolves once it is not asked any more, after `ending`. */
  async settled(): Promise<void> {
    await this.#asking;
  }

  /** Asks until it answers, also when nothing waits any more. */
  async #ask(): Promise<void> {
    const { ending, isBack, onAnswers } = this.#parts;
    for (let asked = 0; ; asked += 1) {
      const wait = FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 1 + asked, MOST_DOUBLINGS);
      await this.#pause(Math.min(wait, LONGEST_PAUSE_MS));
      if (ending.aborted) return;
      if (await isBack().catch(() => false)) break;
    }
    this.#isTrying = true;
    onAnswers();
  }

  /** Waits; no longer than the first pause once somebody waits for the store. */
  async #pause(ms: number): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([this.#parts.ending, over.signal]);
    const wait = (time: number) => pause(time, undefined, { signal, ref: false }).catch(() => undefined);
    this.#hurried = Promise.withResolvers();
    const first = wait(Math.min(ms, FIRST_PAUSE_MS));
    await Promise.race([wait(ms), Promise.all([first, this.#hurried.promise])]);
    over.abort();
  }
}
