/**
 * Verification of files at rest: whether a file is the one that was filed. Decides; repairs nothing, and moves nothing
 * but stray logs.
 */
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import { waysOut } from '../../lifecycle/ways-out.ts';
import type { FileRecord, InstanceRow } from '../../registry/types.ts';
import type { RestingFile } from '../../storage/drawer.ts';
import { type FileStamp, sameInode, sameStamp, stampFrom } from '../../storage/stamp.ts';
import { type Engine, livePath } from '../engine.ts';
import { settleAt } from '../recovery/settle-file.ts';
import { moveLogsToOrphans } from './file-locations.ts';

/** What is known of the bytes of a file, whatever its stat. */
export type FileFingerprint = Pick<FileRecord, 'sha256' | 'quickCheck' | 'identity'>;

/** The record of a file that was just filed. */
export function fileRecord(stamp: FileStamp, known: Partial<FileFingerprint> | null = null): FileRecord {
  const { sha256 = null, quickCheck = null, identity = null } = known ?? {};
  return { ...stamp, sha256, quickCheck, identity };
}

/** Whether the bytes that were read may be those that were filed: yes, unless both hashes are known and differ. */
export function mayBeSameBytes(known: Partial<FileFingerprint> | null, sha256: string | null): boolean {
  const filed = known?.sha256 ?? null;
  return filed === null || sha256 === null || filed === sha256;
}

/**
 * Whether a file that was hashed and checked in full is the recorded one: by its hash when that is recorded, else by
 * its mark and its size. When neither is recorded, size and modification time must be the same.
 */
export function matchesRecord(recorded: FileRecord, stamp: FileStamp, found: FileFingerprint): boolean {
  if (recorded.sha256 !== null) return recorded.sha256 === found.sha256;
  if (recorded.size !== stamp.size) return false;
  const identity = recorded.identity ?? null;
  return identity === null ? sameTime(recorded, stamp) : identity === found.identity;
}

/**
 * Whether a file without a recorded hash was written to since it was filed, as far as size and times tell: then nothing
 * says which bytes were filed.
 */
export function isWrittenSince(recorded: FileRecord, stamp: FileStamp): boolean {
  return !sameStamp(stamp, recorded) && !(recorded.size === stamp.size && sameTime(recorded, stamp));
}

/** Whether two stamps are of local files that were last written at the same moment. */
function sameTime(a: FileStamp, b: FileStamp): boolean {
  return a.mtimeNs !== '' && a.mtimeNs === b.mtimeNs;
}

/** The parts of the engine that verification needs. */
export type VerificationContext = Pick<Engine, 'readers' | 'clock' | 'registry'> & {
  config: Pick<Engine['config'], 'dataFolder' | 'maxSandboxBytes'>;
};
type RecordedRow = Pick<InstanceRow, 'id' | 'file'> & Partial<Pick<InstanceRow, 'tenant' | 'pending' | 'faultReason'>>;

/**
 * Results of full checks of files whose stat was not as recorded, by address, with the stamp that they hold for. Kept
 * in this process only.
 */
interface Checked {
  stamp: FileStamp;
  found: Promise<FileFingerprint>;
}
const CHECKED_MAX = 10_000;
const checked = new WeakMap<VerificationContext['readers'], Map<string, Checked>>();

/** Hashes and checks a file in full, once while its stat stays the same. Throws what `check` throws. */
function checkOnce({ readers }: VerificationContext, file: RestingFile, stamp: FileStamp): Promise<FileFingerprint> {
  const known = checked.get(readers) ?? new Map<string, Checked>();
  checked.set(readers, known);
  const last = known.get(file.address);
  if (last !== undefined && sameStamp(last.stamp, stamp)) return last.found;
  const found = file.read((path) => readers.check(path, { urgent: true }));
  const entry = { stamp, found };
  known.delete(file.address);
  known.set(file.address, entry);
  found.catch(() => {
    if (known.get(file.address) === entry) known.delete(file.address);
  });
  for (const oldest of known.keys()) {
    if (known.size <= CHECKED_MAX) break;
    known.delete(oldest);
  }
  return found;
}

/**
 * Whether a file was not there when its process had ended, a disk that was away for example, and is there now: nothing
 * of it was recorded, and its log has what the process committed.
 */
function wentAwayAwake({ id, file }: RecordedRow, { address }: RestingFile): boolean {
  return file === null && address === livePath(id);
}

