/**
 * The bundled code of workers, readers and bundle processes (made by scripts/worker-bundle.ts): where it lies, and
 * whether it was made of the sources that are here. Without a current bundle the processes load the sources.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Parent of the bundles, below the root of the repository or of the installed folder: one folder a version. */
export const BUNDLES = 'dist/workers';
/** In it, names the newest bundle and what it was made of. */
export const BUNDLE_LIST = 'newest.json';

/** Hashes by path from the root. */
type Hashes = Record<string, string>;

export interface BundleList {
  /** Name of the bundle's folder. */
  folder: string;
  sources: Hashes;
  /** What else decides its content; an installed folder has no need of it. */
  tools: Hashes;
}

/** The hash by which a source (an absolute path) is recognised. */
export function sourceHash(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/**
 * The folder of a bundle that was made of the sources as they are, from the root; null when there is none. `tools`:
 * what made it must be unchanged as well.
 */
export function currentBundle({ tools = false, root = ROOT } = {}): string | null {
  const areUnchanged = (hashes: Hashes) =>
    Object.entries(hashes).every(([path, hash]) => sourceHash(join(root, path)) === hash);
  try {
    const list = JSON.parse(readFileSync(join(root, BUNDLES, BUNDLE_LIST), 'utf8')) as BundleList;
    return areUnchanged(list.sources) && (!tools || areUnchanged(list.tools)) ? join(BUNDLES, list.folder) : null;
  } catch {
    // There is no bundle, or a source is gone.
    return null;
  }
}

let bundle: string | null | undefined;

/**
 * The file to start a process with: the bundled entry, or `source` (an absolute path) without a current bundle or when
 * it was deleted. Which bundle is decided at the first call: a server never runs the bundle of a later version.
 */
export function entryOf(name: 'worker' | 'reader' | 'bundle' | 'base' | 'native', source: string): string {
  if (bundle === undefined) bundle = currentBundle();
  const entry = bundle === null ? source : join(ROOT, bundle, `${name}.cjs`);
  return existsSync(entry) ? entry : source;
}
