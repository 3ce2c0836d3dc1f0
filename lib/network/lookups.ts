/**
 * Looks up names for tenants, one name of a tenant at a time: the system has two threads for look-ups, and a name whose
 * server does not answer holds one of them for long. Remembers no answer.
 */
import type { LookupAddress } from 'node:dns';
import { type Resolve, resolveBySystem } from '../outgoing/address-policy.ts';
import { PARALLEL } from '../outgoing/network-limits.ts';

/** Names of a tenant that wait: those of all requests that may be under way, and of as many that were given up. */
const MOST_NAMES = 2 * PARALLEL;

export class Lookups {
  readonly #resolve: Resolve;
  /** The look-ups of a tenant under way, by name, and the last of them. */
  readonly #tenants = new Map<string, { names: Map<string, Promise<LookupAddress[]>>; last: Promise<unknown> }>();

  constructor(resolve: Resolve = resolveBySystem) {
    this.#resolve = resolve;
  }

  /** All addresses of a name; requests of a tenant that ask for one name wait for one answer. */
  of(tenant: string, name: string): Promise<LookupAddress[]> {
    const own = this.#tenants.get(tenant) ?? {
      names: new Map<string, Promise<LookupAddress[]>>(),
      last: Promise.resolve(),
    };
    this.#tenants.set(tenant, own);
    const known = own.names.get(name);
    if (known !== undefined) return known;
    if (own.names.size >= MOST_NAMES) return Promise.reject(Object.assign(new Error('busy'), { code: 'EAI_AGAIN' }));
    const asked = own.last.then(() => this.#resolve(name));
    const ended = asked
      .catch(() => {})
      .then(() => {
        own.names.delete(name);
        if (own.names.size === 0) this.#tenants.delete(tenant);
      });
    own.names.set(name, asked);
    own.last = ended;
    return asked;
  }
}