/**
 * Makes sure that no stray log lies beside a file at rest, because SQLite would apply it: moves it to `orphans/`. The
 * log of a file that could not be recovered, or was away, is not stray: it is recovered, and the mark of the file is
 * returned. Throws
 * what `settle` throws.
 */
export async function ensureNoStrayLog(
  engine: VerificationContext,
  row: RecordedRow,
  file: RestingFile,
): Promise<string | null> {
  if (row.file?.unsettled === true || wentAwayAwake(row, file)) return settleAt(engine, { tenant: '', ...row }, file);
  // While an operation is under way, or was interrupted, the log may belong to its process.
  if ((row.pending ?? null) !== null) return null;
  const { id, tenant = '' } = row;
  await moveLogsToOrphans(engine, { id, tenant }, file);
  return null;
}

/**
 * Verifies that `file` is the one that the row recorded, whatever its structure. An unchanged stat is
 * trusted at once; otherwise the file is hashed and checked in full, once while its stat stays the same. Returns what
 * is known of the bytes; null when nothing was recorded. Throws `missing_file` or `corrupt`.
 */
async function verifyFiled(
  engine: VerificationContext,
  row: RecordedRow,
  file: RestingFile,
): Promise<FileFingerprint | null> {
  const stamp = await requireFile(row, file);
  const recorded = row.file;
  if (recorded === null || sameStamp(stamp, recorded)) return recorded;
  const found = await checkOnce(engine, file, stamp);
  if (matchesRecord(recorded, stamp, found)) return found;
  const damaged = found.quickCheck === 'ok' ? null : `its structure is damaged: ${found.quickCheck}`;
  throw corruptFileError(row, damaged ?? 'it is not the file that was filed');
}

/**
 * Verifies a file that is only read: a file with a damaged structure may be read as far as possible. Returns what is
 * known of its bytes. Throws `missing_file`, `corrupt`, `conflict` while a log of its own waits to be recovered, and
 * `storage_unavailable` while an interrupted operation waits to be settled.
 */
export async function verifyForReading(
  engine: VerificationContext,
  row: RecordedRow,
  file: RestingFile,
): Promise<Partial<FileFingerprint> | null> {
  if (row.file?.unsettled === true) {
    if ((row.faultReason ?? null) !== null) throw corruptFileError(row, row.faultReason ?? '');
    throw new WinterdockError('conflict', `The file of "${row.id}" has a log that could not be taken up yet.`, {
      hint: 'Resume it: that tries it again.',
      retryAfterSeconds: 5,
    });
  }
  await ensureNoStrayLog(engine, row, file);
  try {
    return await verifyFiled(engine, row, file);
  } catch (error) {
    // The process of an interrupted operation may have written to it, and the disk refused the record of that.
    const isInterrupted = (row.pending ?? null) !== null && isWinterdockError(error) && error.code === 'corrupt';
    if (!isInterrupted) throw error;
    throw new WinterdockError(
      'storage_unavailable',
      `An operation on "${row.id}" was interrupted and is not settled yet.`,
      {
        hint: 'Settling is tried again by itself. Try again in a moment.',
        retryAfterSeconds: 5,
        cause: error,
      },
    );
  }
}

/**
 * Verifies a file that is opened or moved: the recorded one, sound, without a stray log. `force` accepts other bytes
 * with a sound structure. Returns what is known of the bytes. Throws `missing_file` or `corrupt`, and what `settle`
 * throws of a file that was not recovered yet.
 */
export async function verifyForOpening(
  engine: VerificationContext,
  row: RecordedRow,
  file: RestingFile,
  force: boolean,
): Promise<Partial<FileFingerprint> | null> {
  await requireFile(row, file);
  const recorded = row.file;
  const identity = await ensureNoStrayLog(engine, row, file);
  if (recorded?.unsettled === true) {
    const stamp = await stampAt(file);
    const same =
      (stamp !== null && sameInode(stamp, recorded)) || (identity !== null && identity === recorded.identity);
    if (!same && !force) throw corruptFileError(row, 'it is not the file that was filed');
    return { identity };
  }
  const asRecorded = recorded !== null && sameStamp(await requireFile(row, file), recorded);
  // An unchanged stat is trusted at once.
  const known = asRecorded ? recorded : await readForOpening(engine, row, file, force);
  const complaint = known?.quickCheck ?? null;
  if (complaint !== null && complaint !== 'ok' && !(force && asRecorded)) {
    throw corruptFileError(row, `its structure is damaged: ${complaint}`);
  }
  // Force accepts a repaired file and a copy without a mark, but never the file of another sandbox.
  const [own, found] = [recorded?.identity ?? null, known?.identity ?? null];
  if (own !== null && found !== null && own !== found) throw corruptFileError(row, 'it is the file of another sandbox');
  return known;
}

