/**
 * Brings near what the people of a tenant are likely to open, when they sign in: the files of the frozen sandboxes that
 * did something last. In the background and bounded: it starts no process, a sign-in waits for none of it, and what
 * nobody uses is filed again (prefetch.ts). Knows nothing of how people sign in.
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Sandboxes } from '../sandboxes.ts';

/** The largest file that is fetched for somebody who may not want it: of a larger one the fetch is work of its own. */
const MOST_BYTES = 64 * 1024 * 1024;
/** After this no further file is begun: whoever signed in has opened what they came for by then. */
const LONGEST_MS = 10_000;
/** Sign-ins that wait for their turn; of more nothing is brought near. */
const MOST_WAITING = 8;

/** Who signed in. `tenants` null: of all, for whom nothing is more likely than the rest. */
interface Arrival {
  id: string;
  tenants: readonly string[] | null;
}

interface SignInPrefetchParts {
  /** How many files of one sign-in, at most; 0: none. */
  most: number;
  /** Milliseconds after which no further file of it is begun. */
  longestMs?: number;
  log: Logger;
  registry: Pick<Registry, 'instances'>;
  sandboxes: Pick<Sandboxes, 'prefetch'>;
}

export class SignInPrefetch {
  readonly #parts: SignInPrefetchParts;
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  #isStopped = false;

  constructor(parts: SignInPrefetchParts) {
    this.#parts = parts;
  }

  /** Begins it for a person. Resolves when it is over, for who wants to know, and never rejects. */
  async begin(who: Arrival): Promise<void> {
    const { tenants } = who;
    if (this.#parts.most === 0 || tenants === null || tenants.length === 0) return;
    if (this.#isStopped || this.#waiting >= MOST_WAITING) return;
    this.#waiting += 1;
    this.#turn = this.#turn
      .then(() => this.#bring(who.id, tenants))
      .catch((error: unknown) => this.#parts.log.warn({ error: messageOf(error) }, 'nothing was brought near'))
      .finally(() => {
        this.#waiting -= 1;
      });
    await this.#turn;
  }

  /** Ends it after the file under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#turn;
  }

  async #bring(person: string, tenants: readonly string[]): Promise<void> {
    const { most, longestMs = LONGEST_MS, log, registry, sandboxes } = this.#parts;
    const end = performance.now() + longestMs;
    const request = { tenants, state: 'frozen', sort: 'updated', reverse: false, limit: most } as const;
    const { rows } = await registry.instances.list(request);
    for (const { id, fault, pending, bytes } of rows) {
      if (this.#isStopped || performance.now() >= end) return;
      if (fault !== null || pending !== null || (bytes ?? 0) > MOST_BYTES) continue;
      const audit = { trigger: 'request', actor: `user:${person}`, via: 'system', reason: 'sign-in' } as const;
      try {
        await sandboxes.prefetch(id, { ...audit, requestId: null, address: null });
      } catch (error) {
        // The ledger has it; whoever opens the sandbox is told then.
        log.debug({ id, error: messageOf(error) }, 'not brought near');
      }
    }
  }
}
