/**
 * Calls of tools under way, so that a message of its own can cancel one: clients of the protocol's revisions before
 * 2026-07-28 do that. A call is known by its caller, the session that the client was given, and its id. The session is
 * a name and nothing else: it opens nothing, and what is kept ends with the call.
 */
import { randomUUID } from 'node:crypto';

/** Whose call it is, and which: what a cancellation must name. */
interface CallName {
  actor: string;
  session: string;
  id: string | number;
}

const keyOf = ({ actor, session, id }: CallName) => JSON.stringify([actor, session, id]);

export class RunningCalls {
  readonly #calls = new Map<string, AbortController>();

  /** A name for a client's calls that nobody can guess. */
  newSession(): string {
    return randomUUID();
  }

  /** Notes a call. The signal is aborted when it is cancelled; `end` forgets it. */
  begin(name: CallName): { signal: AbortSignal; end(): void } {
    const key = keyOf(name);
    const controller = new AbortController();
    this.#calls.set(key, controller);
    return {
      signal: controller.signal,
      end: () => {
        if (this.#calls.get(key) === controller) this.#calls.delete(key);
      },
    };
  }

  /** Cancels a call. Nothing happens when there is none of this name. */
  cancel(name: CallName): void {
    this.#calls.get(keyOf(name))?.abort();
  }

  /** How many calls are kept. */
  get size(): number {
    return this.#calls.size;
  }
}
