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
