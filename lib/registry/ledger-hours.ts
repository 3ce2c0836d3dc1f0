/**
 * Adds up lines of the ledger by tenant and hour: processes started, faults raised, and how the number of active
 * sandboxes changed when. Pure.
 */
import type { State } from '../lifecycle/state-map.ts';
import type { Source } from '../lifecycle/words.ts';

const HOUR_MS = 3_600_000;

interface CountedLine {
  timeMs: number;
  tenant: string | null;
  type: string;
  from: State | null;
  to: State | null;
  source: Source | null;
}

interface HourSums {
  tenant: string;
  hour: number;
  wakes: number;
  faults: number;
  activeChange: number;
  activeMs: number;
}

export class LedgerHours {
  readonly #server: string;
  readonly #sums = new Map<string, HourSums>();

  /** `server`: the name under which everything is counted once more. */
  constructor(server: string) {
    this.#server = server;
  }

  take(line: CountedLine): void {
    const isTransition = line.type === 'transition';
    const change = isTransition ? Number(line.to === 'active') - Number(line.from === 'active') : 0;
    // A hop through active starts no process and has no source.
    const wakes = Number(isTransition && line.to === 'active' && line.source !== null);
    const faults = Number(line.type === 'fault.raised');
    if (change === 0 && wakes === 0 && faults === 0) return;
    const hour = Math.floor(line.timeMs / HOUR_MS);
    const activeMs = change * ((hour + 1) * HOUR_MS - line.timeMs);
    for (const tenant of line.tenant === null ? [this.#server] : [line.tenant, this.#server]) {
      const sums = this.#of(tenant, hour);
      sums.wakes += wakes;
      sums.faults += faults;
      sums.activeChange += change;
      sums.activeMs += activeMs;
    }
  }

  values(): HourSums[] {
    return [...this.#sums.values()];
  }

  #of(tenant: string, hour: number): HourSums {
    const key = `${hour} ${tenant}`;
    const known = this.#sums.get(key);
    if (known !== undefined) return known;
    const sums: HourSums = { tenant, hour, wakes: 0, faults: 0, activeChange: 0, activeMs: 0 };
    this.#sums.set(key, sums);
    return sums;
  }
}
