/** Getting a process that has a file open. Knows nothing of rows or drawers: the file lies where it is to be opened. */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { publicMessage, WinterdockError } from '../base/errors.ts';
import type { Claim, InstanceProcess, OpenSpec } from '../instance/instance.ts';
import { type Engine, MEMORY, serverStopping } from './engine.ts';

/** Processes tried one after another when they end by themselves while they open a file. */
const ATTEMPTS = 2;

/**
 * Resolves with a process that has the file of `spec` open, in the room that `claim` keeps; `onProcess` gets each one
 * that is tried, before it has. One that ends by itself is replaced once, as nothing of the file's may be to blame.
 * Throws what opening the file throws, what the system says of a file that may not be written, `capacity` when both
 * ended, and `capacity` when the server stops meanwhile. No process is left then.
 */
export async function startProcess(
  engine: Pick<Engine, 'pool' | 'stop' | 'log'>,
  spec: OpenSpec,
  { onProcess = () => {}, claim }: { onProcess?: (process: InstanceProcess) => void; claim: Claim },
): Promise<InstanceProcess> {
  if (spec.file !== MEMORY) requireWritable(spec.file);
  for (let attempt = 1; ; attempt += 1) {
    claim.release();
    const process = engine.pool.open(spec);
    // A process that is still starting would be waited for longer than a stop may take.
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
 * SQLite opens what may not be written for reading alone: such a process would refuse every write, also once it may be
 * written again.
 */
function requireWritable(file: string): void {
  accessSync(dirname(file), constants.W_OK);
  if (existsSync(file)) accessSync(file, constants.W_OK);
}
