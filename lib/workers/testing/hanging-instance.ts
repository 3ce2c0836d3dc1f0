/** A supervised process that hangs on demand, outside any pool: its owner has to call `check`. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuSecondsOf } from '../cpu-use.ts';
import type { HealthCheckTimes } from '../health-check.ts';
import { startWorkerProcess } from '../process.ts';
import { ProcessGroup } from '../process-group.ts';
import type { OpenSpec } from '../protocol/instance.ts';
import { SupervisedInstance } from '../supervisor.ts';

/** `hangsOn`: `signal` hangs on SIGUSR2, `trim` also when it is asked to give memory back. */
export function hangingInstance(
  spec: OpenSpec,
  { hangsOn, ...times }: { hangsOn: 'signal' | 'trim' } & Partial<HealthCheckTimes>,
): ProcessGroup {
  const entry = join(import.meta.dirname, 'hanging-worker.ts');
  const worker = startWorkerProcess([process.execPath, '--no-warnings', '--expose-gc', entry, hangsOn], {
    NODE_ENV: 'production',
    NODE_COMPILE_CACHE: process.env.WB_CACHE,
  });
  return new ProcessGroup(new SupervisedInstance(worker, spec, times), spec, () => null);
}

/** More than a process uses between two calls, in seconds of processor time. */
const BURNT_SECONDS = 0.1;

/** Has an idle process of `hangingInstance` hang. Resolves once it burns its processor. */
export async function makeHang(pid: number): Promise<void> {
  const before = cpuSecondsOf(pid) ?? 0;
  process.kill(pid, 'SIGUSR2');
  while ((cpuSecondsOf(pid) ?? Number.POSITIVE_INFINITY) < before + BURNT_SECONDS) await pause(10);
}
