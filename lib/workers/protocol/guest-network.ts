/**
 * The network of one call inside a worker: its requests go to the server, which answers them. Keeps back what is more
 * at a time than the server takes. Knows nothing of languages.
 */
import { type FetchAnswer, type FetchRequest, MOST_OPEN_REQUESTS, noNetwork } from './fetch-messages.ts';
import type { PolicyProfile } from './policies.ts';
import type { FromInstance } from './protocol.ts';

const ABORTED: FetchAnswer = { failure: 'aborted', message: 'the call has ended' };

/** Ends a request early. A signal of Node would need timers, which the shell's defences take away. */
export interface Cancel {
  cancelled: boolean;
  onCancel: (() => void) | null;
}

export class GuestNetwork {
  readonly #profile: Pick<PolicyProfile, 'capabilities'> & { name: string };
  readonly #id: number;
  readonly #send: (message: FromInstance) => void;
  /** By question. */
  readonly #open = new Map<number, (answer: FetchAnswer) => void>();
  readonly #waiting: (() => void)[] = [];
  #nextQuestion = 1;
  #ended = false;

  constructor(
    profile: Pick<PolicyProfile, 'capabilities'> & { name: string },
    id: number,
    send: (message: FromInstance) => void,
  ) {
    this.#profile = profile;
    this.#id = id;
    this.#send = send;
  }

  /** The sentence that says that there is none; null when there is one. */
  get refusal(): string | null {
    return this.#profile.capabilities.includes('fetch') ? null : noNetwork(this.#profile.name);
  }

  /** Sends a request and waits for its answer. Never throws. */
  async fetch(request: FetchRequest, cancel?: Cancel): Promise<FetchAnswer> {
    const { refusal } = this;
    if (refusal !== null) return { failure: 'profile', message: refusal };
    while (this.#open.size >= MOST_OPEN_REQUESTS && !this.#ended) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#ended || cancel?.cancelled) return ABORTED;
    const question = this.#nextQuestion++;
    const { promise, resolve } = Promise.withResolvers<FetchAnswer>();
    this.#open.set(question, resolve);
    if (cancel !== undefined) cancel.onCancel = () => this.#ask(question, null);
    this.#ask(question, request);
    const answer = await promise;
    this.#waiting.shift()?.();
    return answer;
  }

  /** An answer of the server. */
  settle(question: number, answer: FetchAnswer): void {
    this.#open.get(question)?.(answer);
    this.#open.delete(question);
  }

  /** The call is stopped: nothing is waited for any more. */
  end(): void {
    this.#ended = true;
    for (const [question, resolve] of this.#open) {
      this.#ask(question, null);
      resolve(ABORTED);
    }
    this.#open.clear();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** `request`: null calls the question off. */
  #ask(question: number, request: FetchRequest | null): void {
    this.#send({ type: 'fetch', id: this.#id, question, request });
  }
}
