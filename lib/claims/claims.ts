/**
 * The claims of one host: work that any host may do, and that one does at a time. Whether the claim of another is over
 * is judged by how long it has not been renewed, on the monotonic clock of whoever looks: no host trusts the clock of
 * another. A host stops earlier than that of its own accord, so a claim is never taken from one that still acts on it.
 * Knows nothing of the work.
 */
import type { Logger } from '../base/log.ts';
import type { ClaimedPiece, ClaimKind, ClaimRow, ClaimTicket } from '../registry/claims.ts';
import { newToken } from '../registry/owner.ts';
import type { Registry } from '../registry/registry.ts';
import type { HostIdentity } from '../registry/types.ts';

/** A claim that was not renewed for so long is over. */
const LASTS_MS = 30_000;
/** How often a host renews all of its claims, and looks at those of others. Two failures in a row are survived. */
const RENEW_MS = 10_000;
/** Nobody wants what a claim is for after so many times its length: it is removed. */
const FORGOTTEN_AFTER = 10;
/** Every so many looks everything is looked at again, for work that was left without any claim. */
const WHOLE_LOOK = 6;

interface ClaimsParts {
  registry: Pick<Registry, 'claims'>;
  host: HostIdentity;
  log: Logger;
  /** Milliseconds of a clock that is never set. */
  monotonicMs?: () => number;
}

/** A piece of work that this host has. */
export interface HeldClaim {
  readonly ticket: ClaimTicket;
  /** Aborted when the claim is lost. */
  readonly signal: AbortSignal;
  /** The work is not this host's any more, or may not be: nothing more of it may be written. */
  readonly isOver: boolean;
  /** Gives the work back. Idempotent. */
  release(): Promise<void>;
}

interface Held extends HeldClaim {
  lose(): void;
  isGiven: boolean;
  renewedMs: number;
}

/** The claim of another, and since when it has been seen without a renewal. */
interface Seen extends ClaimRow {
  sinceMs: number;
}

const keyOf = ({ kind, work }: ClaimedPiece): string => `${kind}:${work}`;

export class Claims {
  readonly #parts: ClaimsParts;
  readonly #monotonicMs: () => number;
  readonly #held = new Map<string, Held>();
  /** Pieces that are being claimed. */
  readonly #asked = new Set<string>();
  readonly #others = new Map<string, Seen>();
  readonly #listeners = new Map<ClaimKind, Set<() => void>>();
  #looks = 0;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | null = null;
  #isStopped = false;

  constructor(parts: ClaimsParts) {
    this.#parts = parts;
    this.#monotonicMs = parts.monotonicMs ?? (() => performance.now());
  }

