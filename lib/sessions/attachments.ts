/**
 * Who holds a sandbox hot by an open terminal: leases that are renewed while the terminal is open and run out when
 * nobody renews them, so that a lost browser holds nothing for long. Kept in memory: a restart ends them, and whoever
 * is still there renews. Knows nothing of rows or HTTP.
 */
import { WinterdockError } from '../base/errors.ts';
import type { Runtimes, SandboxRuntime } from './runtimes.ts';

/** How long an attachment holds without being renewed. Browsers let a hidden tab run a timer once a minute. */
export const LEASE_SECONDS = 150;
/** Attachments that one sandbox may have. */
const MOST = 64;

interface Lease {
  runtime: SandboxRuntime;
  until: number;
}

export class Attachments {
  readonly #runtimes: Runtimes;
  /** By sandbox, then by the attachment's own id. */
  readonly #leases = new Map<string, Map<string, Lease>>();

  constructor(runtimes: Runtimes) {
    this.#runtimes = runtimes;
  }

  /** Begins or renews one. `now` in epoch seconds. Throws `rate_limited` when the sandbox has too many. */
  hold(id: string, attachment: string, now: number): void {
    const leases = this.#leases.get(id) ?? new Map<string, Lease>();
    const held = leases.get(attachment);
    if (held !== undefined) {
      held.until = now + LEASE_SECONDS;
      return;
    }
    if (leases.size >= MOST) {
      throw new WinterdockError('rate_limited', `${MOST} terminals are attached to "${id}" already.`, {
        retryAfterSeconds: LEASE_SECONDS,
      });
    }
    const runtime = this.#runtimes.hold(id);
    runtime.attached += 1;
    leases.set(attachment, { runtime, until: now + LEASE_SECONDS });
    this.#leases.set(id, leases);
  }

  /** Ends one, which is use up to `now`. One that there is not, or not any more, changes nothing. */
  release(id: string, attachment: string, now: number): void {
    const leases = this.#leases.get(id);
    const lease = leases?.get(attachment);
    if (leases === undefined || lease === undefined) return;
    leases.delete(attachment);
    if (leases.size === 0) this.#leases.delete(id);
    const { runtime } = lease;
    runtime.attached -= 1;
    runtime.markUsed(now);
    this.#runtimes.release(runtime);
  }

  /** Ends those that nobody renewed. */
  expire(now: number): void {
    for (const [id, leases] of this.#leases) {
      for (const [attachment, lease] of leases) {
        // A clock that was set back makes none last longer than any other.
        lease.until = Math.min(lease.until, now + LEASE_SECONDS);
        if (lease.until <= now) this.release(id, attachment, now);
      }
    }
  }
}
