import { availableParallelism, getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { cpuTimeOf } from '../../workers/cpu-use.ts';
import { LOWEST_PRIORITY, workerNiceness } from '../../workers/process.ts';
import { stage } from '../testing/stage.ts';
import { observeOpens, REQUEST } from '../testing/test-engine.ts';

const at = stage();
const BURN = 'while true; do :; done';
const GREEDY = 2 * availableParallelism() + 1;

/** Processor seconds of each process while the first one of them uses so many. */
async function usedUntil(seconds: number, pids: number[]): Promise<number[]> {
  const ran = () => pids.map((pid) => cpuTimeOf(pid)?.ran ?? 0);
  const before = ran();
  await expect.poll(() => (ran()[0] ?? 0) - (before[0] ?? 0), { interval: 10 }).toBeGreaterThan(seconds);
  return ran().map((now, index) => now - (before[index] ?? 0));
}

test('the sandboxes of a tenant that wants most of the processors give way to those of another', async () => {
  await at.restart({ environment: { WB_MAX_ACTIVE: '100' } });
  at.dock.sandboxes.start();
  const processes = new Map<string, { readonly pid: number }>();
  observeOpens(at.dock.pool, (process, { id }) => processes.set(id, process));
  const greedy = Array.from({ length: GREEDY }, (_, n) => `greedy-${n}`);
  for (const id of greedy) await at.dock.create(id, { tenant: 'greedy' });
  await at.dock.create('modest', { tenant: 'modest' });
  for (const id of [...greedy, 'modest']) await at.dock.run(id, 'true');
  const pidOf = (id: string) => processes.get(id)?.pid ?? 0;
  const enough = new AbortController();
  const burn = (id: string) =>
    at.dock.sandboxes.exec(id, { command: BURN, timeoutMs: 500_000 }, REQUEST, { signal: enough.signal });
  const burning = greedy.map(burn);
  const nicenessOf = (id: string) => getPriority(pidOf(id));
  await expect.poll(() => greedy.map(nicenessOf)).toEqual(greedy.map(() => LOWEST_PRIORITY));
  expect(nicenessOf('modest')).toBe(workerNiceness());
  const modest = burn('modest');
  const pids = [pidOf('modest'), ...greedy.map(pidOf)];
  // Once it runs.
  await usedUntil(0.05, pids);
  const [own = 0, ...others] = await usedUntil(0.5, pids);
  const average = others.reduce((sum, one) => sum + one, 0) / others.length;
  // With equal priorities each would get the same.
  expect(own / average).toBeGreaterThan(1.8);
  enough.abort();
  await Promise.all([modest, ...burning]);
  // Only a privileged server may raise a priority again.
  const after = process.getuid?.() === 0 ? workerNiceness() : LOWEST_PRIORITY;
  await expect.poll(() => greedy.map(nicenessOf)).toEqual(greedy.map(() => after));
});

test('a tenant with one busy process wants no more than half of two processors, however long it waits for one', async () => {
  await at.restart({ environment: { WB_MAX_ACTIVE: '100' } });
  at.dock.sandboxes.start();
  let pidOf = () => 0;
  observeOpens(at.dock.pool, (process) => {
    pidOf = () => process.pid;
  });
  await at.dock.create('alone', { tenant: 'alone' });
  await at.dock.run('alone', 'true');
  const burning = at.dock.sandboxes.exec('alone', { command: BURN, timeoutMs: 6000 }, REQUEST);
  const seen = new Set<number>();
  const looking = setInterval(() => seen.add(getPriority(pidOf())), 100);
  await burning;
  clearInterval(looking);
  expect([...seen]).toEqual([workerNiceness()]);
});
