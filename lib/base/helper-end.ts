/**
 * The end of a helper, by itself and with its server. Knows nothing of what it does.
 */

/** Set in its environment where others end it with its server, whatever its threads are doing. */
export const ENDED_WITH_SERVER = 'WINTERDOCK_ENDED_WITH_SERVER';

/**
 * Ends this process without a clean-up, which no helper needs: a normal exit waits for V8's threads and has been seen
 * to hang. It remains where the filter lets the process signal nobody, and where the process is the first of its
 * namespace, which no signal of its own ends.
 */
export function endHelper(): void {
  try {
    process.kill(process.pid, 'SIGKILL');
  } catch {
    // The filter.
  }
  process.exit(0);
}
