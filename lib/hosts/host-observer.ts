/**
 * Whether hosts are dead, as whoever looks at their rows may judge it. Decides by what it is told: when it asked, when
 * it had the answer, what that said, and that its connection was lost. Pure.
 *
 * A host is dead when the number of its renewals is what it was one lease before, on the monotonic clock of whoever
 * looks, who could see it change all that time. A read says what was there when it was asked, at the earliest, so one
 * lease has passed between the answer to the first read and the question of the last one. Whoever loses the connection,
 * or waits for an answer for long, starts again: perhaps the host could not renew for the same reason.
 */

/** What a row says of a host, as far as it counts. */
interface ObservedHost {
  readonly name: string;
  /** Of the start that holds the name; null: nobody does. */
  readonly token: string | null;
  readonly renewals: number;
  readonly leaseMs: number | null;
}

/** All rows of one moment. Times in milliseconds of the monotonic clock of whoever looks. */
export interface HostReading {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly hosts: readonly ObservedHost[];
}

/** `free`: nobody holds the name, or there is no such host. `held`: somebody does, or may. */
export type HostVerdict = 'free' | 'held' | 'dead';

/**
 * The part of a lease that may pass between two answers. A host renews three times in a lease: what keeps it from doing
 * so for no longer than this is not taken for its death.
 */
const LONGEST_GAP = 1 / 3;
/** Looks in the time of a lease, for a judgement soon after it is due, and gaps that are noticed. */
export const LOOKS_PER_LEASE = 8;

interface Sighting {
  readonly token: string;
  readonly renewals: number;
  /** When the answer came that first said so, since when every change was seen. */
  readonly sinceMs: number;
  readonly isDead: boolean;
}

export class HostObserver {
  readonly #sightings = new Map<string, Sighting>();
  #answeredMs: number | null = null;

  /** The connection was lost, or a read failed: what was seen before counts no more. */
  connectionLost(): void {
    this.#sightings.clear();
    this.#answeredMs = null;
  }

  /** A read, in the order of their questions. Returns what is to be thought of its hosts, by name. */
  read({ askedMs, answeredMs, hosts }: HostReading): ReadonlyMap<string, HostVerdict> {
    const gapMs = this.#answeredMs === null ? Number.POSITIVE_INFINITY : answeredMs - this.#answeredMs;
    this.#answeredMs = answeredMs;
    const verdicts = new Map<string, HostVerdict>();
    for (const { name, token, renewals, leaseMs } of hosts) {
      if (token === null || leaseMs === null) {
        this.#sightings.delete(name);
        verdicts.set(name, 'free');
        continue;
      }
      const before = this.#sightings.get(name);
      const isSame = before?.token === token && before.renewals === renewals && gapMs <= leaseMs * LONGEST_GAP;
      const sinceMs = isSame ? before.sinceMs : answeredMs;
      const isDead = isSame && askedMs - sinceMs >= leaseMs;
      this.#sightings.set(name, { token, renewals, sinceMs, isDead });
      verdicts.set(name, isDead ? 'dead' : 'held');
    }
    for (const name of this.#sightings.keys()) if (!verdicts.has(name)) this.#sightings.delete(name);
    return verdicts;
  }

  /** What was to be thought of a host at the last read. */
  verdictOf(name: string): HostVerdict {
    const sighting = this.#sightings.get(name);
    if (sighting !== undefined) return sighting.isDead ? 'dead' : 'held';
    return this.#answeredMs === null ? 'held' : 'free';
  }
}
