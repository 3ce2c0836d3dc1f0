/**
 * Brings the file of one sandbox as of a moment of the server's own replica, plain and checked, as `take` does from a
 * backup. Runs in the process of the work on backups.
 */
import { join } from 'node:path';
import type { Config } from '../base/config.ts';
import { makeFolder } from '../base/effects.ts';
import { makeMoment } from '../replication/moments/make-moment.ts';
import { noMomentUpTo } from '../replication/moments/oldest-moment.ts';
import { openToRead } from '../replication/moments/open-to-read.ts';
import { findMoment } from '../replication/moments/replica-reader.ts';
import { TenantBundles } from '../replication/segment-bundles/bundle-reader.ts';
import { type ReadersFor, soundFile } from './sound-file.ts';
import type { BackupAnswers, MomentTask } from './work.ts';

/** Throws `moment_gone` when the replica has nothing up to then, `corrupt`, `storage_unavailable`. */
export async function takeMoment(
  parts: { config: Pick<Config, 'store'>; readersFor: ReadersFor },
  { url, instance, tenant, atMs, folder, isNew }: MomentTask,
): Promise<BackupAnswers['moment']> {
  const { prompt, patient } = await openToRead({ url, connection: parts.config.store.connection });
  try {
    const found = await findMoment(prompt, instance, atMs, new TenantBundles(prompt, tenant));
    if (found === null) throw await noMomentUpTo(prompt, instance, atMs);
    await makeFolder(folder);
    const path = join(folder, 'plain.sqlite');
    const to = { target: path, whose: `"${instance}"`, hint: 'Name an earlier moment.' };
    const by = { id: instance, atMs, bundles: new TenantBundles(patient, tenant) };
    const { rebuilt, moment } = await makeMoment(patient, by, found, to);
    const taken = await soundFile(parts, { path, sha256: rebuilt.sha256 }, folder, { whose: `"${instance}"`, isNew });
    return { ...taken, timeMs: moment.timeMs };
  } finally {
    await patient.close();
  }
}
