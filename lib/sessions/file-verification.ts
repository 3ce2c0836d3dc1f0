/** Whether a file at rest is the file that was filed. Decides; repairs and moves nothing. */
import { relative } from 'node:path';
import { WinterdockError } from '../base/errors.ts';
import { waysOut } from '../lifecycle/ways-out.ts';
import type { FileRecord, InstanceRow } from '../registry/types.ts';
import type { FileStamp } from '../storage/drawer.ts';
import { stampOf } from '../storage/files.ts';
import type { Engine } from './engine.ts';
import { moveLogsToOrphans } from './file-locations.ts';

/** Whether two stamps are of the same, untouched file. */
export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.inode === b.inode && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}

/** What is known of the bytes of a file, whatever its stat. */
export type FileFingerprint = Pick<FileRecord, 'sha256' | 'quickCheck' | 'identity'>;

/** A record of a file just filed, with what is `known` of its bytes. */
export function fileRecord(stamp: FileStamp, known: Partial<FileFingerprint> | null = null): FileRecord {
  const { sha256 = null, quickCheck = null, identity = null } = known ?? {};
  return { ...stamp, sha256, quickCheck, identity };
}

/** Whether bytes that were read of a file may be those that were filed: unless both hashes are known and differ. */
export function mayBeSameBytes(known: Partial<FileFingerprint> | null, sha256: string | null): boolean {
  const filed = known?.sha256 ?? null;
  return filed === null || sha256 === null || filed === sha256;
}

/**
 * Whether a file that was hashed and checked in full is the one that was recorded: by its hash where one is known, else
 * by the mark in it and its size. Of a record that has neither, size and modification time must be as they were.
 */
export function matchesRecord(recorded: FileRecord, stamp: FileStamp, found: FileFingerprint): boolean {
  if (recorded.sha256 !== null) return recorded.sha256 === found.sha256;
  if (recorded.size !== stamp.size) return false;
  const identity = recorded.identity ?? null;
  return identity === null ? recorded.mtimeNs === stamp.mtimeNs : identity === found.identity;
}

/** What a file is compared with, and where what is found is written down. */
export type VerificationContext = Pick<Engine, 'readers' | 'clock' | 'registry'> & {
  config: Pick<Engine['config'], 'dataFolder'>;
};
type RecordedRow = Pick<InstanceRow, 'id' | 'file'> & Partial<Pick<InstanceRow, 'tenant' | 'pending' | 'faultReason'>>;

/**
 * What was found in files whose stat was not as recorded, by their path, and what it was found with. Kept for this
 * process alone.
 */
interface Checked {
  stamp: FileStamp;
  found: Promise<FileFingerprint>;
}
const CHECKED_MAX = 10_000;
const checked = new WeakMap<VerificationContext['readers'], Map<string, Checked>>();

/** Hashes and checks a file in full, once for as long as its stat stays the same. Throws what `check` throws. */
function checkOnce({ readers }: VerificationContext, path: string, stamp: FileStamp): Promise<FileFingerprint> {
  const known = checked.get(readers) ?? new Map<string, Checked>();
  checked.set(readers, known);
  const last = known.get(path);
  if (last !== undefined && sameStamp(last.stamp, stamp)) return last.found;
  const found = readers.check(path, { urgent: true });
  const entry = { stamp, found };
  known.delete(path);
  known.set(path, entry);
  found.catch(() => {
    if (known.get(path) === entry) known.delete(path);
  });
  for (const oldest of known.keys()) {
    if (known.size <= CHECKED_MAX) break;
    known.delete(oldest);
  }
  return found;
}

/**
 * Makes sure that nothing lies beside a file at rest: a log there is not its own, and SQLite would take it up unseen.
 * It is set aside. The log of one that could not be recovered is its own and is taken up; its identity is returned.
 * Throws what `settle` throws.
 */
export async function ensureNoStrayLog(
  engine: VerificationContext,
  row: RecordedRow,
  path: string,
): Promise<string | null> {
  if (row.file?.unsettled === true) return engine.readers.settle(path);
  // While an operation is under way, or was broken off, the log may be that of its process.
  if ((row.pending ?? null) !== null) return null;
  const { id, tenant = '' } = row;
  await moveLogsToOrphans(engine, { id, tenant }, relative(engine.config.dataFolder, path));
  return null;
}

/**
 * Makes sure that the file at `path` is the one the row recorded, whatever its structure. A file whose stat is as
 * recorded is trusted at once; any other is hashed and checked in full, and compared (see `isRecorded`), once for as
 * long as its stat stays the same. Returns what is known of the bytes; null when nothing was recorded. Throws
 * `missing_file` or `corrupt`.
 */
async function verifyFiled(
  engine: VerificationContext,
  row: RecordedRow,
  path: string,
): Promise<FileFingerprint | null> {
  const stamp = requireFile(row, path);
  const recorded = row.file;
  if (recorded === null || sameStamp(stamp, recorded)) return recorded;
  const found = await checkOnce(engine, path, stamp);
  if (matchesRecord(recorded, stamp, found)) return found;
  const damaged = found.quickCheck === 'ok' ? null : `its structure is damaged: ${found.quickCheck}`;
  throw corruptFileError(row, damaged ?? 'it is not the file that was filed');
}

