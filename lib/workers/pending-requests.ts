/** Requests to a process that have no answer yet, by their number. Knows nothing of what they ask for. */

export class PendingRequests {
  readonly #requests = new Map<number, PromiseWithResolvers<unknown>>();

  get isEmpty(): boolean {
    return this.#requests.size === 0;
  }

  add(id: number): Promise<unknown> {
    const request = Promise.withResolvers<unknown>();
    this.#requests.set(id, request);
    return request.promise;
  }

  /** Nothing for a number that is not known. */
  resolve(id: number, answer: unknown): void {
    this.#requests.get(id)?.resolve(answer);
    this.#requests.delete(id);
  }

  reject(id: number, error: unknown): void {
    this.#requests.get(id)?.reject(error);
    this.#requests.delete(id);
  }

  /** Rejects all of them. */
  clear(errorOf: (id: number) => unknown): void {
    for (const id of [...this.#requests.keys()]) this.reject(id, errorOf(id));
  }
}
