import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { cpuMs, LoopWatch, type Stall } from './loop-watch.ts';

interface Named {
  name: string;
}

const watches: LoopWatch<Named>[] = [];
afterEach(() => {
  for (const watch of watches.splice(0)) watch.close();
});

function watched() {
  const stalls: Stall<Named>[] = [];
  const watch = new LoopWatch<Named>((stall) => stalls.push(stall));
  watches.push(watch);
  return { watch, stalls };
}

const work = (name: string): Named => ({ name });

/** Keeps the processor busy for so many milliseconds of this thread's own time. */
function compute(ms: number): void {
  const until = cpuMs() + ms;
  while (cpuMs() < until);
}

const named = (stalls: Stall<Named>[]) => stalls.map((stall) => stall.work?.name ?? null);

test('work that holds the loop as soon as it has control is named, and nobody beside it', async () => {
  const { watch, stalls } = watched();
  const [light, heavy, after] = [work('light'), work('heavy'), work('after')];
  watch.enter(light);
  watch.enter(heavy);
  compute(120);
  watch.enter(after);
  await vi.waitFor(() => expect(named(stalls)).toEqual(['heavy']), { timeout: 240_000 });
  expect(stalls[0]?.cpuMs).toBeGreaterThanOrEqual(119);
  expect(stalls[0]?.lateMs).toBeGreaterThanOrEqual(50);
});

test('work that goes on after it has waited is named when it says that it was there', async () => {
  const { watch, stalls } = watched();
  const [first, late] = [work('first'), work('late')];
  watch.enter(late);
  watch.leave(late);
  await sleep(50);
  watch.enter(first);
  await sleep(50);
  compute(120);
  watch.leave(late);
  await vi.waitFor(() => expect(named(stalls)).toEqual(['late']), { timeout: 240_000 });
});

test('what nobody says is nobody’s: neither of who begins afterwards, nor of who has waited since', async () => {
  const { watch, stalls } = watched();
  const begun = work('begun');
  compute(120);
  watch.enter(begun);
  await vi.waitFor(() => expect(named(stalls)).toEqual([null]), { timeout: 240_000 });
  await sleep(50);
  compute(120);
  await vi.waitFor(() => expect(named(stalls)).toEqual([null, null]), { timeout: 240_000 });
});

test('waiting is no stall', async () => {
  const { watch, stalls } = watched();
  const idle = work('idle');
  watch.enter(idle);
  await sleep(300);
  watch.leave(idle);
  expect(stalls.filter((stall) => stall.work !== null)).toEqual([]);
});
