/**
 * Creates a sandbox from a rebuilt VFS file: moves the file into the live drawer, then inserts the row. Knows nothing
 * of where the file came from.
 */
import { dirname, join } from 'node:path';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { makeNewFolder, removeFolder, syncFolder } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, LedgerEntry, NewInstance } from '../registry/types.ts';
import { livePath } from '../sandboxes/engine.ts';
import { fileRecord } from '../sandboxes/files/file-verification.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { moveFile, removeFile, stagingFor, stampOf } from '../storage/files.ts';

export interface CreateFromFileOptions {
  dataFolder: string;
  clock: Clock;
  registry: {
    instances: Pick<Registry['instances'], 'get' | 'create'>;
    copies: Pick<Registry['copies'], 'markUnclaimed' | 'clearUnclaimed'>;
  };
  /** Who is told of the new file. Left out: nobody, as there is no server. */
  sandboxes?: Pick<Sandboxes, 'fileMade'>;
}

/**
 * Moves `file`, whose bytes are on disk, into the live drawer and inserts the row in state `created`. A failure leaves
 * neither. A server that dies between the two leaves a file without a row, marked as unclaimed: the next start removes
 * it, as its request was never answered. Throws `conflict` for a taken id or name.
 */
export async function createFromFile(
  { dataFolder, clock, registry, sandboxes }: CreateFromFileOptions,
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
  if (ours === null) throw new WinterdockError('internal', 'The file of the new sandbox is missing.');
  if ((await registry.instances.get(id)) !== null) throw taken(id);
  try {
    await makeNewFolder(folder);
  } catch (error) {
    // Another request is creating a sandbox with this id.
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw taken(id);
    throw error;
  }
  try {
    await registry.copies.markUnclaimed(vfsPath);
    await (await moveFile(file, target, stagingFor(dataFolder, target))).makeDurable();
    await syncFolder(dirname(folder));
    const moved = stampOf(target);
    if (moved === null) throw new WinterdockError('internal', 'The file of the new sandbox is missing after its move.');
    ours = moved;
    const record = fileRecord(moved, { sha256, quickCheck: 'ok' });
    const row = await registry.instances.create(
      { ...instance, vfsPath, file: record, bytes: moved.size },
      epochSeconds(clock),
      ledger,
    );
    sandboxes?.fileMade(id);
    await unmark(registry, vfsPath);
    return row;
  } catch (error) {
    // A sandbox that took the id meanwhile may have its own file there by now, even on the same inode: remove the file
    // only if it is still the one moved here.
    const there = stampOf(target);
    const same = there?.inode === ours.inode && there.mtimeNs === ours.mtimeNs && there.size === ours.size;
    if (same) await removeFile(target);
    await removeFolder(folder).catch(() => undefined);
    await unmark(registry, vfsPath);
    throw error;
  }
}

/**
 * A mark that stays because the registry takes no write now does no harm: it counts only for a file without a row, and
 * the next start removes it.
 */
async function unmark(registry: CreateFromFileOptions['registry'], path: string): Promise<void> {
  try {
    await registry.copies.clearUnclaimed(path);
  } catch {
    // The caller needs the result of the creation, not of this clean-up.
  }
}

function taken(id: string): WinterdockError {
  return new WinterdockError('conflict', `The id "${id}" is taken.`);
}
