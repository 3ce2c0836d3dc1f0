/** Lets pending requests have the thread. A script whose commands never wait would block it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';

/** How long a script may run before pending requests are served, in milliseconds. */
const TURN_MS = 20;
let turnAt = 0;

/** Whether the script has kept the thread for so long. */
export function isTurnDue(): boolean {
  return monotonicMs() - turnAt >= TURN_MS;
}

/** Serves what waits. */
export async function turn(): Promise<void> {
  await nextTurn();
  turnAt = monotonicMs();
}
