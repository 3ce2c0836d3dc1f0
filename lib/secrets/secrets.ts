/**
 * Secrets of tenants and sandboxes: encrypts them when they are set, and gives them to the broker alone, as headers of
 * a request that it is about to send. Nothing else decrypts one. Knows nothing of connections.
 */
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { SecretSealer } from '../base/sealed-secrets.ts';
import { covers } from '../outgoing/url-rules.ts';
import type { Registry } from '../registry/registry.ts';
import type { SecretKey, SecretRow, SecretTerms } from '../registry/secrets.ts';
import type { LedgerEntry } from '../registry/types.ts';

/** What the key of these secrets is derived for. */
export const SECRET_PURPOSE = 'winterdock secrets of sandboxes v1';

/** A header that the broker sets in a request, whatever the guest had set there. The value is never shown or logged. */
export interface SecretHeader {
  /** Lower case. */
  name: string;
  value: string;
  /** What of the value is secret. */
  secret: string;
}

const MOST_PER_OWNER = 100;
/** How exactly the time of the last use is known: a write for each request would cost more than it tells. */
const USE_SECONDS = 60;

export class Secrets {
  readonly #store: Registry['secrets'];
  readonly #sealer: SecretSealer;
  readonly #clock: Clock;

  /** `sealer` is one for `SECRET_PURPOSE`. */
  constructor(parts: { registry: Pick<Registry, 'secrets'>; sealer: SecretSealer; clock: Clock }) {
    this.#store = parts.registry.secrets;
    this.#sealer = parts.sealer;
    this.#clock = parts.clock;
  }

  /**
   * The headers of a request of a sandbox to `url`, to be asked for anew for each address that an answer redirects to.
   * Where two set one header, the sandbox's own goes before its tenant's, and of those the one with the longer address.
   * Throws `conflict` when a secret for this address does not open.
   */
  async headersFor(
    { instanceId, tenant }: { instanceId: InstanceId; tenant: string },
    url: URL,
  ): Promise<SecretHeader[]> {
    const rows = await this.#store.usable(tenant, instanceId);
    const own = new Set(rows.filter(({ instance }) => instance !== '').map(({ name }) => name));
    const fitting = rows
      .filter((row) => (row.instance !== '' || !own.has(row.name)) && covers(row.url, url))
      .sort((a, b) => Number(b.instance !== '') - Number(a.instance !== '') || b.url.length - a.url.length);
    const headers = new Map<string, SecretHeader>();
    for (const row of fitting) {
      if (headers.has(row.header)) continue;
      const secret = this.#open(row);
      if (secret === null) throw lost([row]);
      headers.set(row.header, { name: row.header, value: row.format.replace('{}', () => secret), secret });
      await this.#noteUse(row);
    }
    return [...headers.values()];
  }

  /** Every secret that a sandbox may use, with the header that it would be in. Those that do not open are left out. */
  async usableBy(tenant: string, instanceId: InstanceId): Promise<SecretHeader[]> {
    const rows = await this.#store.usable(tenant, instanceId);
    return rows.flatMap((row) => {
      const secret = this.#open(row);
      return secret === null ? [] : [{ name: row.header, value: row.format.replace('{}', () => secret), secret }];
    });
  }

  /** Encrypts and stores one, in the place of one with its name. Throws `quota_exceeded`. */
  set(
    terms: SecretTerms,
    value: string,
    actor: string,
    ledger: LedgerEntry,
  ): Promise<{ row: SecretRow; created: boolean }> {
    const sealed = this.#sealer.seal(value, secretOwner(terms));
    return this.#store.put({ ...terms, sealed }, { now: epochSeconds(this.#clock), actor }, MOST_PER_OWNER, ledger);
  }

  /** Those of a tenant itself, or of one sandbox, by name. */
  list(tenant: string, instance: InstanceId | ''): Promise<SecretRow[]> {
    return this.#store.list(tenant, instance);
  }

  /** False when there is none. */
  remove(key: SecretKey, ledger: LedgerEntry): Promise<boolean> {
    return this.#store.remove(key, ledger);
  }

  /** Whether the server's key opens it, and nothing that it is sealed for was changed. */
  opens(row: SecretRow): boolean {
    return this.#open(row) !== null;
  }

  /** The error that names every secret to be set again, or null when all open. */
  async lost(): Promise<WinterdockError | null> {
    const rows = (await this.#store.all()).filter((row) => !this.opens(row));
    return rows.length === 0 ? null : lost(rows);
  }

  #open(row: SecretRow): string | null {
    return this.#sealer.open(row.sealed, secretOwner(row));
  }

  async #noteUse(row: SecretRow): Promise<void> {
    const now = epochSeconds(this.#clock);
    if (row.lastUsed === null || Math.abs(now - row.lastUsed) >= USE_SECONDS) await this.#store.used(row, now);
  }
}

/** What a secret is sealed for: a row that is moved, or whose address is changed in the file, does not open. */
export function secretOwner({ tenant, instance, name, url, header, format }: SecretTerms): string {
  return JSON.stringify([tenant, instance, name, url, header, format]);
}

function lost(rows: readonly SecretKey[]): WinterdockError {
  const names = rows.slice(0, 20).map(({ tenant, instance, name }) => `${name} of ${instance || tenant}`);
  const more = rows.length > names.length ? ` and ${rows.length - names.length} more` : '';
  return new WinterdockError('conflict', `The server’s key does not open: ${names.join(', ')}${more}.`, {
    hint: 'Set them again, or bring back secrets.key from a backup.',
  });
}
