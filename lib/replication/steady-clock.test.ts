import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { observeEffects } from '../base/effects.ts';
import { PowerCut } from '../testing/faults/power.ts';
import { SteadyClock } from './steady-clock.ts';

let base = '';

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'winterdock-clock-'));
  mkdirSync(join(base, 'data'));
});

afterEach(() => {
  observeEffects(null);
  rmSync(base, { recursive: true, force: true });
});

const clockIn = (folder: string, clock: FakeClock) => new SteadyClock(clock, join(base, folder, 'replica', 'clock'));

test('a start after a power cut tells later times than any start before it, also when the machine’s clock went back', () => {
  const clock = new FakeClock();
  const power = new PowerCut(join(base, 'data'));
  observeEffects({ before: () => undefined, after: (effect) => power.after(effect) });
  const told: number[] = [];
  for (const [nth, back] of [0, 0, -3600].entries()) {
    clock.advance(back);
    told.push(clockIn('data', clock).now());
    power.build(join(base, `cut-${nth}`));
    const after = clockIn(`cut-${nth}`, clock).now();
    expect(after).toBeGreaterThan(Math.max(...told));
  }
  power.end();
  expect(told.toSorted((one, other) => one - other)).toEqual(told);
});
