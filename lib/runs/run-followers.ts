/**
 * Who follows runs over connections that stay open. Each may have output queued that it does not take, so their numbers
 * are bounded. Knows nothing of connections.
 */
import { WinterdockError } from '../base/errors.ts';

const OF_RUN = 100;
const OF_TENANT = 200;
const IN_ALL = 1000;

interface FollowedRun {
  id: string;
  tenant: string;
}

export class RunFollowers {
  readonly #ofRun = new Map<string, number>();
  readonly #ofTenant = new Map<string, number>();
  #all = 0;

  /** Throws `rate_limited` when the run, its tenant or the server has as many as it may have. */
  requirePlace({ id, tenant }: FollowedRun): void {
    if ((this.#ofRun.get(id) ?? 0) >= OF_RUN) throw tooMany(`${OF_RUN} follow the run "${id}" already.`);
    if ((this.#ofTenant.get(tenant) ?? 0) >= OF_TENANT)
      throw tooMany(`${OF_TENANT} follow runs of the tenant "${tenant}" already.`);
    if (this.#all >= IN_ALL) throw tooMany(`${IN_ALL} follow is running already.`);
  }

  /** Adds one. Returns the function with which it leaves, which is idempotent. Throws as `requirePlace`. */
  join(run: FollowedRun): () => void {
    this.requirePlace(run);
    this.#count(run, 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#count(run, -1);
    };
  }

  #count({ id, tenant }: FollowedRun, by: 1 | -1): void {
    this.#all += by;
    add(this.#ofRun, id, by);
    add(this.#ofTenant, tenant, by);
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function tooMany(message: string): WinterdockError {
  return new WinterdockError('rate_limited', message, {
    hint: 'Read the output without following it, or come back when others have left.',
    retryAfterSeconds: 5,
  });
}
