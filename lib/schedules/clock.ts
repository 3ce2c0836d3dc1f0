/**
 * What the scheduler knows of time: since when it has been running without a gap, and whether the clock was set back.
 * A small value in the registry keeps the last round over restarts.
 */
import { setImmediate } from 'node:timers/promises';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import { armingFrom } from './arming.ts';
import { nextTime } from './timing.ts';

const FACT = 'schedules:last_round';
/** How often the last round is written while a schedule is armed. */
const KEEP_EVERY_SECONDS = 60;
/** A firing that is this late at a start is late, and not missed: a restart takes seconds. */
const GRACE_SECONDS = 60;
/**
 * A clock that was set back by less fires nothing twice: schedules wait until it comes to their times again. One that
 * was set back further had been wrong, and schedules are armed from the new time.
 */
const SET_BACK_SECONDS = 3600;
const BATCH = 200;

export interface ScheduleClockParts {
  config: Pick<Config, 'scheduleSpreadSeconds' | 'tickMs'>;
  clock: Clock;
  log: Logger;
  registry: Pick<Registry, 'facts' | 'schedules'>;
}

export class ScheduleClock {
  readonly #parts: ScheduleClockParts;
  /** Epoch seconds since when there were rounds without a gap. */
  #since = 0;
  #last = 0;
  #kept = 0;

  constructor(parts: ScheduleClockParts) {
    this.#parts = parts;
  }

  /** To be called before the first round. */
  async start(): Promise<void> {
    const { clock, registry } = this.#parts;
    const now = epochSeconds(clock);
    const last = await registry.facts.read(FACT);
    this.#last = typeof last === 'number' ? last : now;
    this.#since = now;
    await this.look();
  }

  /** Compares the time with that of the last round; to be called by each. */
  async look(): Promise<void> {
    const { clock, config, log } = this.#parts;
    const now = epochSeconds(clock);
    const last = this.#last;
    this.#last = now;
    const gap = GRACE_SECONDS + (2 * config.tickMs) / 1000;
    if (now - last > gap) this.#since = now;
    if (last - now > SET_BACK_SECONDS) {
      this.#since = now;
      log.warn({ seconds: last - now }, 'the clock was set back: schedules are armed anew');
      await this.#armAll(now);
    }
    if (Math.abs(now - this.#kept) < KEEP_EVERY_SECONDS) return;
    // Without a schedule nobody asks for it, and a registry in which nothing happens is not written.
    if ((await this.#parts.registry.schedules.armed(0, 1)).length > 0) await this.#keep(now);
    else this.#kept = now;
  }

  async stop(): Promise<void> {
    await this.#keep(epochSeconds(this.#parts.clock));
  }

  /** Whether the server did not run at `fireAt` (epoch seconds), nor soon afterwards. */
  isMissed(fireAt: number): boolean {
    return fireAt < this.#since - GRACE_SECONDS;
  }

  async #keep(now: number): Promise<void> {
    this.#kept = now;
    await this.#parts.registry.facts.write(FACT, now, now);
  }

  /** Arms every schedule that is due later than it would be from now on. */
  async #armAll(now: number): Promise<void> {
    const { config, registry } = this.#parts;
    for (let seq = 0; ; ) {
      const rows = await registry.schedules.armed(seq, BATCH);
      for (const row of rows) {
        seq = row.seq;
        const next = nextTime(row, now);
        if (row.nextAt === null || next === null || next >= row.nextAt) continue;
        await registry.schedules.arm(row, armingFrom(row.id, row, now, config.scheduleSpreadSeconds));
      }
      if (rows.length < BATCH) return;
      await setImmediate();
    }
  }
}
