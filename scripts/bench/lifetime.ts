/**
 * Processes that a measurement starts end with it: when it exits, when a signal stops it, and when it is killed, for
 * which the kernel tells them. Linux alone.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';

/** Part of util-linux: has the kernel send a process a signal when the thread that started it is gone. */
const SETPRIV = '/usr/bin/setpriv';
const STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How often it is asked whether the runner is still there, in milliseconds. */
const RUNNER_EVERY_MS = 500;

/** What becomes a command by running it, and is told to end (SIGTERM) when this process is gone. */
export const WITHIN_US: readonly string[] = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'TERM'] : [];

const children = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of children) child.kill();
});

/** Tells a child to end when this process exits. */
export function endsWithUs(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

/** From now on a signal that stops this process lets it exit, and so does the end of the npm that has started it. */
export function endWithRunner(): void {
  for (const signal of STOPS) process.once(signal, () => process.exit(128 + constants.signals[signal]));
  if (process.env.npm_lifecycle_event === undefined) return;
  const runner = process.ppid;
  setInterval(() => {
    if (process.ppid !== runner) process.exit(128 + constants.signals.SIGHUP);
  }, RUNNER_EVERY_MS).unref();
}
