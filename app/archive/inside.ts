/** What is inside an archived sandbox, for a row of the support desk. It wakes nothing. */
import { sizeInWords } from '#components/ui/durations.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo, READS } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';

export interface Inside {
  /** `workspace 6 files (1.2 MB), memory 1 file (31 B)` */
  volumes: string;
  /** Names of some files of its workspace. */
  files: readonly string[];
}

const FILES_SHOWN = 4;

/** Null for a caller who may not see it, and for a file that cannot be read now. */
export async function readInside(caller: Caller, { id, tenant }: Instance): Promise<Inside | null> {
  if (!mayDo(caller, 'volumes', { tenant })) return null;
  const { operations } = getHost();
  try {
    const found = (await operations.volumes(caller, id)).filter(({ files }) => files > 0);
    const volumes = found.map(
      ({ volume, files, bytes }) =>
        `${volume} ${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'} (${sizeInWords(bytes)})`,
    );
    const hasWork = found.some(({ volume }) => volume === 'workspace') && READS[caller.role].includes('workspace');
    const work = hasWork ? await operations.files(caller, id, 'workspace', { limit: FILES_SHOWN + 1 }) : null;
    const names = (work?.items ?? []).map(({ path }) => path.replace(/^\//, ''));
    return {
      volumes: volumes.length === 0 ? 'nothing' : volumes.join(', '),
      files: names.length > FILES_SHOWN ? [...names.slice(0, FILES_SHOWN), '…'] : names,
    };
  } catch {
    // The row says where its file is; its page says what is wrong with it.
    return null;
  }
}
