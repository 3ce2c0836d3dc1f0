import { availableParallelism, getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { cpuTimeOf } from '../../workers/cpu-use.ts';
import { LOWEST_PRIORITY, workerNiceness } from '../../workers/process.ts';
import { observeOpens, REQUEST } from '../testing/dock.ts';
import { stage } from '../testing/stage.ts';

const at = stage();
const BURN = 'while true; do :; done';
const GREEDY = 2 * availableParallelism() + 1;

/** Processor seconds of a process during some milliseconds. */
async function usedIn(milliseconds: number, pids: number[]): Promise<number[]> {
  const before = pids.map((pid) => cpuTimeOf(pid)?.ran ?? 0);
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return pids.map((pid, index) => (cpuTimeOf(pid)?.ran ?? 0) - (before[index] ?? 0));
}

test('the sandboxes of a tenant that wants most of the processors give way to those of another', async () => {
  await at.restart({ environment: { WB_MAX_ACTIVE: '100' } });
  at.dock.sessions.start();
  const processes = new Map<string, { readonly pid: number }>();
  observeOpens(at.dock.pool, (process, { id }) => processes.set(id, process));
  const greedy = Array.from({ length: GREEDY }, (_, n) => `greedy-${n}`);
  for (const id of greedy) await at.dock.create(id, { tenant: 'greedy' });
  await at.dock.create('modest', { tenant: 'modest' });
  for (const id of [...greedy, 'modest']) await at.dock.run(id, 'true');
  const pidOf = (id: string) => processes.get(id)?.pid ?? 0;
  const enough = new AbortController();
  const burn = (id: string) =>
    at.dock.sessions.exec(id, { command: BURN, timeoutMs: 9000 }, REQUEST, { signal: enough.signal });
  const burning = greedy.map(burn);
  const nicenessOf = (id: string) => getPriority(pidOf(id));
  await expect.poll(() => greedy.map(nicenessOf)).toEqual(greedy.map(() => LOWEST_PRIORITY));
  expect(nicenessOf('modest')).toBe(workerNiceness());
  const modest = at.dock.sessions.exec('modest', { command: BURN, timeoutMs: 1500 }, REQUEST);
  const [own = 0, ...others] = await usedIn(1200, [pidOf('modest'), ...greedy.map(pidOf)]);
  const average = others.reduce((sum, one) => sum + one, 0) / others.length;
  // With equal priorities each would get the same.
  expect(own / average).toBeGreaterThan(1.8);
  await modest;
  enough.abort();
  await Promise.all(burning);
  // Only a privileged server may raise a priority again.
  const after = process.getuid?.() === 0 ? workerNiceness() : LOWEST_PRIORITY;
  await expect.poll(() => greedy.map(nicenessOf)).toEqual(greedy.map(() => after));
});

test('a tenant with one busy process wants no more than half of two processors, however long it waits for one', async () => {
  await at.restart({ environment: { WB_MAX_ACTIVE: '100' } });
  at.dock.sessions.start();
  let pidOf = () => 0;
  observeOpens(at.dock.pool, (process) => {
    pidOf = () => process.pid;
  });
  await at.dock.create('alone', { tenant: 'alone' });
  await at.dock.run('alone', 'true');
  const burning = at.dock.sessions.exec('alone', { command: BURN, timeoutMs: 6000 }, REQUEST);
  const seen = new Set<number>();
  const looking = setInterval(() => seen.add(getPriority(pidOf())), 100);
  await burning;
  clearInterval(looking);
  expect([...seen]).toEqual([workerNiceness()]);
});
