/**
 * The lease of this host in a registry that others reach too: its row, and a renewal each third of the lease. Says for
 * how long this host may still act. Knows nothing of what it does.
 */
import { uptime } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { HostDetails, HostStore } from '../registry/hosts.ts';
import { newToken } from '../registry/owner.ts';
import { type LeaseMoment, LeaseTerm } from './lease-term.ts';

/** Renewals in the time of one lease: two may fail. */
const RENEWALS = 3;
/** After a failure it is tried again in this part of a lease, and in a second at the latest. */
const AGAIN_PART = 10;
const AGAIN_MS = 1000;

interface HostLeaseParts {
  /** As the driver has it: a renewal without an answer is not sent again, the next one is. */
  hosts: Pick<HostStore, 'describe' | 'giveBack' | 'renew'>;
  name: string;
  /** Without the token, which is of this start. */
  details: Omit<HostDetails, 'leaseMs' | 'token'> & { leaseMs: number };
  clock: Clock;
  log: Logger;
  /** Default: the clocks of the machine. */
  now?: () => LeaseMoment;
}

const machineNow = (): LeaseMoment => ({ monotonicMs: performance.now(), uptimeMs: uptime() * 1000 });

/** What is done about the lease. */
interface LeaseWatcher {
  /** This host may not act any more. */
  onLapse(): void;
  /** The lease was renewed after a lapse: what has to be done before this host acts. When it rejects, it does not. */
  beforeRegain?(): Promise<void>;
  /** It may again: the lease was renewed, and is its own still. */
  onRegain(): void;
  /** Another server has its name. Called once; `onLapse` comes before. */
  onLost(): void;
}

export class HostLease {
  readonly #parts: HostLeaseParts;
  readonly #token = newToken();
  readonly #term: LeaseTerm;
  readonly #now: () => LeaseMoment;
  readonly #stopped = new AbortController();
  readonly #watchers: LeaseWatcher[] = [];
  #renewing: Promise<void> | null = null;
  /** Wakes at the moment in which it lapses. */
  #timer: NodeJS.Timeout | undefined;
  #isLapsed = true;
  #isLost = false;
  #isRegaining = false;

  constructor(parts: HostLeaseParts) {
    this.#parts = parts;
    this.#term = new LeaseTerm(parts.details.leaseMs);
    this.#now = parts.now ?? machineNow;
  }

  /** Milliseconds for which this host may still act without another renewal. */
  get leftMs(): number {
    return this.#isLost ? 0 : this.#term.leftMs(this.#now());
  }

  /** Whether this host may act now. To be asked in the same turn in which it does. */
  get mayAct(): boolean {
    if (this.leftMs > 0 && !this.#isLapsed) return true;
    this.#lapse();
    return false;
  }

  /** Tells of each change from now on. */
  watch(watcher: LeaseWatcher): void {
    this.#watchers.push(watcher);
  }

  /** Takes the name, and renews from then on. Rejects with the errors of the registry. */
  async start(): Promise<void> {
    const { hosts, name, details } = this.#parts;
    const asked = this.#now();
    await hosts.describe(name, { ...details, token: this.#token });
    this.#isLapsed = false;
    this.#renewed(asked);
    this.#renewing ??= this.#renew();
  }

  /** Gives the name back. To be called when nothing acts any more. Idempotent. */
  async stop(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    clearTimeout(this.#timer);
    if (this.#renewing === null) return;
    await this.#renewing;
    const { hosts, name, log } = this.#parts;
    // It is over by itself, as nothing renews it.
    await hosts.giveBack(name, this.#token).catch((error: unknown) => {
      log.warn({ err: error }, 'the name of this host was not handed back');
    });
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    const { leaseMs } = this.#parts.details;
    const { signal } = this.#stopped;
    const everyMs = leaseMs / RENEWALS;
    let waitMs = everyMs;
    while (!signal.aborted && !this.#isLost) {
      await pause(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      const begun = this.#now().monotonicMs;
      const isRenewed = await this.#try(everyMs);
      const tookMs = this.#now().monotonicMs - begun;
      waitMs = isRenewed ? Math.max(0, everyMs - tookMs) : Math.min(AGAIN_MS, leaseMs / AGAIN_PART);
    }
  }

  /** One renewal, which is waited for so many milliseconds; an answer that comes later counts too. */
  async #try(mostMs: number): Promise<boolean> {
    const { hosts, name, clock, log } = this.#parts;
    const asked = this.#now();
    const renewed = hosts.renew(name, this.#token, clock.now()).then(
      (isOwn) => {
        if (isOwn) this.#renewed(asked);
        else this.#lose();
        return isOwn;
      },
      (error: unknown) => {
        log.warn({ err: error }, 'the lease of this host was not renewed');
        return false;
      },
    );
    const late = new AbortController();
    const waited = pause(mostMs, false, { signal: late.signal, ref: false }).catch(() => false);
    try {
      return await Promise.race([renewed, waited]);
    } finally {
      late.abort();
    }
  }

  #renewed(asked: LeaseMoment): void {
    if (this.#isLost || this.#stopped.signal.aborted) return;
    this.#term.renewed(asked);
    if (this.leftMs === 0) return;
    if (this.#isLapsed) void this.#regain();
    else this.#wakeAtEnd();
  }

  async #regain(): Promise<void> {
    if (this.#isRegaining) return;
    this.#isRegaining = true;
    try {
      for (const { beforeRegain } of this.#watchers) if (beforeRegain !== undefined) await beforeRegain();
      if (this.#isLost || this.#stopped.signal.aborted || this.leftMs === 0) return;
      this.#isLapsed = false;
      for (const watcher of this.#watchers) watcher.onRegain();
      this.#wakeAtEnd();
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'this host does not act yet: what it has is not known');
    } finally {
      this.#isRegaining = false;
    }
  }

  #wakeAtEnd(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.mayAct && this.#wakeAtEnd(), Math.ceil(this.leftMs)).unref();
  }

  #lapse(): void {
    if (this.#isLapsed || this.#stopped.signal.aborted) return;
    this.#isLapsed = true;
    for (const watcher of this.#watchers) watcher.onLapse();
  }

  #lose(): void {
    if (this.#isLost || this.#stopped.signal.aborted) return;
    this.#parts.log.error({ host: this.#parts.name }, 'another server has the name of this host');
    this.#isLost = true;
    this.#lapse();
    for (const watcher of this.#watchers) watcher.onLost();
  }
}
