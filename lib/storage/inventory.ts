/** The files in the drawers, by name alone, for comparing them with the registry. Opens no file and changes nothing. */
import { opendirSync } from 'node:fs';
import { join } from 'node:path';
import { DRAWER_KINDS, type DrawerKind, type Drawers } from './drawer.ts';
import { isCode, stampOf } from './files.ts';
import { namePages } from './folder.ts';

export interface KeptFile {
  drawer: 'live' | DrawerKind;
  /** An instance's id, or the hash of a copy's bytes. */
  key: string;
  /** The address, as a row shows it. */
  path: string;
}

/**
 * Every file of a sandbox or of a copy: of the live drawer, a folder of `dataFolder` (absolute), and of `drawers`. A
 * page at a time, in no order.
 */
export async function* keptFiles(dataFolder: string, drawers: Drawers): AsyncGenerator<readonly KeptFile[]> {
  const live = join(dataFolder, 'live');
  for await (const ids of namePages(live, (id) => stampOf(join(live, id, 'vfs.sqlite')) !== null)) {
    yield ids.map((key) => ({ drawer: 'live', key, path: `live/${key}/vfs.sqlite` }));
  }
  for (const drawer of DRAWER_KINDS) {
    for await (const keys of drawers[drawer].keyPages()) {
      yield keys.map((key) => ({ drawer, key, path: drawers[drawer].at(key).address }));
    }
  }
}

/** True for the file of a copy, false for one of a sandbox. */
export function isOfCopy<File extends KeptFile>(file: File): file is File & { drawer: 'snapshot' | 'blueprint' } {
  return file.drawer === 'snapshot' || file.drawer === 'blueprint';
}

/** The names in a local folder, in no order; none when there is no such folder. */
export function* namesIn(folder: string): Generator<string> {
  let opened: ReturnType<typeof opendirSync>;
  try {
    opened = opendirSync(folder);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return;
    throw error;
  }
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) yield entry.name;
  } finally {
    opened.closeSync();
  }
}
