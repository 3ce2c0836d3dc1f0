/**
 * The hash of a file as it was filed: taken at once of a small file, so that nothing changes its bytes unseen; a larger
 * one is unverified until a background check has hashed it, and nothing of it leaves before. Knows nothing of verbs.
 */
import { messageOf, WinterdockError } from '../../base/errors.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { type FileStamp, stampFrom } from '../../storage/stamp.ts';
import type { Engine } from '../engine.ts';
import { fileOf } from './file-locations.ts';
import { isWrittenSince } from './file-verification.ts';

/**
 * Largest file that is hashed while its filing waits. At the 230 MB/s of the slowest machine that was measured this
 * takes 36 ms; above it a filing costs the same whatever its file's size.
 */
export const HASHED_AT_FILING_BYTES = 8 * 1024 * 1024;

/** How fast a file is hashed when somebody asks for it, for `Retry-After`: half the slowest that was measured. */
const HASHED_BYTES_PER_SECOND = 100_000_000;
const LONGEST_RETRY_SECONDS = 60;

/**
 * The hash of a clean local file that is about to be filed; null for one that is too large, and when it cannot be read.
 * Hashed in a reader's process: the server's thread only waits.
 */
export async function hashAtFiling(
  engine: Pick<Engine, 'readers' | 'log'>,
  path: string,
  { size }: Pick<FileStamp, 'size'>,
): Promise<string | null> {
  if (size > HASHED_AT_FILING_BYTES) return null;
  try {
    return await engine.readers.hash(path);
  } catch (error) {
    // The filing stands without it: the file is unverified, and a background check reads it again.
    engine.log.warn({ error: messageOf(error) }, 'a file was filed without its hash');
    return null;
  }
}

/**
 * Throws `unverified` when the bytes of a row's file have no hash yet, and hurries the check that gives it one. The
 * caller holds the lease. A file that waits for its recovery is none of its business.
 */
export async function requireHash(engine: Engine, row: InstanceRow): Promise<void> {
  const filed = row.state === 'suspended' || row.state === 'frozen' || row.state === 'archived';
  if (!filed || row.file === null || row.file.sha256 !== null || row.file.unsettled === true) return;
  const stat = await fileOf(engine, row).stat();
  if (stat === null) return;
  const says = `The file of "${row.id}" is not verified yet: its bytes have no hash since it was filed.`;
  if (isWrittenSince(row.file, stampFrom(stat))) {
    throw new WinterdockError('unverified', says, {
      hint: 'It was written to after it was filed, or copied without its times. Resume it and look at it; suspending it then files it anew.',
    });
  }
  engine.hurryCheck(row.id, row.generation);
  const seconds = Math.ceil(stat.size / HASHED_BYTES_PER_SECOND);
  throw new WinterdockError('unverified', says, {
    hint: 'It is being hashed now. Try again.',
    retryAfterSeconds: Math.min(LONGEST_RETRY_SECONDS, Math.max(1, seconds)),
  });
}
