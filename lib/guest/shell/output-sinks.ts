/**
 * The paths that a script writes to for the call's own output, and what is done with what is written to them. A copy
 * has a path of its own: what is written there goes on to another path, and is kept as well. Knows nothing of who
 * writes.
 */

import type { Overlay } from '../../vfs/overlay.ts';

/** Paths that stand for the script's own output. */
export const SINKS = { stdout: '/dev/winterdock/stdout', stderr: '/dev/winterdock/stderr' } as const;

const COPIES = '/dev/winterdock/copy-';

/** Whether a path stands for output that is copied on its way. */
export function isCopy(path: string): boolean {
  return path.startsWith(COPIES);
}

export class OutputSinks {
  /** Whether somebody takes the call's output as it comes. */
  isFollowed = false;
  /** The files of a call that nobody waits for: redirected output is written to them as it comes. */
  written: Overlay | null = null;
  readonly #sinks: Map<string, (content: Uint8Array) => void>;
  /** The paths of the copies, one inside the other. */
  readonly #copies: string[] = [];

  /** `own`: takes what is written to the paths of `SINKS`. */
  constructor(own: (stream: keyof typeof SINKS, content: Uint8Array) => void) {
    this.#sinks = new Map([
      [SINKS.stdout, (content) => own('stdout', content)],
      [SINKS.stderr, (content) => own('stderr', content)],
    ]);
  }

  has(path: string): boolean {
    return this.#sinks.has(path);
  }

  /** Whether something was written to that path. */
  send(path: string, content: Uint8Array): boolean {
    const sink = this.#sinks.get(path);
    sink?.(content);
    return sink !== undefined;
  }

  /** Opens a copy of what goes on to `path`, if anywhere: of each content `take` is told first. Returns its path. */
  open(path: string | null, take: (content: Uint8Array) => void): string {
    const copy = `${COPIES}${this.#copies.length + 1}`;
    this.#copies.push(copy);
    this.#sinks.set(copy, (content) => {
      take(content);
      if (path !== null) this.send(path, content);
    });
    return copy;
  }

  /** Ends a copy, and those inside it. */
  close(copy: string): void {
    const at = this.#copies.indexOf(copy);
    if (at !== -1) for (const inner of this.#copies.splice(at)) this.#sinks.delete(inner);
  }
}
