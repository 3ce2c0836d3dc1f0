/**
 * What lies in the drawers, by name alone: for whoever compares them with the registry. Opens nothing and changes
 * nothing.
 */
import { opendirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The drawers whose files a row names by their key: an instance's id, or the hash of a copy's bytes. */
const KEPT_IN = ['live', 'cold', 'archive', 'snapshots', 'blueprints'] as const;
type KeptIn = (typeof KEPT_IN)[number];

export interface KeptFile {
  drawer: KeptIn;
  key: string;
  /** Relative to the data folder, as a row shows it. */
  path: string;
}

const SUFFIX: Readonly<Record<KeptIn, string>> = {
  live: '',
  cold: '.sqlite',
  archive: '.sqlite.zst',
  snapshots: '.sqlite',
  blueprints: '.sqlite',
};

/**
 * Every file of a sandbox or of a copy in the drawers of a data folder (absolute), in no order. A drawer that is not
 * there has none.
 */
export function* keptFiles(dataFolder: string): Generator<KeptFile> {
  for (const drawer of KEPT_IN) {
    for (const name of namesIn(join(dataFolder, drawer))) {
      if (!name.endsWith(SUFFIX[drawer])) continue;
      const key = name.slice(0, name.length - SUFFIX[drawer].length);
      const path = drawer === 'live' ? `live/${name}/vfs.sqlite` : `${drawer}/${name}`;
      if (statSync(join(dataFolder, path), { throwIfNoEntry: false })?.isFile()) yield { drawer, key, path };
    }
  }
}

/** The names in a folder, in no order; none when there is no such folder. */
export function* namesIn(folder: string): Generator<string> {
  let opened: ReturnType<typeof opendirSync>;
  try {
    opened = opendirSync(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) yield entry.name;
  } finally {
    opened.closeSync();
  }
}
