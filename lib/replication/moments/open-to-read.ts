/**
 * Opens the replica of the server that runs, to read what it has. A folder that is not there, or one that is in its
 * place, is away: it is not made, and nothing is concluded from what it lacks.
 */
import { parseStoreUrl } from '../../base/store-url.ts';
import { MARKER_NAME } from '../../storage/object-store/object-names.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { type PromptStore, promptStore } from '../../storage/object-store/prompt-store.ts';
import { storeAway } from '../../storage/object-store/store-errors.ts';
import type { ReplicaAddress } from './moment-source.ts';

/** A replica that is open to be read. */
interface ReadReplica {
  /** For who looks at what there is: it fails within seconds when the store hangs. */
  prompt: PromptStore;
  /** For who has begun to bring it. */
  patient: ObjectStore;
}

/** Throws `storage_unavailable` when it is away. */
export async function openToRead({ url, connection }: ReplicaAddress): Promise<ReadReplica> {
  const patient = await openObjectStore(url, connection, { makes: false });
  const prompt = promptStore(patient);
  try {
    // Whoever has a share or a disk mounted there has a folder of that name without it.
    const isHere = parseStoreUrl(url).driver === 'file';
    if (isHere && (await prompt.head(MARKER_NAME)) === null) throw storeAway('no_marker');
    return { prompt, patient };
  } catch (error) {
    await patient.close();
    throw error;
  }
}
