/** The hosts of this registry, and their terms. */

export interface HostStore {
  /**
   * The term of the host of this name: a new one when it is new, or when the registry was restored since. `alone`: no
   * other host uses the registry (it is locked), so a name that another one had before is followed, and what was that
   * host's is this one's. `nowMs` in epoch milliseconds.
   */
  begin(name: string, nowMs: number, options: { alone: boolean }): Promise<number>;
  /**
   * After a restore: no row is anybody's any more, and the next host to begin has a new term, which is later than
   * `after` too: that of a host which began after the moment that was restored.
   */
  endTerms(nowMs: number, after?: number): Promise<void>;
}
