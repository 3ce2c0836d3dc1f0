/**
 * On which host of the registry a sandbox is, as far as a request for it is concerned. The interface alone: who asks
 * knows neither rows nor how hosts are watched. Types only.
 */
import type { InstanceId } from '../base/ids.ts';

/**
 * What is known of a sandbox on a host that is dead: the request has no place to go to. Derived at each request from
 * its row and from the renewals of its host, and never written.
 */
export interface UnreachableSandbox {
  /** Name of the dead host, which alone has its newest bytes. */
  readonly host: string;
  /** Epoch milliseconds of that host's last renewal by its own clock, for people; null: it never renewed. */
  readonly lastSeenMs: number | null;
  /** Epoch milliseconds up to which the store has what the sandbox wrote; null: the store has nothing of it. */
  readonly recoveryPointMs: number | null;
}

/** The host that a request is to be sent to, as its row says. */
export interface OtherHost {
  readonly host: string;
  /** Its `WB_HOST_URL`, without a slash at the end. */
  readonly url: string;
  /** The term of the host now: what it answers under another one is of a former start. */
  readonly term: number;
  /** Its Ed25519 key as a `did:key`: what it signs is checked with it, and what is sent to it is meant for it. */
  readonly publicKey: string;
}

/**
 * - `here: true`: this host answers. So it is for what is nobody's (asleep in the store, deleted, without a file), for
 *   a sandbox that does not exist, which the operation itself says, and always where nobody else uses the registry.
 * - `here: false`: it is awake on another host, is being moved there, or sleeps on that host's disk; that one lives.
 *   Or it is nobody's, and this host is being emptied: another one is to wake it.
 *   `tenant`: whose it is. Whoever is of another tenant is not to learn that there is such a sandbox.
 * - `unreachable`: the same, and that host is dead.
 */
export type SandboxPlace =
  | { readonly here: true }
  | ({ readonly here: false; readonly tenant: string } & OtherHost)
  | { readonly here: false; readonly unreachable: UnreachableSandbox };

export interface SandboxPlaces {
  /** Name of this host, and its term. */
  readonly self: { readonly name: string; readonly term: number };
  /**
   * Where a sandbox is now. No registry call for one that this host has acquired itself, nor where nobody else uses the
   * registry; one read of its row otherwise, never an older answer. So whoever was sent away by the owner that it named
   * asks again, and gets what the row says by then. Rejects with the errors of the registry.
   */
  whereIs(id: InstanceId): Promise<SandboxPlace>;
  /**
   * A host by its name, as its row was seen at the last look (an eighth of a lease ago at most); null: there is none,
   * it has no address, or it is dead or has handed its name back. For requests that are about a host, and for the keys
   * of those that ask this one.
   */
  host(name: string): OtherHost | null;
  /**
   * The host that makes what is new in the place of this one; null: this one does. Another one does while this one is
   * being emptied, where there is one that lives and is not.
   */
  forNew(): OtherHost | null;
  /** All hosts that live, without this one, in the order of their names. For what is asked of every host. */
  others(): readonly OtherHost[];
}
