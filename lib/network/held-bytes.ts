/**
 * How much of requests and answers the server holds for sandboxes: bodies that wait or are being sent, and answers that
 * their processes have not taken yet. Knows nothing of what they are.
 */
import { MOST_HELD, MOST_HELD_OF_TENANT } from '../outgoing/network-limits.ts';

export class HeldBytes {
  readonly #byTenant = new Map<string, number>();
  #all = 0;

  /** Returns what lets go of them, to be called once; null when the tenant or the server holds too many already. */
  take(tenant: string, bytes: number): (() => void) | null {
    const own = this.#byTenant.get(tenant) ?? 0;
    if (own + bytes > MOST_HELD_OF_TENANT || this.#all + bytes > MOST_HELD) return null;
    this.#add(tenant, bytes);
    return () => this.#add(tenant, -bytes);
  }

  #add(tenant: string, bytes: number): void {
    this.#all += bytes;
    const own = (this.#byTenant.get(tenant) ?? 0) + bytes;
    if (own === 0) this.#byTenant.delete(tenant);
    else this.#byTenant.set(tenant, own);
  }
}
