/** Recovers the file of a process that has ended, also while that process is still letting go of it. */
import { setTimeout as pause } from 'node:timers/promises';
import { isWinterdockError } from '../base/errors.ts';
import type { Engine } from './engine.ts';

/**
 * Pauses between attempts, in milliseconds. A process that was killed has given its memory back, and is in no list,
 * before it closes its files: on a busy machine that was seen to take longer than a start of the server. Anybody else
 * who holds the file holds it for longer than this.
 */
const PAUSES_MS = [20, 40, 80, 160, 320, 640];

/**
 * Makes one clean file of the file at an absolute path and the log beside it. Returns its identity, null when it has
 * none. Throws what `Readers.settle` throws: `conflict` when the file is held by somebody for longer than a moment.
 */
export async function settleFile(engine: Pick<Engine, 'readers' | 'stop'>, path: string): Promise<string | null> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await engine.readers.settle(path);
    } catch (error) {
      if (!isWinterdockError(error) || error.code !== 'conflict' || engine.stop.aborted) throw error;
      await pause(pauseMs);
    }
  }
  return engine.readers.settle(path);
}
