/** The hosts of this registry: their terms, what each says of itself, and the renewals of their leases. */
import type { Via } from '../lifecycle/words.ts';
import type { LedgerEntry } from './types.ts';

/** The row of a host as somebody saw it who takes that host for dead, or found its name handed back. */
export type HostAsSeen = Pick<HostRecord, 'name' | 'token' | 'renewals'>;

/** What a host has room for. */
export interface HostCapacity {
  /** Sandboxes that may be awake at a time. */
  active: number;
  /** Memory of all their processes together, in bytes; null: no limit. */
  memoryBytes: number | null;
}

/** How a host is emptied. */
export interface HostDrain {
  /** Id of the job that does it, which the host itself begins. */
  job: string;
  reason: string | null;
  /** Whether what is kept hot, held or shown in a terminal is filed too. */
  includeHeld: boolean;
  actor: string;
  via: Via;
  address: string | null;
  /** Epoch seconds when it was asked for. */
  asked: number;
}

/** What a host says of itself at its start. */
export interface HostDetails {
  /** Where other hosts reach it; null: not said. */
  url: string | null;
  capacity: HostCapacity;
  version: string;
  /** Null: it says none, and keeps those of its row. */
  labels: Record<string, string> | null;
  /** Length of its lease; null: it has none, because nobody else reaches this registry. */
  leaseMs: number | null;
  /** Random, of this start, which alone renews. Null with `leaseMs`. */
  token: string | null;
  /** The Ed25519 key of its data folder, as a `did:key`. Null with `leaseMs`. */
  publicKey: string | null;
}

/** A host as its row says. What it never said is null. */
export interface HostRecord {
  name: string;
  term: number;
  /** Epoch milliseconds when the term began. */
  sinceMs: number;
  url: string | null;
  capacity: HostCapacity | null;
  version: string | null;
  labels: Record<string, string> | null;
  isDraining: boolean;
  /** Null unless it is draining. */
  drain: HostDrain | null;
  /** How often its lease was renewed in all. */
  renewals: number;
  /** Epoch milliseconds of the last renewal by the host's own clock: for people. */
  renewedMs: number | null;
  leaseMs: number | null;
  /** Null: nobody holds the name. */
  token: string | null;
  publicKey: string | null;
}

export interface HostStore {
  /**
   * The term of the host of this name: a new one when it is new, or when the registry was restored since. `alone`: no
   * other host uses the registry (it is locked), so a name that another one had before is followed, and what was that
   * host's is this one's. Beside others only what is on a disk and nobody's is, of a registry without another host: it
   * was restored here, or is from before there were hosts. `nowMs` in epoch milliseconds.
   */
  begin(name: string, nowMs: number, options: { alone: boolean }): Promise<number>;
  /** Records what a host that has begun says of itself. Writes nothing when the row says so already. */
  describe(name: string, details: HostDetails): Promise<void>;
  /** Renews the lease of the start with this token. False: the name is another's, or nobody's. One statement. */
  renew(name: string, token: string, nowMs: number): Promise<boolean>;
  /** The start with this token holds the name no more. Idempotent. */
  giveBack(name: string, token: string): Promise<void>;
  /**
   * Has a host emptied from now on, or no more (null), with its line. Nothing that a start says changes it. False, and
   * no line: there is no such host.
   */
  setDrain(name: string, drain: HostDrain | null, ledger: LedgerEntry): Promise<boolean>;
  /** Sets the labels of a host, with its line. False, and no line: there is no such host. */
  setLabels(name: string, labels: Record<string, string>, ledger: LedgerEntry): Promise<boolean>;
  /** All of them, by name. */
  list(): Promise<HostRecord[]>;
  /** How many sandboxes each host has, awake or on its disk; those that have none are left out. In no order. */
  owned(): Promise<{ host: string; sandboxes: number }[]>;
  /**
   * After a restore: no row is anybody's any more, and the next host to begin has a new term, which is later than what
   * orders the series of any row, and than `after`: what became of both after the moment that was restored.
   */
  endTerms(nowMs: number, after?: number): Promise<void>;
}

/** Whether a row says this already. */
export function saysAlready(row: HostRecord, details: HostDetails): boolean {
  const { url, capacity, version, labels, leaseMs, token, publicKey } = row;
  const said: { [K in keyof HostDetails]: HostDetails[K] | null } = {
    url,
    capacity,
    version,
    labels,
    leaseMs,
    token,
    publicKey,
  };
  const names = Object.keys(said) as (keyof HostDetails)[];
  const saying = names.filter((name) => name !== 'labels' || details.labels !== null);
  return saying.every((name) => JSON.stringify(said[name]) === JSON.stringify(details[name]));
}
