/** The simulator's query, parsed from an address, and the limits of its answer, in words. Pure. */

import { spanInWords, type TradePoint } from '#app/settings/thresholds/trade-layout.ts';
import { parseDuration } from '#components/ui/amounts.ts';
import { lengthInWords } from '#components/ui/durations.ts';
import type { Simulation } from '#lib/contract/schema.ts';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** The thresholds on the curve, besides the present one and the requested one. */
const CURVE: readonly number[] = [
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  DAY,
];
export const PERIODS: readonly number[] = [1, 7, 30, 90];
const DEFAULT_DAYS = 7;
const LONGEST_SECONDS = 52 * 7 * DAY;
/** Fewer suspensions than this are too few for a conclusion. */
const FEW = 20;

export interface SimulationQuery {
  suspend: number;
  freeze: number;
  days: number;
  curve: number[];
  complaints: Partial<Record<'suspend' | 'freeze', string>>;
}

/** Parses `values`, the address's parameters; absent or wrong ones take the present value. */
export function parseSimulationQuery(
  values: Readonly<Record<string, string>>,
  present: { idle_to_suspend_s: number; idle_to_freeze_s: number },
): SimulationQuery {
  const complaints: SimulationQuery['complaints'] = {};
  const read = (name: 'suspend' | 'freeze', otherwise: number) => {
    const text = values[name];
    if (text === undefined) return otherwise;
    const seconds = parseDuration(text);
    if (seconds !== null && seconds >= 1 && seconds <= LONGEST_SECONDS) return seconds;
    complaints[name] = 'must be a length of time, like 10 min';
    return otherwise;
  };
  const suspend = read('suspend', present.idle_to_suspend_s);
  const freeze = read('freeze', present.idle_to_freeze_s);
  const days = PERIODS.find((period) => String(period) === values.days) ?? DEFAULT_DAYS;
  const curve = [...new Set([...CURVE, present.idle_to_suspend_s, suspend])].sort((a, b) => a - b);
  return { suspend, freeze, days, curve, complaints };
}

/** The points of the curve, by threshold, the shortest first. */
export function pointsOf({ curve }: Pick<Simulation, 'curve'>): TradePoint[] {
  return curve.map(({ idle_to_suspend_s: threshold, would, estimated_wakes: estimated }) => ({
    threshold,
    would,
    estimated,
  }));
}

/** Limits of the numbers, one sentence each; empty when there are none. */
export function caveatsOf(
  done: Pick<Simulation, 'since' | 'until' | 'first' | 'idle_ends' | 'cut'>,
  days: number,
): string[] {
  const { since, until, first, idle_ends: ends, cut } = done;
  const requestedSeconds = days * DAY;
  const caveats: string[] = [];
  if (cut) caveats.push(`The ledger has too many lines to read: this is the last ${spanInWords(until - since)} only.`);
  else if (first !== null && first - since > requestedSeconds / 10)
    caveats.push(`The ledger of these days begins only ${lengthInWords(until - first)} ago.`);
  if (ends === 0)
    caveats.push('Nothing was suspended for idleness in this time: there is nothing to compute other thresholds from.');
  else if (ends < FEW)
    caveats.push(
      `Only ${ends} ${ends === 1 ? 'suspension' : 'suspensions'} for idleness happened in this time: take the numbers as a hint.`,
    );
  return caveats;
}
