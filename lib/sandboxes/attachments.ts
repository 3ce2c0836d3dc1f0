/**
 * Attachments: open terminals that keep a sandbox active. Each is a lease, renewed while the terminal is open, that
 * ends when nobody renews it, so a lost browser holds nothing for long. In memory: a restart ends them, and open
 * terminals renew. Knows nothing of rows or HTTP.
 */
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Runtimes, SandboxRuntime } from './runtimes.ts';

/** How long an attachment lasts without renewal. Browsers let a hidden tab run a timer once a minute. */
export const LEASE_SECONDS = 150;
/** The most attachments of one sandbox. */
const MAX_ATTACHMENTS = 64;

interface Lease {
  runtime: SandboxRuntime;
  until: number;
}

export class Attachments {
  readonly #runtimes: Runtimes;
  /** By sandbox, then by the attachment's own id. */
  readonly #leases = new Map<InstanceId, Map<string, Lease>>();

  constructor(runtimes: Runtimes) {
    this.#runtimes = runtimes;
  }

  /** Begins or renews an attachment. `now` in epoch seconds. Throws `rate_limited` when the sandbox has too many. */
  hold(id: InstanceId, attachment: string, now: number): void {
    const leases = this.#leases.get(id) ?? new Map<string, Lease>();
    const renewed = leases.get(attachment);
    if (renewed !== undefined) {
      renewed.until = now + LEASE_SECONDS;
      return;
    }
    if (leases.size >= MAX_ATTACHMENTS) {
      throw new WinterdockError('rate_limited', `${MAX_ATTACHMENTS} terminals are attached to "${id}" already.`, {
        retryAfterSeconds: LEASE_SECONDS,
      });
    }
    const runtime = this.#runtimes.hold(id);
    runtime.attached += 1;
    leases.set(attachment, { runtime, until: now + LEASE_SECONDS });
    this.#leases.set(id, leases);
  }

  /** Ends an attachment; the sandbox counts as used until `now`. One that has ended already changes nothing. */
  release(id: InstanceId, attachment: string, now: number): void {
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

  /** Ends the attachments that nobody renewed. */
  expire(now: number): void {
    for (const [id, leases] of this.#leases) {
      for (const [attachment, lease] of leases) {
        // When the clock was set back, no lease lasts longer than a new one.
        lease.until = Math.min(lease.until, now + LEASE_SECONDS);
        if (lease.until <= now) this.release(id, attachment, now);
      }
    }
  }
}
