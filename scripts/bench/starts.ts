/**
 * Processor time that the start of a worker takes, beside a bare Node child. Time on a processor and not by the clock:
 * it bounds how many starts a machine can do, and a busy neighbour changes it little.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startWorker, type WorkerOptions } from '../../lib/workers/process.ts';
import { ensureWorkerBundle } from '../build.ts';
import { cpuOf, killChild, startBareChild } from './processes.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { percentileOf, ratioOf } from './statistics.ts';

const FLOOR = 'a bare Node child until it is ready';
const MAX_START_MS = 30_000;
const EXCLUDES = {
  floor: 'loading any code.',
  start: 'what the server itself spends on a start, threads that ended before, or the first start after an update.',
  idle: 'a worker that is handed a sandbox at once: it rehearses only while it waits.',
};

/** A worker's processor time when it is ready. */
async function startOnce(options: WorkerOptions, afterMs = 0): Promise<number> {
  const worker = startWorker(options);
  try {
    await worker.ready;
    if (afterMs > 0) await setTimeout(afterMs);
    return cpuOf(worker.pid);
  } finally {
    worker.child.kill('SIGKILL');
    await worker.exited;
  }
}

/** `rounds` starts of each; `idleMs`: how long one waits for a sandbox before its rehearsals are counted too. */
export async function measureStarts(rounds: number, idleMs: number): Promise<PartResult> {
  ensureWorkerBundle();
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-starts-'));
  const options = {
    dataFolder: folder,
    spillFolder: join(folder, 'spill'),
    cacheFolder: join(folder, 'cache'),
    maxStartMs: MAX_START_MS,
  };
  try {
    // As the pool does: the first one compiles for all that follow.
    const first = startWorker(options, { compile: true });
    await first.ready.finally(() => first.child.kill('SIGKILL'));
    await first.exited;
    const found = await roundRobin(rounds, {
      bare: once(async () => {
        const child = await startBareChild();
        const took = cpuOf(child.pid);
        await killChild(child);
        return took;
      }),
      ready: once(() => startOnce(options)),
      idle: once(() => startOnce(options, idleMs)),
    });
    const after = `a worker after ${idleMs / 1000} s of waiting`;
    const shared = { unit: 'ms of CPU', floor: FLOOR };
    return {
      series: [
        seriesOf(FLOOR, found.bare, { unit: 'ms of CPU', excludes: EXCLUDES.floor }),
        seriesOf('a worker until it is ready', found.ready, { ...shared, excludes: EXCLUDES.start }),
        seriesOf(after, found.idle, { ...shared, excludes: EXCLUDES.idle }),
      ],
      figures: [
        figureOf('start of a worker, median', percentileOf(found.ready, 0.5), {
          unit: 'ms of CPU',
          bar: 'starts: CPU of a start',
          excludes: EXCLUDES.start,
        }),
        figureOf('start of a worker / bare Node child', ratioOf(found.ready, found.bare), {
          unit: '×',
          excludes: EXCLUDES.start,
        }),
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
