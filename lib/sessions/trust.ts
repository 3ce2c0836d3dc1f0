/** Whether a file at rest is the file that was filed. Decides; repairs and moves nothing. */
import { WinterdockError } from '../errors.ts';
import { waysOut } from '../lifecycle/ways-out.ts';
import type { FileRecord, InstanceRow } from '../registry/registry.ts';
import type { FileStamp } from '../storage/drawer.ts';
import { stampOf } from '../storage/files.ts';
import type { Engine } from './engine.ts';

/** Whether two stamps are of the same, untouched file. */
export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.inode === b.inode && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}

/** A record of a file just filed; `sha256` is kept when the bytes are known to be the same. */
export function recordOf(stamp: FileStamp, known: Pick<FileRecord, 'sha256' | 'quickCheck'> | null = null): FileRecord {
  return { ...stamp, sha256: known?.sha256 ?? null, quickCheck: known?.quickCheck ?? null };
}

/**
 * Makes sure that the file at `path` is the one the row recorded. A file whose stat is as recorded is trusted at once; any other is
 * hashed and checked in full. Without a recorded hash, size and modification time must be as recorded. `force` accepts other bytes
 * as long as the structure is sound. What a process left of one that could not be recovered is taken up first. Returns what is known of the
 * bytes. Throws `missing_file` or `corrupt`, and what `settle` throws.
 */
export async function ensureTrusted(
  engine: Pick<Engine, 'readers'>,
  row: Pick<InstanceRow, 'id' | 'file'>,
  path: string,
  force: boolean,
): Promise<Pick<FileRecord, 'sha256' | 'quickCheck'> | null> {
  const stamp = stampOf(path);
  if (stamp === null) {
    throw new WinterdockError('missing_file', `The file of "${row.id}" is not where its row says.`, {
      hint: waysOut('missing'),
    });
  }
  const recorded = row.file;
  if (recorded?.unsettled === true) {
    await engine.readers.settle(path);
    if (!force && stampOf(path)?.inode !== recorded.inode) throw corrupt(row, 'it is not the file that was filed');
    return null;
  }
  if (recorded !== null && sameStamp(stamp, recorded)) {
    if (recorded.quickCheck !== null && recorded.quickCheck !== 'ok' && !force) throw corrupt(row, recorded.quickCheck);
    return recorded;
  }
  const check = await engine.readers.check(path, { urgent: true });
  if (check.quickCheck !== 'ok') throw corrupt(row, `its structure is damaged: ${check.quickCheck}`);
  if (recorded !== null && !force) {
    const same =
      recorded.sha256 === null
        ? recorded.size === stamp.size && recorded.mtimeNs === stamp.mtimeNs
        : recorded.sha256 === check.sha256;
    if (!same) throw corrupt(row, 'it is not the file that was filed');
  }
  return check;
}

/**
 * Makes sure that the archived file at `path` is the one that was packed. One whose stat is as recorded is proved by the checksum of its own compression
 * as it expands; any other is expanded to nowhere first, and compared where a hash is known. `force` leaves it to the checksum. Throws `missing_file`
 * or `corrupt`.
 */
export async function ensurePacked(
  engine: Pick<Engine, 'readers'>,
  row: Pick<InstanceRow, 'id' | 'file'>,
  path: string,
  force: boolean,
): Promise<void> {
  const stamp = stampOf(path);
  if (stamp === null) {
    throw new WinterdockError('missing_file', `The archived file of "${row.id}" is not where its row says.`, {
      hint: waysOut('missing'),
    });
  }
  const recorded = row.file;
  if (force || recorded === null || recorded.sha256 === null || sameStamp(stamp, recorded)) return;
  const { sha256, quickCheck } = await engine.readers.check(path, { urgent: true, packed: true });
  if (quickCheck !== 'ok') throw corrupt(row, quickCheck);
  if (sha256 !== recorded.sha256) throw corrupt(row, 'it is not the file that was archived');
}

function corrupt(row: Pick<InstanceRow, 'id'>, why: string): WinterdockError {
  return new WinterdockError('corrupt', `The file of "${row.id}" was refused: ${why.slice(0, 300)}.`, {
    hint: waysOut('corrupt'),
  });
}
