/**
 * The readiness check: whether every drawer, and every folder that the engine writes into, takes a file now. It writes
 * one page into each and removes it again. Knows nothing of the contents.
 */
import { join } from 'node:path';
import { publicMessage, WinterdockError } from '../base/errors.ts';
import type { Drawers } from '../storage/drawer.ts';
import { probeFolder } from '../storage/folder.ts';

const DATA_FOLDER = '';

/**
 * Throws `storage_unavailable` with the names of the drawers that take no file, and the failure of the first as its
 * cause.
 */
export async function checkDrawers(dataFolder: string, drawers: Drawers): Promise<void> {
  const folder = (name: string) => ({ name, probe: () => probeFolder(join(dataFolder, name)) });
  const probes = [
    folder(DATA_FOLDER),
    folder('live'),
    { name: 'cold', probe: () => drawers.cold.probe() },
    { name: 'archive', probe: () => drawers.archive.probe() },
    { name: 'snapshots', probe: () => drawers.snapshot.probe() },
    { name: 'blueprints', probe: () => drawers.blueprint.probe() },
    folder('bundles'),
    folder('expanded'),
    folder('orphans'),
  ];
  const answers = await Promise.all(
    probes.map(({ name, probe }) =>
      probe().then(
        () => null,
        (error: unknown) => ({ name, error }),
      ),
    ),
  );
  const refused = answers.filter((answer) => answer !== null);
  const [first] = refused;
  if (first === undefined) return;
  const names = refused.map(({ name }) => (name === DATA_FOLDER ? 'the data folder' : name));
  throw new WinterdockError(
    'storage_unavailable',
    `No file can be written to ${names.join(', ')} (${publicMessage(first.error)}).`,
    {
      hint: 'Free space on the disk, or make it writable again. The files on it are untouched, and nothing has to be restarted.',
      retryAfterSeconds: 5,
      extra: { drawers: refused.map(({ name }) => name).filter((name) => name !== DATA_FOLDER) },
      cause: first.error,
    },
  );
}
