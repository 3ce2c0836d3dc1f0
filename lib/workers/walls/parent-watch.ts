/**
 * Ends the workers and helpers of a server that dies. The kernel's own signal for that, which setpriv asks for, is lost
 * by a process that changes its user, and one whose thread is blocked, or that is paused, cannot notice anything. Knows
 * nothing of them but their mark.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { withoutSignalsUnlessStarted } from '../../base/unstarted.ts';
import { SERVER_MARK, serverMark } from '../process.ts';

/**
 * Waits until the server's end of its input is closed, which the kernel does however the server ends. Its own arguments
 * must not hold the mark. A worker can hide its own, but not those of its wrapper, whose child it is. More rounds than
 * one: a process may just be starting.
 */
const SCRIPT = `trap '' INT TERM HUP QUIT USR1 USR2
read -r line
for round in 1 2 3; do
  for file in $(printf %s "$MARK" | grep -lsF -f - /proc/[0-9]*/cmdline); do
    pid=\${file#/proc/}
    pid=\${pid%/cmdline}
    kill -KILL $(cat /proc/$pid/task/$pid/children) "$pid"
  done
  sleep 0.2
done`;

const RESTART_MS = 1000;

export interface ParentWatch {
  /** Workers and helpers end by themselves or by the server from here on. */
  close(): void;
}

/** Who needs the one guard of this process. */
let holders = 0;
let guard: ParentWatch | null = null;

/** Starts the guard of this process, which ends its workers and helpers, unless it is there. */
export function startParentWatch(): ParentWatch {
  holders += 1;
  guard ??= startShell();
  let isClosed = false;
  return {
    close() {
      if (isClosed) return;
      isClosed = true;
      holders -= 1;
      if (holders > 0) return;
      guard?.close();
      guard = null;
    },
  };
}

/** A shell, which is started again should somebody end it. */
function startShell(): ParentWatch {
  let child: ChildProcess | null = null;
  let isClosed = false;
  const start = () => {
    if (isClosed) return;
    // Detached: signals of the terminal are not meant for it.
    child = withoutSignalsUnlessStarted(
      spawn('/bin/sh', ['-c', SCRIPT], {
        detached: true,
        stdio: ['pipe', 'ignore', 'ignore'],
        env: { NODE_ENV: 'production', PATH: '/usr/bin:/bin', MARK: `${SERVER_MARK}=${serverMark(process.pid)}` },
      }),
    );
    child.unref();
    child.stdin?.on('error', () => {});
    (child.stdin as { unref?(): void } | null)?.unref?.();
    const again = () => void setTimeout(start, RESTART_MS).unref();
    child.once('exit', again);
    // One that could not be started never emits `exit`.
    child.on('error', () => child?.pid === undefined && again());
  };
  start();
  return {
    close() {
      isClosed = true;
      child?.kill('SIGKILL');
    },
  };
}
