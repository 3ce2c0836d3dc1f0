/** Why the pool has no room for one more process, in words. */
import { WinterdockError } from '../base/errors.ts';
import type { MemoryUse } from './protocol/instance.ts';

const MIB = 1024 * 1024;

export function noPlace(maxActive: number): WinterdockError {
  return new WinterdockError('capacity', `All ${maxActive} places for running sandboxes are taken.`, {
    hint: 'Suspend one, or wait until one is idle.',
    retryAfterSeconds: 5,
  });
}

export function noMemory({ servingBytes, limitBytes }: MemoryUse): WinterdockError {
  const [taken, limit] = [servingBytes, limitBytes ?? 0].map((bytes) => Math.round(bytes / MIB));
  return new WinterdockError(
    'capacity',
    `The processes of sandboxes use ${taken} MiB of the ${limit} MiB that they share (WB_MEMORY): there is no room for one more.`,
    { hint: 'Wait until one is idle, suspend one that is kept hot, or give them more memory.', retryAfterSeconds: 5 },
  );
}

export function stopping(): WinterdockError {
  return new WinterdockError('capacity', 'The server is stopping.', { retryAfterSeconds: 5 });
}

/** Of a pool that was given none. */
export function noNatives(): WinterdockError {
  return new WinterdockError('unsupported', 'Real programs do not run here: nothing was set up for them.', {
    hint: 'Start the server with WB_NATIVE=on.',
  });
}

/** Real programs work through a mount, and that on a file. */
export function noNativeInMemory(): WinterdockError {
  return new WinterdockError('unsupported', 'Real programs work on a file, and a sandbox in memory has none.', {
    hint: 'Make one without vfs_path, or give this one another policy.',
  });
}
