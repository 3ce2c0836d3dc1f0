/** Makes the file of a moment of a replica, at rest, and says whose could not be made. */
import { isWinterdockError, messageOf, WinterdockError } from '../../base/errors.ts';
import { isCode } from '../../storage/files.ts';
import { noMomentUpTo } from './oldest-moment.ts';
import { type FoundMoment, findMoment, type MomentFile } from './replica-reader.ts';
import { restoreSound } from './restore-sound.ts';

export interface MomentTarget extends Pick<MomentFile, 'durable' | 'signal'> {
  /** Absolute; it is not there yet. */
  target: string;
  /** Whose it is, as a sentence begins with it. */
  whose: string;
  /** What to do when it cannot be made. */
  hint: string;
}

/**
 * As `restoreSound`; what ageing has taken away since the moment was found is found once more. Throws `corrupt` with
 * whose it is, `moment_gone` when nothing of that time is left, `storage_unavailable`.
 */
export async function makeMoment(
  store: Parameters<typeof restoreSound>[0],
  by: Parameters<typeof restoreSound>[1],
  found: FoundMoment,
  { target, whose, hint, ...how }: MomentTarget,
): ReturnType<typeof restoreSound> {
  const make = (moment: FoundMoment) =>
    restoreSound(store, by, moment, { ...how, target, tmp: `${target}.segments`, atRest: true });
  try {
    return await make(found).catch(async (error: unknown) => {
      if (!isMissing(error)) throw error;
      const left = await findMoment(store, by.id, by.atMs, by.bundles);
      if (left === null) throw await noMomentUpTo(store, by.id, by.atMs);
      return make(left);
    });
  } catch (error) {
    if (!isMissing(error) && !(isWinterdockError(error) && error.code === 'corrupt')) throw error;
    const at = new Date(found.timeMs).toISOString();
    throw new WinterdockError('corrupt', `${whose} as of ${at} cannot be made from the replica: ${messageOf(error)}`, {
      hint,
      cause: error,
    });
  }
}

function isMissing(error: unknown): boolean {
  return (isWinterdockError(error) && error.code === 'missing_file') || isCode(error, 'ENOENT');
}