/**
 * Makes sure that the file at `path` is the one the row recorded, for whoever only reads it: one of a damaged structure
 * may be read as far as it can be. Returns what is known of its bytes. Throws `missing_file`, `corrupt`, and `conflict`
 * while a log of its own waits to be taken up.
 */
export async function verifyForReading(
  engine: VerificationContext,
  row: RecordedRow,
  path: string,
): Promise<Partial<FileFingerprint> | null> {
  if (row.file?.unsettled === true) {
    if ((row.faultReason ?? null) !== null) throw corruptFileError(row, row.faultReason ?? '');
    throw new WinterdockError('conflict', `The file of "${row.id}" has a log that could not be taken up yet.`, {
      hint: 'Resume it: that tries it again.',
      retryAfterSeconds: 5,
    });
  }
  await ensureNoStrayLog(engine, row, path);
  return verifyFiled(engine, row, path);
}

/**
 * Makes sure that the file at `path` is the one the row recorded, alone and sound, for whoever opens or moves it.
 * `force` accepts other bytes as long as the structure is sound. Returns what is known of the bytes. Throws
 * `missing_file` or `corrupt`, and what `settle` throws of one that was not recovered yet.
 */
export async function verifyForOpening(
  engine: VerificationContext,
  row: RecordedRow,
  path: string,
  force: boolean,
): Promise<Partial<FileFingerprint> | null> {
  requireFile(row, path);
  const recorded = row.file;
  const identity = await ensureNoStrayLog(engine, row, path);
  if (recorded?.unsettled === true) {
    const same = stampOf(path)?.inode === recorded.inode || (identity !== null && identity === recorded.identity);
    if (!same && !force) throw corruptFileError(row, 'it is not the file that was filed');
    return { identity };
  }
  const asRecorded = recorded !== null && sameStamp(requireFile(row, path), recorded);
  const known =
    (force && !asRecorded) || recorded === null
      ? await engine.readers.check(path, { urgent: true })
      : await verifyFiled(engine, row, path);
  const complaint = known?.quickCheck ?? null;
  if (complaint !== null && complaint !== 'ok' && !(force && asRecorded)) {
    throw corruptFileError(row, `its structure is damaged: ${complaint}`);
  }
  // Force takes a repaired file, or a copy without a mark; never what is known to be another sandbox's.
  const [own, found] = [recorded?.identity ?? null, known?.identity ?? null];
  if (own !== null && found !== null && own !== found) throw corruptFileError(row, 'it is the file of another sandbox');
  return known;
}

/**
 * Makes sure that the file of a snapshot or a blueprint at `path` has the bytes that a row which is to be made from it
 * recorded: hashed once for as long as its stat stays the same, in this process. Throws `missing_file` or `corrupt`.
 */
export async function verifySharedCopy(engine: VerificationContext, row: RecordedRow, path: string): Promise<void> {
  const stamp = requireFile(row, path);
  const { sha256 } = await checkOnce(engine, path, stamp);
  if (!mayBeSameBytes(row.file, sha256))
    throw corruptFileError(row, 'what it is made from has not the bytes that were kept');
}

/** `ensureTrusted` for whoever moves a file at rest without opening it: by force it moves as it is, but alone. */
export async function verifyForMoving(
  engine: VerificationContext,
  row: RecordedRow,
  path: string,
  force: boolean,
): Promise<Partial<FileFingerprint> | null> {
  if (!force) return verifyForOpening(engine, row, path, false);
  await ensureNoStrayLog(engine, row, path);
  return null;
}

function requireFile(row: RecordedRow, path: string): FileStamp {
  const stamp = stampOf(path);
  if (stamp !== null) return stamp;
  throw new WinterdockError('missing_file', `The file of "${row.id}" is not where its row says.`, {
    hint: waysOut('missing'),
  });
}

/**
 * Makes sure that the archived file at `path` is the one that was packed. One whose stat is as recorded is proved by
 * the checksum of its own compression as it expands; any other is expanded to nowhere first, and compared by its hash.
 * Of a record without one, size and modification time must be as they were. `force` leaves it to the checksum. Returns
 * what is known of what it expands to. Throws `missing_file` or `corrupt`.
 */
export async function verifyArchived(
  engine: Pick<Engine, 'readers'>,
  row: RecordedRow,
  path: string,
  force: boolean,
): Promise<Partial<FileFingerprint> | null> {
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
  if (quickCheck !== 'ok') throw corruptFileError(row, quickCheck);
  const same =
    recorded.sha256 === null
      ? recorded.size === stamp.size && recorded.mtimeNs === stamp.mtimeNs
      : recorded.sha256 === sha256;
  if (!same) throw corruptFileError(row, 'it is not the file that was archived');
  return { sha256, identity: recorded.identity };
}

/** The refusal of a file that is not the one that was filed, or is damaged. */
export function corruptFileError(row: Pick<InstanceRow, 'id'>, why: string): WinterdockError {
  return new WinterdockError('corrupt', `The file of "${row.id}" was refused: ${why.slice(0, 300)}.`, {
    hint: waysOut('corrupt'),
  });
}
