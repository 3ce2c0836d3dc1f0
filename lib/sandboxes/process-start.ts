/** Starting a process on a file. Knows nothing of rows or drawers: the file is where the process opens it. */
import { dirname } from 'node:path';
import { publicMessage, WinterdockError } from '../base/errors.ts';
import { isThereNow, requireWritableNow } from '../base/strangers-file.ts';
import type { Claim, InstanceProcess, OpenSpec } from '../workers/protocol/instance.ts';
import { type Engine, MEMORY, serverStopping } from './engine.ts';

/** How many processes are tried when they end by themselves while they open a file. */
const ATTEMPTS = 2;

/**
 * Resolves with a process that has the file of `spec` open, in the place that `claim` keeps. `onProcess` gets each
 * process that is tried, before it has the file open. A process that ends by itself is replaced once, because the file
 * may not be to blame. Throws what opening the file throws, what the system says of a file that is not writable,
 * `capacity` when both processes ended, and `capacity` when the server stops meanwhile. Then no process is left.
 */
export async function startProcess(
  engine: Pick<Engine, 'pool' | 'stop' | 'log'>,
  spec: OpenSpec,
  { onProcess = () => {}, claim }: { onProcess?: (process: InstanceProcess) => void; claim: Claim },
): Promise<InstanceProcess> {
  if (spec.file !== MEMORY) requireWritable(spec.file);
  for (let attempt = 1; ; attempt += 1) {
    const process = attempt === 1 ? claim.open(spec) : engine.pool.open(spec);
    // Killed when the server stops: waiting for a start would take longer than a stop may.
    const breakOff = () => void process.kill('closed');
    engine.stop.addEventListener('abort', breakOff, { once: true });
    try {
      onProcess(process);
      await process.opened;
      return process;
    } catch (error) {
      const { cause, detail } = await process.kill('killed');
      if (cause === 'closed' && engine.stop.aborted) throw serverStopping();
      if (cause !== 'crash') throw error;
      engine.log.warn(
        { id: spec.id, error: publicMessage(error), attempt },
        'a process ended while it opened its file',
      );
      if (attempt < ATTEMPTS) continue;
      throw new WinterdockError(
        'capacity',
        `${ATTEMPTS} processes for the sandbox "${spec.id}" ended before they had its file open. ${detail}`,
        {
          hint: 'Its file is where it was. Try again; when it stays so, look at the memory and the log of the machine.',
          retryAfterSeconds: 5,
          cause: error,
        },
      );
    } finally {
      engine.stop.removeEventListener('abort', breakOff);
    }
  }
}

/**
 * SQLite opens a file that is not writable for reading only. Such a process would refuse every write, even when the
 * file is writable again.
 */
function requireWritable(file: string): void {
  requireWritableNow(dirname(file));
  if (isThereNow(file)) requireWritableNow(file);
}
