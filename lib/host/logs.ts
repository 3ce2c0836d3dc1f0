/** The logs of sandboxes, as the settings have them. */

import { withLogs } from '../logs/logged-sandboxes.ts';
import { SandboxLogs, type SandboxLogsParts } from '../logs/sandbox-logs.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';

/** Makes them, and the sandboxes whose output they have. Nothing is read or written before they start. */
export function createLogs(
  parts: SandboxLogsParts,
  unlogged: Sandboxes,
): {
  logs: SandboxLogs;
  sandboxes: Sandboxes;
  /** The same, for schedules. */
  scheduled: Sandboxes;
} {
  const logs = new SandboxLogs(parts);
  return { logs, sandboxes: withLogs(unlogged, logs), scheduled: withLogs(unlogged, logs, 'schedule') };
}
