import { expect, test } from 'vitest';
import type { RecordedTransition } from '../registry/types.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { simulate } from './simulator.ts';

const HOUR = 3_600_000;
const OLD = { idleToSuspendSeconds: 900, idleToFreezeSeconds: 86_400 };

/** Hops in the registry's order, newest first. */
function registryOf(hops: RecordedTransition[], active: string[] = []): Parameters<typeof simulate>[0] {
  const sorted = hops.toSorted((a, b) => b.timeMs - a.timeMs);
  return {
    ledger: {
      async transitions(sinceMs) {
        return (async function* () {
          yield sorted.filter(({ timeMs }) => timeMs >= sinceMs);
        })();
      },
    },
    jobs: {
      async select() {
        return (async function* () {
          yield active.map((id) => ({
            row: 1,
            id: instanceId(id),
            state: 'active',
            fault: null,
            inMemory: false,
            ephemeral: false,
            keepHot: false,
            holdUntil: null,
          }));
        })();
      },
    },
  };
}

const wake = (hours: number, source: RecordedTransition['source'] = 'local', instance = 'a'): RecordedTransition => ({
  timeMs: hours * HOUR,
  instance: instanceId(instance),
  from: source === 'cold' ? 'frozen' : 'suspended',
  to: 'active',
  trigger: 'request',
  source,
  reason: null,
});
const idle = (hours: number, seconds = 900, instance = 'a'): RecordedTransition => ({
  timeMs: hours * HOUR,
  instance: instanceId(instance),
  from: 'active',
  to: 'suspended',
  trigger: 'idle',
  source: null,
  reason: `idle for ${seconds} s`,
});

const run = (hops: RecordedTransition[], trial: Partial<typeof OLD>, active: string[] = [], limits = {}) =>
  simulate(registryOf(hops, active), { sinceMs: 0, nowMs: 100 * HOUR, old: OLD, trial: { ...OLD, ...trial } }, limits);

test('the same thresholds change nothing', async () => {
  const hops = [wake(1), idle(2), wake(2.5), idle(3.25), wake(40, 'cold'), idle(41)];
  const { was, would, lines, cut } = await run(hops, {});
  expect(was).toEqual({ processHours: 1 + 0.75 + 1, coldWakes: 3, thaws: 1 });
  expect(would).toEqual(was);
  expect([lines, cut]).toEqual([6, false]);
});

test('a longer threshold keeps sandboxes with an early wake active, and runs the others longer', async () => {
  // Last used at 1.75, suspended at 2, back at 2.5: three quarters of an hour.
  const hops = [wake(1), idle(2), wake(2.5), idle(3.25)];
  const hour = await run(hops, { idleToSuspendSeconds: 3600 });
  expect(hour.would.coldWakes).toBe(1);
  expect(hour.would.processHours - hour.was.processHours).toBeCloseTo(0.5 + 0.75);
  expect(hour.estimatedWakes).toBe(0);
});

test('a shorter threshold saves its share of every idle end, and its additional wakes are called estimated', async () => {
  const hops = [wake(1), idle(2), wake(2.1), idle(4), wake(20), idle(21)];
  const { was, would, estimatedWakes } = await run(hops, { idleToSuspendSeconds: 450 });
  // Three ends of an eighth of an hour each; one gap of 0.35 h stands for one of 0.15 h that nothing shows.
  expect(was.processHours - would.processHours).toBeCloseTo(3 * 0.125 + 0.025);
  expect([would.coldWakes - was.coldWakes, estimatedWakes]).toEqual([1, 1]);
});

test('thaws follow the threshold of freezing, and manual filings are unchanged', async () => {
  const hops = [wake(1), idle(2), wake(40, 'cold'), { ...idle(41), trigger: 'request' as const }, wake(50)];
  expect((await run(hops, { idleToFreezeSeconds: 60 * 3600 })).would.thaws).toBe(0);
  expect((await run(hops, { idleToFreezeSeconds: 3600 })).would.thaws).toBe(1);
});

test('a sandbox that was active before the first line or all the time counts with all of its hours', async () => {
  expect((await run([idle(2)], {})).was.processHours).toBe(2);
  expect((await run([], {}, ['b'])).was.processHours).toBe(100);
  expect((await run([wake(90)], {}, ['a'])).was.processHours).toBe(10);
});

test('each point of a curve equals the result of its threshold alone, and the result names its basis', async () => {
  const hops = [wake(1), idle(2), wake(2.1), idle(4), wake(20), idle(21), wake(40, 'cold'), idle(41)];
  const policies = [60, 450, 900, 7200].map((idleToSuspendSeconds) => ({ ...OLD, idleToSuspendSeconds }));
  const { curve, idleEnds, firstMs } = await simulate(registryOf(hops), {
    sinceMs: 0,
    nowMs: 100 * HOUR,
    old: OLD,
    trial: OLD,
    curve: policies,
  });
  for (const [at, policy] of policies.entries()) {
    const { would, estimatedWakes } = await run(hops, policy);
    expect(curve[at]).toEqual({ would, estimatedWakes });
  }
  const hours = curve.map(({ would }) => would.processHours);
  expect(hours.toSorted((a, b) => a - b)).toEqual(hours);
  expect([idleEnds, firstMs]).toEqual([4, HOUR]);
  expect(await run([], {})).toMatchObject({ idleEnds: 0, firstMs: null, curve: [] });
});

test('passing through active is no wake and takes no hours', async () => {
  const passing: RecordedTransition[] = [
    { ...wake(5), source: null, trigger: 'plan' },
    { ...idle(5), to: 'archived', trigger: 'plan' },
  ];
  const { was } = await run(passing.toReversed(), {});
  expect(was).toEqual({ processHours: 0, coldWakes: 0, thaws: 0 });
});

test('too many lines are cut, oldest first, and the result names its first moment', async () => {
  const hops = Array.from({ length: 50 }, (_, n) => [
    wake(n + 1, 'local', `s${n}`),
    idle(n + 1.5, 900, `s${n}`),
  ]).flat();
  const some = await run(hops, {}, [], { maxLines: 20 });
  expect([some.cut, some.lines, some.sinceMs]).toEqual([true, 20, 41 * HOUR]);
  expect(some.was.coldWakes).toBe(10);
});
