/**
 * Makes a sandbox of a file that was written anew: the file goes to its place first, then the row. Knows nothing of
 * where the file came from.
 */
import { dirname, join } from 'node:path';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { makeNewFolder, removeFolder, syncFolder } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, LedgerEntry, NewInstance } from '../registry/types.ts';
import { livePath } from '../sessions/engine.ts';
import { fileRecord } from '../sessions/file-verification.ts';
import { moveFile, removeFile, stagingFor, stampOf } from '../storage/files.ts';

export interface CreateFromFileOptions {
  dataFolder: string;
  clock: Clock;
  registry: {
    instances: Pick<Registry['instances'], 'get' | 'create'>;
    copies: Pick<Registry['copies'], 'markUnclaimed' | 'clearUnclaimed'>;
  };
}

/**
 * Moves `file`, whose bytes are on disk, into the live drawer and inserts the row in state `created`. A failure leaves
 * neither. A server that dies between the two leaves a marked file without a row, which the next start removes: its
 * landing was never answered. Throws `conflict` for a taken id or name.
 */
export async function createFromFile(
  { dataFolder, clock, registry }: CreateFromFileOptions,
  file: string,
  sha256: string,
  instance: Omit<NewInstance, 'vfsPath' | 'file' | 'bytes'>,
  ledger: LedgerEntry,
): Promise<InstanceRow> {
  const { id } = instance;
  const vfsPath = livePath(id);
  const target = join(dataFolder, vfsPath);
  const folder = dirname(target);
  let ours = stampOf(file);
  if (ours === null) throw new WinterdockError('internal', 'What was to be landed is not there.');
  if ((await registry.instances.get(id)) !== null) throw taken(id);
  try {
    await makeNewFolder(folder);
  } catch (error) {
    // Someone else is about to have this id.
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw taken(id);
    throw error;
  }
  try {
    await registry.copies.markUnclaimed(vfsPath);
    await (await moveFile(file, target, stagingFor(dataFolder, target))).makeDurable();
    await syncFolder(dirname(folder));
    const landed = stampOf(target);
    if (landed === null) throw new WinterdockError('internal', 'What was just landed is not there.');
    ours = landed;
    const record = fileRecord(landed, { sha256, quickCheck: 'ok' });
    const row = await registry.instances.create(
      { ...instance, vfsPath, file: record, bytes: landed.size },
      epochSeconds(clock),
      ledger,
    );
    await unmark(registry, vfsPath);
    return row;
  } catch (error) {
    // A sandbox that took the id meanwhile may have its own file there by now, even on the same inode: only what is
    // ours goes.
    const there = stampOf(target);
    const same = there?.inode === ours.inode && there.mtimeNs === ours.mtimeNs && there.size === ours.size;
    if (same) await removeFile(target);
    await removeFolder(folder).catch(() => undefined);
    await unmark(registry, vfsPath);
    throw error;
  }
}

/**
 * A mark that stays, as the registry takes no more just now, harms nothing: it counts only where there is no row, and
 * goes at the next start.
 */
async function unmark(registry: CreateFromFileOptions['registry'], path: string): Promise<void> {
  try {
    await registry.copies.clearUnclaimed(path);
  } catch {
    // What the landing came to is what its caller is told.
  }
}

function taken(id: string): WinterdockError {
  return new WinterdockError('conflict', `The id "${id}" is taken.`);
}
