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

/** What is known of the bytes of a file, whatever its stat. */
export type Known = Pick<FileRecord, 'sha256' | 'quickCheck' | 'identity'>;

/** A record of a file just filed, with what is `known` of its bytes. */
export function recordOf(stamp: FileStamp, known: Partial<Known> | null = null): FileRecord {
  const { sha256 = null, quickCheck = null, identity = null } = known ?? {};
  return { ...stamp, sha256, quickCheck, identity };
}

/** Whether bytes that were read of a file may be those that were filed: unless both hashes are known and differ. */
export function isSameBytes(known: Partial<Known> | null, sha256: string | null): boolean {
  const filed = known?.sha256 ?? null;
  return filed === null || sha256 === null || filed === sha256;
}

/**
 * Whether a file that was hashed and checked in full is the one that was recorded: by its hash where one is known, else by the mark in it and
 * its size. Of a record that has neither, size and modification time must be as they were.
 */
export function isRecorded(recorded: FileRecord, stamp: FileStamp, found: Known): boolean {
  if (recorded.sha256 !== null) return recorded.sha256 === found.sha256;
  if (recorded.size !== stamp.size) return false;
  const identity = recorded.identity ?? null;
  return identity === null ? recorded.mtimeNs === stamp.mtimeNs : identity === found.identity;
}

/**
 * Makes sure that the file at `path` is the one the row recorded. A file whose stat is as recorded is trusted at once; any other is
 * hashed and checked in full, and compared (see `isRecorded`). `force` accepts other bytes
 * as long as the structure is sound. What a process left of one that could not be recovered is taken up first. Returns what is known of the
 * bytes. Throws `missing_file` or `corrupt`, and what `settle` throws.
 */
export async function ensureTrusted(
  engine: Pick<Engine, 'readers'>,
  row: Pick<InstanceRow, 'id' | 'file'>,
  path: string,
  force: boolean,
): Promise<Partial<Known> | null> {
  const stamp = stampOf(path);
  if (stamp === null) {
    throw new WinterdockError('missing_file', `The file of "${row.id}" is not where its row says.`, {
      hint: waysOut('missing'),
    });
  }
  const recorded = row.file;
  if (recorded?.unsettled === true) {
    const identity = await engine.readers.settle(path);
    const same = stampOf(path)?.inode === recorded.inode || (identity !== null && identity === recorded.identity);
    if (!same && !force) throw corrupt(row, 'it is not the file that was filed');
    return { identity };
  }
  if (recorded !== null && sameStamp(stamp, recorded)) {
    if (recorded.quickCheck !== null && recorded.quickCheck !== 'ok' && !force) throw corrupt(row, recorded.quickCheck);
    return recorded;
  }
  const check = await engine.readers.check(path, { urgent: true });
  if (check.quickCheck !== 'ok') throw corrupt(row, `its structure is damaged: ${check.quickCheck}`);
  if (recorded !== null && !force && !isRecorded(recorded, stamp, check)) {
    throw corrupt(row, 'it is not the file that was filed');
  }
  return check;
}

/**
 * Makes sure that the archived file at `path` is the one that was packed. One whose stat is as recorded is proved by the checksum of its own compression
 * as it expands; any other is expanded to nowhere first, and compared by its hash. Of a record without one, size and modification time must be as
 * they were. `force` leaves it to the checksum. Returns what is known of what it expands to. Throws `missing_file` or `corrupt`.
 */
export async function ensurePacked(
  engine: Pick<Engine, 'readers'>,
  row: Pick<InstanceRow, 'id' | 'file'>,
  path: string,
  force: boolean,
): Promise<Partial<Known> | null> {
  const stamp = stampOf(path);
  if (stamp === null) {
    throw new WinterdockError('missing_file', `The archived file of "${row.id}" is not where its row says.`, {
      hint: waysOut('missing'),
    });
  }
  const recorded = row.file;
  if (recorded !== null && sameStamp(stamp, recorded)) return recorded;
  if (force || recorded === null) return null;
  const { sha256, quickCheck } = await engine.readers.check(path, { urgent: true, packed: true });
  if (quickCheck !== 'ok') throw corrupt(row, quickCheck);
  const same =
    recorded.sha256 === null
      ? recorded.size === stamp.size && recorded.mtimeNs === stamp.mtimeNs
      : recorded.sha256 === sha256;
  if (!same) throw corrupt(row, 'it is not the file that was archived');
  return { sha256, identity: recorded.identity };
}

/** The refusal of a file that is not the one that was filed, or is damaged. */
export function corrupt(row: Pick<InstanceRow, 'id'>, why: string): WinterdockError {
  return new WinterdockError('corrupt', `The file of "${row.id}" was refused: ${why.slice(0, 300)}.`, {
    hint: waysOut('corrupt'),
  });
}
