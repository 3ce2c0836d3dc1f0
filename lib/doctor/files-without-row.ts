/**
 * Finds files without a row: in the drawers, in `orphans/`, and listings of sandboxes that are not archived. The last
 * two are folders of the data folder, whatever the drawers are.
 */
import { join } from 'node:path';
import { isStaging } from '../storage/files.ts';
import { namesIn } from '../storage/inventory.ts';
import type { Examination, ExaminedRows } from './examination.ts';
import { alsoIn, orphanOf } from './findings.ts';

const LISTING = '.json';
const LOG = /-(?:wal|journal|shm)$/;

/** Examines the files without a row. All rows must have been examined before. */
export async function examineFilesWithoutRow(
  { registry, files, examined, find, config }: Examination,
  { seen, archived }: ExaminedRows,
): Promise<void> {
  const marks = (await registry?.marks()) ?? new Set<string>();
  for (const [key, kept] of files.byKey) {
    if (seen.has(key)) continue;
    const [first, ...others] = kept;
    if (first === undefined) continue;
    if (marks.has(first.path)) {
      find({
        kind: 'file.marked',
        weight: 'note',
        way: null,
        about: key,
        path: first.path,
        says: 'what was landing here got no row: the next start removes it',
      });
      continue;
    }
    examined.adoptable.push(first);
    find({
      kind: 'file.unnamed',
      weight: 'wrong',
      way: 'adopt',
      about: key,
      path: first.path,
      says: `no row names this file${alsoIn(others)}`,
    });
  }
  for (const [id, [newest, ...older]] of files.orphans) {
    if (newest === undefined || seen.has(id) || files.byKey.has(id)) continue;
    examined.adoptable.push(newest);
    find({
      kind: 'orphan.unnamed',
      weight: 'note',
      way: 'adopt',
      about: id,
      path: newest.path,
      says: `set aside ${new Date(newest.setAsideMs).toISOString()}, and no row has that id${alsoIn(older)}`,
    });
  }
  const wanted = new Set(examined.adoptable.map(({ path }) => path));
  for (const name of namesIn(join(config.dataFolder, 'orphans'))) {
    const path = `orphans/${name}`;
    if (isStaging(name)) continue;
    if (wanted.has(path) || wanted.has(path.replace(LOG, ''))) continue;
    find({
      kind: 'orphan.kept',
      weight: 'note',
      way: null,
      about: orphanOf(name.replace(LOG, ''))?.id ?? null,
      path,
      says: 'set aside earlier; nothing needs it: look at it, and remove it when you do not miss it',
    });
  }
  for (const name of namesIn(join(config.dataFolder, 'archive'))) {
    const id = name.endsWith(LISTING) ? name.slice(0, -LISTING.length) : null;
    if (id === null || archived.has(id) || files.byKey.get(id)?.some(({ drawer }) => drawer === 'archive')) continue;
    find({
      kind: 'listing.left',
      weight: 'note',
      way: null,
      about: id,
      path: `archive/${name}`,
      says: 'a listing of what is not archived: the next start removes it',
    });
  }
}
