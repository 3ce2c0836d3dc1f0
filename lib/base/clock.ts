/** Time as a dependency, so that tests can move it. Knows nothing else. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Whole epoch seconds of a clock, the unit of every stored time. */
export function epochSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}

/** A clock that is corrected by less has not been set back. */
export const CORRECTION_MS = 60_000;

/**
 * Whether what gives access, made at one time and good until another (epoch milliseconds), is over. Also when it was
 * made ahead of the present: the clock was set back since, and the access would last for longer than was given.
 */
export function isOver(access: { madeMs: number; untilMs: number }, nowMs: number): boolean {
  return access.untilMs <= nowMs || access.madeMs > nowMs + CORRECTION_MS;
}

const DAY_SECONDS = 86_400;

/** Days since the epoch, in UTC. */
export function utcDay(clock: Clock): number {
  return Math.floor(epochSeconds(clock) / DAY_SECONDS);
}

/** Seconds until the next day begins, in UTC. */
export function secondsToMidnight(clock: Clock): number {
  return DAY_SECONDS - (epochSeconds(clock) % DAY_SECONDS);
}

/** A clock that moves only when told to. `start` in milliseconds since the epoch. */
export class FakeClock implements Clock {
  #now: number;

  constructor(start = 1_765_500_000_000) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  /** Moves the clock forward by `seconds`. */
  advance(seconds: number): void {
    this.#now += seconds * 1000;
  }
}
