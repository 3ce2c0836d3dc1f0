import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TenantHours } from '../registry/usage.ts';
import { stepsOver, tenantPoints } from './usage-series.ts';

const HOUR = 3600;
const HOUR_MS = HOUR * 1000;
/** An hour of 2025, and how far around it the cases go. */
const FIRST = 490_000;
const SPAN = 60;

/** Changes of how many sandboxes are active: whole minutes since the epoch, and how many more or fewer. */
const changes = fc.array(
  fc.record({
    minute: fc.integer({ min: FIRST * 60, max: (FIRST + SPAN) * 60 - 1 }),
    by: fc.integer({ min: -2, max: 3 }),
  }),
  { maxLength: 30 },
);

/** How many are active at each minute, never fewer than none. */
function levelsOf(given: { minute: number; by: number }[]): { minute: number; by: number; level: number }[] {
  let level = 0;
  return given
    .toSorted((one, other) => one.minute - other.minute)
    .map(({ minute, by }) => {
      const next = Math.max(0, level + by);
      const change = { minute, by: next - level, level: next };
      level = next;
      return change;
    });
}

test('active time is what counting every minute gives, in hours and days, with hours and whole days without a row', () => {
  const whole = fc.integer({ min: FIRST - 30, max: FIRST + SPAN + 30 });
  fc.assert(
    fc.property(changes, whole, whole, fc.constantFrom(HOUR, 3 * HOUR, 24 * HOUR), (given, one, other, step) => {
      const told = levelsOf(given);
      const now = ((FIRST + SPAN) * 60 + 17) * 60_000;
      const steps = stepsOver(Math.min(one, other) * HOUR, Math.max(one, other) * HOUR, step);
      // As the registry sums them: each change to the end of its step.
      const stepHours = step / HOUR;
      const begin = (minute: number) =>
        steps.from / HOUR + Math.floor((Math.floor(minute / 60) - steps.from / HOUR) / stepHours) * stepHours;
      const rows = [...Map.groupBy(told, ({ minute }) => begin(minute))].map(
        ([hour, of]): TenantHours['hours'][number] => ({
          hour,
          ...{ cpuMs: 0, calls: of.length, memoryBytes: 0, bytes: 0, wakes: 0, faults: 0 },
          activeChange: of.reduce((sum, { by }) => sum + by, 0),
          activeMs: of.reduce((sum, { by, minute }) => sum + by * ((hour + stepHours) * HOUR_MS - minute * 60_000), 0),
        }),
      );
      const isShown = ({ hour }: { hour: number }) => hour * HOUR >= steps.from && hour * HOUR < steps.to;
      const later = rows.filter(({ hour }) => hour * HOUR >= steps.to);
      const found: TenantHours = {
        hours: rows.filter(isShown),
        active: told.at(-1)?.level ?? 0,
        laterChange: later.reduce((sum, { activeChange }) => sum + activeChange, 0),
        uncounted: 0,
      };
      const points = tenantPoints(found, steps, now);
      for (const { time, awake_s: awake, calls } of points) {
        let seconds = 0;
        for (let minute = time / 60; minute < (time + step) / 60 && minute * 60_000 < now; minute += 1) {
          seconds += (told.findLast((change) => change.minute <= minute)?.level ?? 0) * 60;
        }
        const count = told.filter(({ minute }) => minute * 60 >= time && minute * 60 < time + step).length;
        expect([time, awake, calls]).toEqual([time, seconds, count]);
      }
    }),
    { numRuns: 200 },
  );
});
