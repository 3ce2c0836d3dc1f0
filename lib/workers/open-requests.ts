/** The requests of one call to the network that have no answer yet, on the server's side. Knows nothing of rules. */
import { type FetchAnswer, type FetchHost, MOST_OPEN_REQUESTS } from './protocol/fetch-messages.ts';
import type { FromInstance } from './protocol/protocol.ts';

export class OpenRequests {
  readonly #fetch: FetchHost;
  readonly #id: string;
  readonly #open = new Map<number, AbortController>();

  /** `id`: of the sandbox. */
  constructor(fetch: FetchHost, id: string) {
    this.#fetch = fetch;
    this.#id = id;
  }

  /**
   * Has a request answered, or gives it up. False for more at a time than a process sends. `send` calls `done` when the
   * process has taken the answer, or never will.
   */
  take(
    { question, request }: Extract<FromInstance, { type: 'fetch' }>,
    send: (question: number, answer: FetchAnswer, done: () => void) => void,
  ): boolean {
    if (request === null) {
      this.#open.get(question)?.abort();
      return true;
    }
    if (this.#open.size >= MOST_OPEN_REQUESTS || this.#open.has(question)) return false;
    const stop = new AbortController();
    this.#open.set(question, stop);
    const { promise: taken, resolve: done } = Promise.withResolvers<void>();
    void this.#fetch(this.#id, request, stop.signal, taken).then((answer) => {
      this.#open.delete(question);
      send(question, answer, done);
    });
    return true;
  }

  /** The call has ended. */
  end(): void {
    for (const stop of this.#open.values()) stop.abort();
  }
}
