/** Makes a sandbox of a file that was written anew: the file goes to its place first, then the row. Knows nothing of where the file came from. */
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Clock, epochSeconds } from '../clock.ts';
import type { InstanceRow, LedgerEntry, NewInstance, Registry } from '../registry/registry.ts';
import { livePath } from '../sessions/engine.ts';
import { recordOf } from '../sessions/trust.ts';
import { moveFile, stampOf, syncFolder } from '../storage/files.ts';

export interface LandingOptions {
  dataFolder: string;
  clock: Clock;
  registry: Registry;
}

/**
 * Moves `file`, whose bytes are on disk, into the live drawer and inserts the row in state `created`. A failure leaves neither. A server that dies
 * between the two leaves a file without a row, which the next start sets aside. The id is a new
 * one, so that no one else has its place. Throws `conflict` for a taken name.
 */
export async function land(
  { dataFolder, clock, registry }: LandingOptions,
  file: string,
  sha256: string,
  instance: Omit<NewInstance, 'vfsPath' | 'file' | 'bytes'>,
  ledger: LedgerEntry,
): Promise<InstanceRow> {
  const vfsPath = livePath(instance.id);
  const target = join(dataFolder, vfsPath);
  const folder = dirname(target);
  await mkdir(folder, { mode: 0o700 });
  try {
    await (await moveFile(file, target, join(dataFolder, 'staging'))).makeDurable();
    await syncFolder(dirname(folder));
    const stamp = stampOf(target);
    if (stamp === null) throw new Error('What was just put into the live drawer is not there.');
    const record = recordOf(stamp, { sha256, quickCheck: 'ok' });
    return await registry.create(
      { ...instance, vfsPath, file: record, bytes: stamp.size },
      epochSeconds(clock),
      ledger,
    );
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
