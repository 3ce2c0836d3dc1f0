/**
 * Which sources of components a process has been sent, so that each is sent once. A process keeps them by their hash,
 * the last ones of a few megabytes.
 */

import type { ComponentStep } from './component-call.ts';
import type { Call } from './protocol.ts';

/** Characters that a process surely keeps: less than it really does. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

export class SentSources {
  readonly #sent = new Map<string, number>();
  #characters = 0;

  /** A call as it is sent, now: without the sources that the process has. */
  withoutSent(call: Call): Call {
    return call.kind === 'components' ? { ...call, steps: this.#unsent(call.steps) } : call;
  }

  #unsent(steps: readonly ComponentStep[]): ComponentStep[] {
    return steps.map((step) => {
      const { src, hash } = step.component;
      if (src === undefined) return step;
      if (!this.#note(hash, src.length)) return step;
      const { src: _, ...component } = step.component;
      return { ...step, component };
    });
  }

  /** Notes a source as sent. True when the process has it already. */
  #note(hash: string, characters: number): boolean {
    if (this.#sent.has(hash)) return true;
    if (this.#characters + characters > MAX_CHARACTERS) {
      this.#sent.clear();
      this.#characters = 0;
    }
    this.#sent.set(hash, characters);
    this.#characters += characters;
    return false;
  }
}