  /**
   * Ends what earlier processes of this host had claimed. A host that has the registry for itself, because it is
   * locked, ends all claims and need not renew its own.
   */
  async start(): Promise<void> {
    const { registry, host } = this.#parts;
    await registry.claims.removeFormer(host.isAlone ? null : host.name);
    if (host.isAlone || this.#isStopped) return;
    await this.tick();
    this.#timer = setInterval(() => void this.tick(), RENEW_MS).unref();
  }

  /** Hands back all claims. To be called when nothing acts on one any more. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#ticking;
    await this.#give([...this.#held.values()]);
  }

  /** Calls `listener` when work of a kind may have become free. Returns the unsubscriber. */
  onFree(kind: ClaimKind, listener: () => void): () => void {
    const listeners = this.#listeners.get(kind) ?? new Set();
    this.#listeners.set(kind, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Claims a piece of work. Null when another has it, or something else in this process. */
  acquire(kind: ClaimKind, work: string): Promise<HeldClaim | null> {
    const other = this.#others.get(keyOf({ kind, work }));
    if (other !== undefined && !this.#isEnded(other)) return Promise.resolve(null);
    return this.acquireWith(kind, work, (ticket) => this.#parts.registry.claims.acquire(ticket, other));
  }

  /** The same where `take` claims it, in a transaction with what else it writes; it says whether that was done. */
  async acquireWith(
    kind: ClaimKind,
    work: string,
    take: (ticket: ClaimTicket) => Promise<boolean>,
  ): Promise<HeldClaim | null> {
    const { name: host, term } = this.#parts.host;
    const ticket = { kind, work, host, term, token: newToken(), lastsMs: LASTS_MS };
    const key = keyOf(ticket);
    if (this.#isStopped || this.#held.has(key) || this.#asked.has(key)) return null;
    const askedMs = this.#monotonicMs();
    this.#asked.add(key);
    try {
      return (await take(ticket)) ? this.#hold(ticket, askedMs) : null;
    } finally {
      this.#asked.delete(key);
    }
  }

  /** `askedMs`: monotonic time before the claim was asked for. */
  #hold(ticket: ClaimTicket, askedMs: number): HeldClaim {
    const { host } = this.#parts;
    const lost = new AbortController();
    const now = this.#monotonicMs;
    const give = (one: Held) => this.#give([one]);
    const held: Held = {
      ticket,
      signal: lost.signal,
      renewedMs: askedMs,
      isGiven: false,
      get isOver() {
        return this.isGiven || lost.signal.aborted || (!host.isAlone && now() - this.renewedMs >= LASTS_MS);
      },
      lose: () => lost.abort(),
      release() {
        return give(this);
      },
    };
    this.#held.set(keyOf(ticket), held);
    this.#others.delete(keyOf(ticket));
    return held;
  }

  /** Forgets a claim that is not in the registry any more: a transaction of the work itself gave it back. */
  drop({ ticket }: HeldClaim): void {
    if (this.#held.get(keyOf(ticket))?.ticket === ticket) this.#held.delete(keyOf(ticket));
  }

  /**
   * Claims of a kind for as long as the host runs: has those of `works` that nobody else has, and gives back others of
   * this kind. Returns those that it has. Asks nothing of the registry for what is already known.
   */
  async keep(kind: ClaimKind, works: readonly string[]): Promise<ReadonlyMap<string, HeldClaim>> {
    const wanted = new Set(works);
    const has = new Map<string, HeldClaim>();
    const surplus: Held[] = [];
    for (const held of this.#held.values()) {
      if (held.ticket.kind === kind && !wanted.has(held.ticket.work)) surplus.push(held);
    }
    await this.#give(surplus);
    for (const work of wanted) {
      const held = this.#held.get(keyOf({ kind, work })) ?? (await this.acquire(kind, work));
      if (held !== null && !held.isOver) has.set(work, held);
    }
    return has;
  }

  /** Takes a piece of work from whoever has it, another host or this one. */
  async revoke(kind: ClaimKind, work: string): Promise<void> {
    await this.#parts.registry.claims.revoke({ kind, work });
    this.#lose(keyOf({ kind, work }));
  }

  /** One look: renews all claims in one statement, and sees which of the others' are over. Looks never overlap. */
  tick(): Promise<void> {
    this.#ticking ??= this.#look()
      .catch((error) => this.#parts.log.warn({ err: error }, 'claims were not renewed'))
      .finally(() => {
        // Also when the registry does not answer: what was not renewed is over at its time.
        for (const [key, held] of this.#held) if (held.isOver) this.#lose(key);
        this.#ticking = null;
      });
    return this.#ticking;
  }

  async #look(): Promise<void> {
    const { claims } = this.#parts.registry;
    const askedMs = this.#monotonicMs();
    const mine = [...this.#held];
    if (mine.length > 0) {
      const tokens = mine.map(([, { ticket }]) => ticket.token);
      const renewed = new Set(await claims.renew(tokens, LASTS_MS));
      for (const [key, held] of mine) {
        if (renewed.has(held.ticket.token)) held.renewedMs = askedMs;
        else if (this.#held.get(key) === held) this.#lose(key);
      }
    }
    await this.#see(await claims.list());
  }

  /** Compares the claims of others with what was seen before, and tells of those that are over or gone. */
  async #see(rows: readonly ClaimRow[]): Promise<void> {
    const now = this.#monotonicMs();
    const freed = new Set<ClaimKind>();
    const unwanted: string[] = [];
    const keys = new Set<string>();
    for (const row of rows) {
      const key = keyOf(row);
      if (this.#held.has(key) || this.#asked.has(key)) continue;
      keys.add(key);
      const seen = this.#others.get(key);
      if (seen === undefined || seen.token !== row.token || seen.renewals !== row.renewals) {
        this.#others.set(key, { ...row, sinceMs: now });
      } else if (this.#isEnded(seen)) {
        freed.add(row.kind);
        if (now - seen.sinceMs >= FORGOTTEN_AFTER * LASTS_MS) unwanted.push(row.token);
      }
    }
    for (const [key, { kind }] of this.#others) {
      if (keys.has(key)) continue;
      this.#others.delete(key);
      freed.add(kind);
    }
    if (unwanted.length > 0) await this.#parts.registry.claims.release(unwanted);
    this.#looks += 1;
    for (const [kind, listeners] of this.#listeners) {
      if (freed.has(kind) || this.#looks % WHOLE_LOOK === 0) for (const listener of listeners) listener();
    }
  }

  #isEnded({ sinceMs }: Seen): boolean {
    return this.#monotonicMs() - sinceMs >= LASTS_MS;
  }

  #lose(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    this.#held.delete(key);
    this.#parts.log.warn({ claim: key }, 'a claim was lost: what it was for is another host’s');
    held.lose();
  }

  async #give(several: readonly Held[]): Promise<void> {
    const mine = several.filter((one) => this.#held.get(keyOf(one.ticket)) === one);
    if (mine.length === 0) return;
    for (const held of mine) {
      held.isGiven = true;
      this.#held.delete(keyOf(held.ticket));
    }
    await this.#parts.registry.claims.release(mine.map(({ ticket }) => ticket.token)).catch((error) => {
      // It is over by itself, as nothing renews it.
      this.#parts.log.warn({ err: error }, 'claims were not handed back');
    });
  }
}
