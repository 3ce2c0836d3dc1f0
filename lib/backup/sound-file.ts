/** What becomes of the file of a sandbox that was brought: it is opened and checked, and rebuilt for a new sandbox. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFile } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Readers } from '../vfs/types.ts';
import { VOLUMES } from '../vfs/volumes.ts';
import { complaintOf } from './copy-file.ts';

/** Who opens files of sandboxes, and may write to `folders` as well. */
export type ReadersFor = (folders: readonly string[]) => Promise<{ readers: Readers; stop(): Promise<void> }>;

export interface SoundFile {
  /** Absolute. */
  path: string;
  sha256: string;
  bytes: number;
}

/**
 * Checks a plain file in `folder` (absolute), whose hash is known, and puts it on disk. `isNew`: another sandbox gets
 * it, rebuilt without the identity of its source. `whose` is named in the message. Throws `corrupt`.
 */
export async function soundFile(
  { readersFor }: { readersFor: ReadersFor },
  { path, sha256 }: { path: string; sha256: string },
  folder: string,
  { whose, isNew }: { whose: string; isNew: boolean },
): Promise<SoundFile> {
  const { readers, stop } = await readersFor([folder]);
  try {
    const complaint = await complaintOf(readers, path);
    if (complaint !== null) throw new WinterdockError('corrupt', `The file of ${whose} is damaged: ${complaint}.`);
    let sound = { path, sha256 };
    if (isNew) {
      const rebuilt = join(folder, 'rebuilt.sqlite');
      const copy = await readers.copy({ path, mode: 'rest' }, rebuilt, { volumes: VOLUMES });
      sound = { path: rebuilt, sha256: copy.sha256 };
    }
    await syncFile(sound.path);
    return { ...sound, bytes: (await stat(sound.path)).size };
  } finally {
    await stop();
  }
}
