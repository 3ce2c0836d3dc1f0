/** Finds folders of the data folder that another user owns and has closed to this one. Changes nothing. */
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';

const FOLDERS = ['', 'live', 'cold', 'archive', 'snapshots', 'blueprints', 'bundles', 'expanded', 'orphans'];
/** Folders of sandboxes that are looked at; what is found in some is in the others too. */
const SANDBOXES = 1000;

/**
 * A sentence for each folder (absolute) of another user in which this one can file nothing, with the command that mends
 * it. What is only missing, or on a disk that does not answer, is left out.
 */
export function foreignFolders(dataFolder: string): string[] {
  const own = process.getuid?.() ?? 0;
  if (own === 0) return [];
  const paths = FOLDERS.map((name) => join(dataFolder, name));
  for (const name of namesIn(join(dataFolder, 'live')).slice(0, SANDBOXES)) paths.push(join(dataFolder, 'live', name));
  const username = nameOf(own);
  return paths.flatMap((path) => {
    const owner = ownerOf(path);
    if (owner === null || owner === own || isOpen(path)) return [];
    const whose = owner === 0 ? 'root' : `the user with the id ${owner}`;
    return `${path} belongs to ${whose}, and ${username} can file nothing there. To mend it: chown -R ${username} ${path}`;
  });
}

/** One without an entry among the system's users is named by its id. */
function nameOf(user: number): string {
  try {
    return userInfo().username;
  } catch {
    return String(user);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // It is not there, or is one of those that are found.
    return [];
  }
}

function ownerOf(path: string): number | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isDirectory() ? found.uid : null;
  } catch {
    // Above it lies one that is found.
    return null;
  }
}

function isOpen(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
