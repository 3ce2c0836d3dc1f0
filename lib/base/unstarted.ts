/** Child processes that could not be started. Knows nothing of what they are. */
import type { ChildProcess } from 'node:child_process';

/**
 * Makes `kill` of a process that could not be started do nothing. Until the next tick it has the id 0, and a signal to
 * that is one to the whole process group: to the server, and to all that it started. Returns the process.
 */
export function withoutSignalsUnlessStarted<Child extends ChildProcess>(child: Child): Child {
  if (child.pid === undefined) child.kill = () => false;
  return child;
}
