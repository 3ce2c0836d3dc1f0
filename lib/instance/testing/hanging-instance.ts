/** A supervised process that hangs on demand, outside any pool: its owner has to call `check`. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { OpenSpec } from '../instance.ts';
import { cpuSecondsOf } from '../processes/cpu-use.ts';
import type { HealthCheckTimes } from '../processes/health-check.ts';
import { exitOf } from '../processes/process.ts';
import { ProcessGroup } from '../processes/process-group.ts';
import { SupervisedInstance } from '../processes/supervisor.ts';

/** `hangsOn`: `signal` hangs on SIGUSR2, `trim` also when it is asked to give memory back. */
export function hangingInstance(
  spec: OpenSpec,
  { hangsOn, ...times }: { hangsOn: 'signal' | 'trim' } & Partial<HealthCheckTimes>,
): ProcessGroup {
  const child = fork(join(import.meta.dirname, 'hanging-worker.ts'), [hangsOn], {
    serialization: 'advanced',
    execArgv: ['--no-warnings', '--expose-gc'],
    env: { NODE_ENV: 'production', NODE_COMPILE_CACHE: process.env.WB_CACHE },
  });
  const worker = { child, pid: child.pid ?? 0, ready: Promise.resolve(), exited: exitOf(child), stderr: () => '' };
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
