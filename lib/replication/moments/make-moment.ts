/** Makes the file of a moment of a replica, at rest, and says whose could not be made. */
import { isWinterdockError, messageOf, WinterdockError } from '../../base/errors.ts';
import { isCode } from '../../storage/files.ts';
import type { FoundMoment, MomentFile } from './replica-reader.ts';
import { restoreSound } from './restore-sound.ts';

export interface MomentTarget extends Pick<MomentFile, 'durable' | 'signal'> {
  /** Absolute; it is not there yet. */
  target: string;
  /** Whose it is, as a sentence begins with it. */
  whose: string;
  /** What to do when it cannot be made. */
  hint: string;
}

/** As `restoreSound`. Throws `corrupt` with whose it is, `storage_unavailable`. */
export async function makeMoment(
  store: Parameters<typeof restoreSound>[0],
  by: Parameters<typeof restoreSound>[1],
  found: FoundMoment,
  { target, whose, hint, ...how }: MomentTarget,
): ReturnType<typeof restoreSound> {
  try {
    return await restoreSound(store, by, found, { ...how, target, tmp: `${target}.segments`, atRest: true });
  } catch (error) {
    const isDamage = isWinterdockError(error) && (error.code === 'corrupt' || error.code === 'missing_file');
    if (!isDamage && !isCode(error, 'ENOENT')) throw error;
    const at = new Date(found.timeMs).toISOString();
    throw new WinterdockError('corrupt', `${whose} as of ${at} cannot be made from the replica: ${messageOf(error)}`, {
      hint,
      cause: error,
    });
  }
}
