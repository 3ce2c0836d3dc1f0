/**
 * How much processor time each test file takes: its own process with every process that it started. With the path of a
 * file in `WB_TEST_TIMES`, a run appends a line for each test file to it, and `npm test` prints a table. What a killed
 * process had started is left out. Knows nothing of the tests.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { treeOf } from '../lib/testing/process-tree.ts';

/** The variable with the path of the file, relative to the root of the repository or absolute. */
export const TEST_TIMES = 'WB_TEST_TIMES';

export interface TestTime {
  /** Relative to the root of the repository. */
  file: string;
  /** Seconds of processor time, all in all. */
  cpu: number;
  /** Those of its own process among them. */
  own: number;
  /** Seconds that went by. */
  wall: number;
}

/** A test that failed beside others and passed alone, as the run says it at its end. */
export interface FlakyTest {
  flaky: string;
}

/** The kernel counts processor time in hundredths of a second, on every machine that Linux runs on. */
const TICKS_PER_SECOND = 100;

/** From /proc/PID/stat: a process's own time, and that of its children that have ended. */
function ticksIn(stat: string): { own: number; ended: number } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const at = (field: number) => Number(fields[field - 3]);
  return { own: at(14) + at(15), ended: at(16) + at(17) };
}

function statOf(pid: number): { own: number; ended: number } {
  try {
    return ticksIn(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // It has ended, or this system has no such file.
    return { own: 0, ended: 0 };
  }
}

/** Seconds of processor time of a process and of everything that it started. */
function treeSeconds(pid: number): number {
  const ticks = treeOf(pid).map(statOf);
  return ticks.reduce((sum, { own, ended }) => sum + own + ended, 0) / TICKS_PER_SECOND;
}

function secondsSoFar(): { cpu: number; own: number } {
  // Threads of one process run files side by side.
  const { user, system } = isMainThread ? process.cpuUsage() : process.threadCpuUsage();
  const own = (user + system) / 1e6;
  return { cpu: isMainThread ? Math.max(own, treeSeconds(process.pid)) : own, own };
}

/** Seconds of processor time of the processes that this one started and that have ended. */
export function secondsOfChildren(): number {
  return statOf(process.pid).ended / TICKS_PER_SECOND;
}

/** What this process, or thread, had spent when its last file ended. Its files may each load this module again. */
const SPENT = Symbol.for('winterdock.test-times');
const shared = globalThis as { [SPENT]?: { cpu: number; own: number } };

/**
 * Appends what this process has spent since the last call, or since its start, as the time of a test file. `begun`:
 * what `performance.now()` was when the file began.
 */
export function noteTestTime(path: string, file: string, begun: number): void {
  const { cpu, own } = secondsSoFar();
  const before = shared[SPENT] ?? { cpu: 0, own: 0 };
  shared[SPENT] = { cpu, own };
  const time: TestTime = {
    file,
    cpu: Math.max(0, cpu - before.cpu),
    own: own - before.own,
    wall: (performance.now() - begun) / 1000,
  };
  appendFileSync(path, `${JSON.stringify(time)}\n`);
}

/** A table of the lines in `path`, the most expensive files first. `total`: seconds of the whole run. */
export function tableOfTimes(path: string, total: number): string {
  const byFile = new Map<string, TestTime>();
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  const read = lines.map((line) => JSON.parse(line) as TestTime | FlakyTest);
  for (const { file, cpu, own, wall } of read.filter((line) => 'file' in line)) {
    const sum = byFile.get(file) ?? { file, cpu: 0, own: 0, wall: 0 };
    byFile.set(file, { file, cpu: sum.cpu + cpu, own: sum.own + own, wall: sum.wall + wall });
  }
  const times = [...byFile.values()].sort((one, other) => other.cpu - one.cpu);
  const measured = times.reduce((sum, { cpu }) => sum + cpu, 0);
  const row = (numbers: (number | null)[], what: string) =>
    [...numbers.map((number) => (number?.toFixed(1) ?? '').padStart(8)), ` ${what}`].join(' ');
  return [
    '   CPU s      own     wall  file',
    ...times.map(({ file, cpu, own, wall }) => row([cpu, own, wall], file)),
    row([Math.max(0, total - measured), null, null], 'the build, the runners, and what killed processes left behind'),
    row([Math.max(total, measured), null, null], 'all'),
  ].join('\n');
}