/** What is known of the bytes of a file that is not as recorded, or was not recorded. Throws as `verifyFiled`. */
function readForOpening(
  engine: VerificationContext,
  row: RecordedRow,
  file: RestingFile,
  force: boolean,
): Promise<FileFingerprint | null> {
  if (!force && row.file !== null) return verifyFiled(engine, row, file);
  return file.read((path) => engine.readers.check(path, { urgent: true }));
}

/**
 * Verifies that the file of a snapshot or a blueprint has the bytes that the row of its clone recorded:
 * hashed once while its stat stays the same, in this process. Throws `missing_file` or `corrupt`.
 */
export async function verifySharedCopy(
  engine: VerificationContext & Pick<Engine, 'host'>,
  row: RecordedRow,
  file: RestingFile,
): Promise<void> {
  const found = await stampAt(file);
  if (found === null && !engine.host.isAlone) throw notStoredYet(`what "${row.id}" is made from`);
  const stamp = found ?? (await requireFile(row, file));
  const { sha256 } = await checkOnce(engine, file, stamp);
  if (!mayBeSameBytes(row.file, sha256))
    throw corruptFileError(row, 'what it is made from has not the bytes that were kept');
}

/** Verifies a file that is moved without being opened: by force it moves as it is, but without a stray log. */
export async function verifyForMoving(
  engine: VerificationContext,
  row: RecordedRow,
  file: RestingFile,
  force: boolean,
): Promise<Partial<FileFingerprint> | null> {
  if (!force) return verifyForOpening(engine, row, file, false);
  await ensureNoStrayLog(engine, row, file);
  return null;
}

/** The stamp of a file at rest, or null when there is none. */
export async function stampAt(file: RestingFile): Promise<FileStamp | null> {
  const stat = await file.stat();
  return stat === null ? null : stampFrom(stat);
}

/** The copy that is neither here nor in the store: the host that made it has it, and uploads it. */
export function notStoredYet(what: string): WinterdockError {
  return new WinterdockError('storage_unavailable', `The file of ${what} is not in the object store yet.`, {
    hint: 'The host that made it uploads it. Try again.',
    retryAfterSeconds: 5,
  });
}

async function requireFile(row: RecordedRow, file: RestingFile): Promise<FileStamp> {
  const stamp = await stampAt(file);
  if (stamp !== null) return stamp;
  throw new WinterdockError('missing_file', `The file of "${row.id}" is not where its row says.`, {
    hint: waysOut('missing'),
  });
}

/**
 * Verifies that the archived `file` is the one that was packed. With an unchanged stat, the checksum of the
 * compression proves it as the file expands; otherwise the file is expanded to nowhere first and its hash compared.
 * When no hash is recorded, size and modification time must be the same. `force` leaves it to the checksum. Returns
 * what is known of the expanded bytes. Throws `missing_file` or `corrupt`.
 */
export async function verifyArchived(
  engine: Pick<Engine, 'readers'>,
  row: RecordedRow,
  file: RestingFile,
  force: boolean,
): Promise<Partial<FileFingerprint> | null> {
  const stamp = await stampAt(file);
  if (stamp === null) {
    throw new WinterdockError('missing_file', `The archived file of "${row.id}" is not where its row says.`, {
      hint: waysOut('missing'),
    });
  }
  const recorded = row.file;
  if (recorded !== null && sameStamp(stamp, recorded)) return recorded;
  if (force || recorded === null) return null;
  const { sha256, quickCheck } = await file.read((path) => engine.readers.check(path, { urgent: true, packed: true }));
  if (quickCheck !== 'ok') throw corruptFileError(row, quickCheck);
  const same =
    recorded.sha256 === null ? recorded.size === stamp.size && sameTime(recorded, stamp) : recorded.sha256 === sha256;
  if (!same) throw corruptFileError(row, 'it is not the file that was archived');
  return { sha256, identity: recorded.identity };
}

/** The refusal of a file that is damaged, or not the one that was filed. */
export function corruptFileError(row: Pick<InstanceRow, 'id'>, why: string): WinterdockError {
  return new WinterdockError('corrupt', `The file of "${row.id}" was refused: ${why.slice(0, 300)}.`, {
    hint: waysOut('corrupt'),
  });
}
