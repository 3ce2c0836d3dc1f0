/**
 * Signals that must not end a process, or open it, before its work is done. Knows nothing of that work.
 */

/** Sent by a terminal to each process of its group: by Ctrl-C, by its end, by Ctrl-\. */
const OF_A_GROUP = ['SIGINT', 'SIGHUP', 'SIGQUIT'] as const;

/** The flag of a Node that is started: SIGUSR1 would open its debugger, on a port, to whoever reaches the machine. */
export const NO_DEBUGGER = '--disable-sigusr1';

/** Ignores what is sent to a whole group: for a process whose server decides what that means for it. */
export function leaveSignalsToServer(): void {
  for (const signal of OF_A_GROUP) process.on(signal, () => {});
  keepDebuggerClosed();
}

/**
 * Makes SIGUSR1 do nothing: a listener takes the place of Node's own, also where this process was started without
 * `NO_DEBUGGER`.
 */
export function keepDebuggerClosed(): void {
  process.on('SIGUSR1', () => {});
}
