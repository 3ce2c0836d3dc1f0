/**
 * The readiness check: whether every drawer is writable now. It writes one page into each and removes it again. Knows
 * nothing of the contents.
 */
import { join } from 'node:path';
import { unlinkFile, writeFile } from '../base/effects.ts';
import { publicMessage, WinterdockError } from '../base/errors.ts';

/** Folders of the data folder that the engine writes files into; the first is the data folder itself. */
const WRITTEN = ['', 'live', 'cold', 'archive', 'snapshots', 'blueprints', 'bundles', 'expanded', 'orphans'] as const;
const PROBE = '.probe';
/** As much as the smallest file of a sandbox needs: on a full disk an empty file can still be made. */
const PAGE = new Uint8Array(4096);

/**
 * Throws `storage_unavailable` with the names of the drawers that take no file, and the failure of the first as its
 * cause.
 */
export async function checkDrawers(dataFolder: string): Promise<void> {
  const refusals = await Promise.all(
    WRITTEN.map(async (drawer) => ({ drawer, error: await refusal(dataFolder, drawer) })),
  );
  const refused = refusals.filter(({ error }) => error !== null);
  const [first] = refused;
  if (first === undefined) return;
  const names = refused.map(({ drawer }) => (drawer === '' ? 'the data folder' : drawer));
  const drawers = refused.map(({ drawer }) => drawer).filter((drawer) => drawer !== '');
  throw new WinterdockError(
    'storage_unavailable',
    `No file can be written into ${names.join(', ')} (${publicMessage(first.error)}).`,
    {
      hint: 'Make room on the disk, or make it writable again; what lies there is untouched, and everything goes on then.',
      retryAfterSeconds: 5,
      extra: { drawers },
      cause: first.error,
    },
  );
}

async function refusal(dataFolder: string, drawer: string): Promise<unknown> {
  const path = join(dataFolder, drawer, PROBE);
  try {
    await writeFile(path, PAGE);
    await unlinkFile(path);
    return null;
  } catch (error) {
    // What was begun is removed where that is possible; the next probe replaces it where it is not.
    await unlinkFile(path).catch(() => undefined);
    return error;
  }
}
