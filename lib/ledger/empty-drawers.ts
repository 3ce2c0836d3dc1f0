/**
 * Finds drawers of which a registry names files and none is there, as when a disk is not mounted, or WB_DATA leads to
 * another folder: a server that started on them would take every sandbox for lost. Looks for the files of some rows of
 * each state, and at some names in a drawer, however many there are. Changes nothing.
 */
import { join } from 'node:path';
import { COPY_KINDS } from '../base/copy-paths.ts';
import type { RegistryMoment } from '../registry/driver.ts';
import type { InstanceRow } from '../registry/types.ts';
import { fileOnDisk } from '../storage/disk.ts';
import type { DrawerKind, Drawers, RestingFile } from '../storage/drawer.ts';
import { isStaging } from '../storage/files.ts';
import { folderStatus, namePages } from '../storage/folder.ts';

/** Rows of each state, and copies of each kind, whose files are looked for. */
const LOOKED_AT = 32;

/** A drawer that has none of the files which rows name in it. */
export interface EmptyDrawer {
  /** The folder by which its files are called, such as `cold`. */
  name: string;
  /** How many of its files were looked for. */
  looked: number;
}

/** Where the files of a registry are. */
interface Places {
  /** Absolute. */
  dataFolder: string;
  drawers: Drawers;
}

interface NamedFile {
  drawer: 'live' | DrawerKind;
  file: RestingFile;
  /** Where it may be instead, after a move that was interrupted. */
  elsewhere: readonly RestingFile[];
  key: string;
  /** Its bytes at rest; null while they may have changed. */
  bytes: number | null;
}

type NamingRow = Pick<InstanceRow, 'id' | 'vfsPath' | 'file' | 'state'>;

/** The fact with the hashes of copies whose files were given up: that they are not there means nothing. */
export const LOST_COPIES = 'lost_copies';

/** The hashes in that fact, as it is stored. */
function lostCopies(stored: unknown): Set<string> {
  return new Set(Array.isArray(stored) ? stored.filter((hash) => typeof hash === 'string') : []);
}

/**
 * The drawers that have no file of those that rows name in them. `host`: whose rows are looked at; null: everybody's.
 * One file that is gone is lost, and no drawer; so is what cannot be looked at. Throws the errors of the registry.
 */
export async function findEmptyDrawers(
  places: Places,
  registry: RegistryMoment,
  host: string | null,
): Promise<EmptyDrawer[]> {
  const named = Map.groupBy(await namedFiles(places, registry, host), ({ drawer }) => drawer);
  const empty: EmptyDrawer[] = [];
  for (const [drawer, files] of named) {
    const [first] = files;
    if (first === undefined || !(await isWithoutAny(places, registry, drawer, files))) continue;
    empty.push({ name: first.file.address.slice(0, first.file.address.indexOf('/')), looked: files.length });
  }
  return empty;
}

/** What is found of a row's file: where the row says, or where an interrupted move left it. */
export async function lookForFileOf(places: Places, row: NamingRow): Promise<FoundFile> {
  const named = namedBy(places, row);
  return named === null ? 'unknown' : lookFor(named);
}

async function namedFiles(places: Places, registry: RegistryMoment, host: string | null): Promise<NamedFile[]> {
  const rows = await registry.withFiles(LOOKED_AT, host);
  const named = rows.flatMap((row) => namedBy(places, row) ?? []);
  // Copies are on the disk of the host that made them, and no row says which.
  if (host !== null) return named;
  const lost = lostCopies(await registry.fact(LOST_COPIES));
  const copies = (await registry.copies()).filter(({ hash, isStored }) => !isStored && !lost.has(hash));
  for (const kind of COPY_KINDS) {
    const some = copies.filter((copy) => copy.kind === kind).slice(-LOOKED_AT);
    for (const { hash, file } of some) {
      const kept = places.drawers[kind].at(hash);
      named.push({ drawer: kind, file: kept, elsewhere: [], key: hash, bytes: file.size });
    }
  }
  return named;
}

/** The file of a row; null for an address in no drawer of this host: the store has it, or what lies here is a copy. */
function namedBy({ dataFolder, drawers }: Places, { id, vfsPath, file, state }: NamingRow): NamedFile | null {
  const all = {
    live: fileOnDisk(dataFolder, `live/${id}/vfs.sqlite`),
    cold: drawers.cold.at(id),
    archive: drawers.archive.at(id),
  };
  const drawer = (['live', 'cold', 'archive'] as const).find((one) => all[one].address === vfsPath);
  if (drawer === undefined) return null;
  const rests = state !== 'active' && file !== null && file.unsettled !== true;
  return {
    drawer,
    file: all[drawer],
    elsewhere: Object.values(all).filter((one) => one !== all[drawer]),
    key: id,
    bytes: rests ? file.size : null,
  };
}

/** `other`: a file of another size. `unknown`: the drawer does not say. */
type FoundFile = 'there' | 'other' | 'absent' | 'unknown';

async function lookFor({ file, elsewhere, bytes }: NamedFile): Promise<FoundFile> {
  try {
    const found = await file.stat();
    if (found !== null) return bytes === null || found.size === bytes ? 'there' : 'other';
    for (const other of elsewhere) if ((await other.stat()) !== null) return 'there';
    return 'absent';
  } catch {
    // Whoever needs the file is told why it cannot be reached.
    return 'unknown';
  }
}

async function isWithoutAny(
  places: Places,
  registry: RegistryMoment,
  drawer: NamedFile['drawer'],
  files: readonly NamedFile[],
): Promise<boolean> {
  const others = new Set<string>();
  for (const file of files) {
    const found = await lookFor(file);
    if (found === 'there' || found === 'unknown') return false;
    if (found === 'other') others.add(file.key);
  }
  // One file alone may have been changed by hand.
  if (others.size > 0 && files.length === 1) return false;
  const keys = await someKeys(places, drawer);
  if (keys === null) return false;
  const strange = keys.filter((key) => !others.has(key));
  for (const key of strange) {
    const isNamed =
      drawer === 'live' || drawer === 'cold' || drawer === 'archive'
        ? await registry.hasInstance(key)
        : await registry.needsCopy(places.drawers[drawer].at(key).address, key);
    if (isNamed) return false;
  }
  return files.length > 1 || strange.length > 0 || (await isFolderMissing(places, drawer));
}

/** Some keys of what is in a drawer; null when it does not say. In the live drawer a folder is enough. */
async function someKeys(
  { dataFolder, drawers }: Places,
  drawer: NamedFile['drawer'],
): Promise<readonly string[] | null> {
  const pages =
    drawer === 'live'
      ? namePages(join(dataFolder, 'live'), (name) => !isStaging(name) && !name.startsWith('.'))
      : drawers[drawer].keyPages();
  try {
    for await (const page of pages) return page;
    return [];
  } catch {
    // Whoever needs a file of it is told why it cannot be read.
    return null;
  }
}

/** Whether a drawer on the local disk has no folder, which each start makes. */
async function isFolderMissing({ dataFolder, drawers }: Places, drawer: NamedFile['drawer']): Promise<boolean> {
  try {
    const status = drawer === 'live' ? folderStatus(join(dataFolder, 'live')) : drawers[drawer].status();
    const { writable, volume } = await status;
    return !writable && volume === null;
  } catch {
    // It is there, and cannot be used.
    return false;
  }
}
