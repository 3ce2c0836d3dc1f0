/**
 * The raw copy: the file of a sandbox, byte for byte, with the log beside it, even when they are damaged. Opens neither
 * as a database and changes nothing.
 */
import { constants } from 'node:fs';
import { join } from 'node:path';
import { WinterdockError } from '../../base/errors.ts';
import { copyRegular } from '../../base/strangers-file.ts';
import { waysOut } from '../../lifecycle/ways-out.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { stampOf } from '../../storage/files.ts';
import { type Engine, MEMORY, requireOwnInstance } from '../engine.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { RawCopy } from '../sandboxes.ts';
import { fileOf } from './file-locations.ts';
import { requireHash } from './filed-hash.ts';
import { leasedNear } from './reading.ts';

/** The logs that SQLite keeps beside a file. */
const LOGS = ['-wal', '-journal'] as const;

/**
 * Copies the file of a sandbox without a process, and its log, into `folder` (absolute). Filing and waking wait. Throws
 * `not_found`, `gone`, `missing_file`, `unverified`; `conflict` for a sandbox that is awake, has no file yet or lives
 * only in its process.
 */
export function copyRaw(engine: Engine, runtime: SandboxRuntime, folder: string): Promise<RawCopy> {
  return leasedNear(engine, runtime, async () => {
    const row = await requireOwnInstance(engine, runtime.id);
    refuse(row);
    // Of a sandbox with a fault it is what a repair begins with, whatever its bytes are.
    if (row.fault === null) await requireHash(engine, row);
    const source = fileOf(engine, row);
    const stat = row.vfsPath === null ? null : await source.stat();
    if (stat === null) {
      throw new WinterdockError('missing_file', `The file of "${row.id}" is not where its row says.`, {
        hint: waysOut('missing'),
      });
    }
    const file = join(folder, 'raw.sqlite');
    const neighbours = await source.neighbours();
    const suffix = LOGS.find((log) => neighbours.some(({ part, size }) => part === log && (size ?? 0) > 0));
    await source.read(async (path) => {
      await copyRegular(path, file, constants.COPYFILE_FICLONE);
      // What lies beside a file is local, as the file is.
      if (suffix !== undefined) await copyRegular(path + suffix, file + suffix, constants.COPYFILE_FICLONE);
    });
    return {
      row,
      file,
      bytes: stat.size,
      packed: source.packed,
      log: suffix === undefined ? null : { suffix, file: file + suffix, bytes: stampOf(file + suffix)?.size ?? 0 },
    };
  });
}

function refuse(row: InstanceRow): void {
  if (row.vfsPath === MEMORY) {
    throw new WinterdockError('conflict', `The sandbox "${row.id}" lives only in its process: it has no file.`);
  }
  if (row.state === 'active') {
    throw new WinterdockError('conflict', `The sandbox "${row.id}" is awake: its file is being written.`, {
      hint: row.ephemeral
        ? 'Take a snapshot, which needs no rest.'
        : 'Suspend it first; or take a snapshot, which needs no rest.',
    });
  }
  if (row.state === 'created' && row.vfsPath === null) {
    throw new WinterdockError('conflict', `The sandbox "${row.id}" has no file yet.`, {
      hint: 'Resume it once first.',
    });
  }
}
