/**
 * What is promised of each sandbox's replica: its own setting, else its tenant's, else the server's. Those of tenants
 * are kept in memory, because a wake asks in the tick in which it opens the file, and are at most a second old.
 */
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { parseReplicate, type ReplicateClass } from '../replication/promise/replicate-class.ts';

/** How often what other servers of the registry changed is looked for, in milliseconds. */
const LOOK_MS = 1000;
const OFF: ReplicateClass = { kind: 'off' };

export class ReplicateClasses {
  readonly #registry: Pick<Registry, 'quotas' | 'commitEvents'>;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #all: ReplicateClass;
  readonly #ended: (() => void)[] = [];
  #ofTenants: ReadonlyMap<string, ReplicateClass> = new Map();
  #looking: Promise<void> | null = null;
  #isAgain = false;
  #onRead: () => void = () => undefined;

  /** `all`: the server's own, as the settings have it. */
  constructor(registry: Pick<Registry, 'quotas' | 'commitEvents'>, log: Pick<Logger, 'warn'>, all: string) {
    this.#registry = registry;
    this.#log = log;
    this.#all = parseReplicate(all) ?? OFF;
  }

  /** Calls back when what is set of tenants was read. */
  onRead(listener: () => void): void {
    this.#onRead = listener;
  }

  /** Reads what is set of tenants, and follows it from then on. */
  async open(): Promise<void> {
    await this.#read();
    this.#ended.push(
      this.#registry.commitEvents.onStale(() => this.look()),
      this.#registry.commitEvents.onLedgerAppend(({ lines }) => {
        if (lines.some(({ type }) => type === 'tenant.changed')) this.look();
      }),
    );
    const timer = setInterval(() => this.look(), LOOK_MS).unref();
    this.#ended.push(() => clearInterval(timer));
  }

  of({ replicate, tenant }: Pick<InstanceRow, 'replicate' | 'tenant'>): ReplicateClass {
    if (replicate !== null) return parseReplicate(replicate) ?? OFF;
    return this.#ofTenants.get(tenant) ?? this.#all;
  }

  /** Reads them again; what is under way already is followed by one more. */
  look(): void {
    if (this.#looking !== null) {
      this.#isAgain = true;
      return;
    }
    this.#isAgain = false;
    this.#looking = this.#read()
      .catch((error: unknown) => this.#log.warn({ error: messageOf(error) }, 'settings of replicas were not read'))
      .finally(() => {
        this.#looking = null;
        if (this.#isAgain) this.look();
      });
  }

  async close(): Promise<void> {
    for (const end of this.#ended.splice(0)) end();
    this.#isAgain = false;
    await this.#looking;
  }

  async #read(): Promise<void> {
    const found = await this.#registry.quotas.replicated();
    this.#ofTenants = new Map(found.map(({ tenant, replicate }) => [tenant, parseReplicate(replicate) ?? OFF]));
    this.#onRead();
  }
}
