/** Before each of Vitest's files: what another left in the process that they share is told at once, not by chance. */
import timers from 'node:timers';
import { vi } from 'vitest';

for (const name of ['setTimeout', 'setInterval', 'setImmediate'] as const) {
  if (vi.isFakeTimers() || globalThis[name] !== timers[name]) {
    throw new Error(`A file that ran before in this process left a faked clock (${name}).`);
  }
}
