/**
 * Whose a place of backups is. The first backup there leaves a mark with the id of the installation, and with the epoch
 * of its ledger, which grows with each restore: of two servers with one id the older one no longer writes. Who has no
 * mark where backups were made looks at something else, as at the empty folder below a disk that is not mounted.
 */
import { z } from 'zod';
import { WinterdockError } from '../base/errors.ts';
import type { BackupPlace } from './place.ts';
import { manifestsIn } from './store.ts';

const MARK = 'winterdock.json';
const KIND = 'winterdock-backups/1';

const markSchema = z.object({
  kind: z.literal(KIND),
  installation: z.string().min(1).max(100),
  epoch: z.int().min(0),
});

/** Who asks for a place. */
export interface PlaceOwner {
  /** Random id of the installation, which its registry keeps. */
  installation: string;
  /** Of its ledger. */
  epoch: number;
  /** Names whose signatures count as its own. */
  trusted: readonly string[];
  /** The registry knows of backups in this place. */
  isUsed: boolean;
}

/**
 * Makes the place the owner's, unless it is. Throws `conflict` for that of another installation or of a later restore
 * of this one, and `storage_unavailable` for one that has lost its mark.
 */
export async function claimPlace(place: BackupPlace, owner: PlaceOwner): Promise<void> {
  const mark = await readMark(place);
  if (mark === null) await requireUnmarked(place, owner);
  else {
    requireOwnMark(place, mark, owner);
    if (mark.epoch === owner.epoch) return;
  }
  const { installation, epoch } = owner;
  await place.write(MARK, `${JSON.stringify({ kind: KIND, installation, epoch })}\n`);
}

/**
 * Makes sure that the place is still the owner's: of two that claimed an unmarked one at once the later mark counts.
 * Throws `conflict` and `storage_unavailable` as `claimPlace`.
 */
export async function requireClaim(place: BackupPlace, owner: PlaceOwner): Promise<void> {
  const mark = await readMark(place);
  if (mark === null) throw lostMark(place);
  requireOwnMark(place, mark, owner);
}

function requireOwnMark(place: BackupPlace, mark: z.infer<typeof markSchema>, owner: PlaceOwner): void {
  if (mark.installation !== owner.installation) throw foreign(place, 'its mark is that of another');
  if (mark.epoch <= owner.epoch) return;
  throw new WinterdockError('conflict', `${place.name} is used by a later restore of this installation.`, {
    hint: 'Choose another place for the backups of this server.',
  });
}

async function readMark(place: BackupPlace): Promise<z.infer<typeof markSchema> | null> {
  const text = await place.read(MARK);
  if (text === null) return null;
  try {
    return markSchema.parse(JSON.parse(text.toString()));
  } catch (error) {
    throw new WinterdockError('conflict', `${place.name} has a ${MARK} that is no mark of backups.`, {
      hint: 'Choose another place, or remove that file if it is known to be damaged.',
      cause: error,
    });
  }
}

async function requireUnmarked(place: BackupPlace, { trusted, isUsed }: PlaceOwner): Promise<void> {
  const { manifests, damaged } = await manifestsIn(place);
  const own = manifests.some(({ issuer }) => trusted.includes(issuer));
  if (isUsed && !own) throw lostMark(place);
  if (!own && manifests.length + damaged.length > 0) throw foreign(place, 'others have signed what is there');
}

function lostMark({ name }: BackupPlace): WinterdockError {
  return new WinterdockError('storage_unavailable', `${name} is not where backups were made: no mark is there.`, {
    hint: 'Is its disk mounted? If the backups are gone for good, name another place.',
    retryAfterSeconds: 60,
  });
}

function foreign({ name }: BackupPlace, why: string): WinterdockError {
  return new WinterdockError('conflict', `${name} has the backups of another installation: ${why}.`, {
    hint: 'Choose another place. A backup of another installation is restored by `npm run restore`.',
  });
}
