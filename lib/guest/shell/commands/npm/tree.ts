/**
 * Where packages go: as high as nobody minds, as npm's folders are. What is looked for is found by walking up, so a
 * package lies beside who needs it only where another version stands in the way. Knows no files.
 */
import { satisfies, validRange } from 'semver';
import { PackageError } from '../package-source.ts';
import type { Dependencies, PackageManifest } from './registry.ts';

const MOST_PACKAGES = 2000;

/** A package that is there, or is to be. */
export type PlacedPackage = Pick<PackageManifest, 'name' | 'version' | 'dependencies' | 'optionalDependencies'>;

export interface TreeSources {
  /** The package in a folder, such as `node_modules/a/node_modules/b`; null for none. */
  present(folder: string): Promise<PlacedPackage | null>;
  /** The version that is wanted. Throws `PackageError`. */
  manifest(name: string, wanted: string): Promise<PackageManifest>;
  /** Told of what is left out, with the reason. */
  skipped(name: string, why: string): void;
}

export interface Wanted {
  name: string;
  /** A range, a tag, or nothing. */
  version: string;
  /** What is there is looked at anew. */
  isAsked: boolean;
}

interface Job extends Wanted {
  /** The folder of who needs it; empty for the project. */
  by: string;
  isOptional: boolean;
}

/** The folders in which `name` is looked for from a package, the nearest first. */
function lookups(by: string, name: string): string[] {
  const folders: string[] = [];
  for (let at = by; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    folders.push(`${at}/node_modules/${name}`);
  }
  return [...folders, `node_modules/${name}`];
}

/** Whether a version is what somebody wants. A tag is only known by the registry. */
function suits(version: string, wanted: string): boolean {
  return wanted === '' || (validRange(wanted) !== null && satisfies(version, wanted));
}

/** Chooses what is to be installed where. Returns new packages by folder. Throws `PackageError`. */
export async function planTree(wanted: readonly Wanted[], sources: TreeSources): Promise<Map<string, PackageManifest>> {
  const planned = new Map<string, PackageManifest>();
  const seen = new Set<string>();
  const queue: Job[] = wanted.map((one) => ({ ...one, by: '', isOptional: false }));
  const isReplaced = new Set<string>();
  const at = async (folder: string): Promise<PlacedPackage | null> =>
    planned.get(folder) ?? (isReplaced.has(folder) ? null : sources.present(folder));
  for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
    const { name, version, by, isOptional, isAsked } = job;
    let place: string | null = null;
    let there: PlacedPackage | null = null;
    for (const folder of lookups(by, name)) {
      there = await at(folder);
      if (there === null) continue;
      place = folder;
      break;
    }
    const stays = there !== null && !(isAsked && !planned.has(place ?? '')) && suits(there.version, version);
    if (!stays) {
      const manifest = await chosen(sources, name, version, isOptional);
      if (manifest === null) continue;
      const isSame = there !== null && there.version === manifest.version;
      if (!isSame) {
        place = place === null || by === '' ? `node_modules/${name}` : `${by}/node_modules/${name}`;
        isReplaced.add(place);
        planned.set(place, manifest);
        there = manifest;
        if (planned.size > MOST_PACKAGES)
          throw new PackageError(`more than ${MOST_PACKAGES} packages would be installed`);
      }
    }
    if (there === null || place === null || seen.has(place)) continue;
    seen.add(place);
    const more = (dependencies: Dependencies, optional: boolean) => {
      for (const [next, range] of Object.entries(dependencies))
        queue.push({ name: next, version: range, by: place ?? '', isOptional: optional, isAsked: false });
    };
    more(there.dependencies, false);
    more(there.optionalDependencies, true);
  }
  return planned;
}

async function chosen(
  sources: TreeSources,
  name: string,
  version: string,
  isOptional: boolean,
): Promise<PackageManifest | null> {
  try {
    const manifest = await sources.manifest(name, version);
    if (!manifest.hasInstallScript) return manifest;
    throw new PackageError(
      `${name}@${manifest.version} has a script that installs it, and scripts of packages are not run`,
    );
  } catch (error) {
    if (!isOptional || !(error instanceof PackageError)) throw error;
    sources.skipped(name, error.message);
    return null;
  }
}

/** The folders that are reached from what a project needs. */
export async function reachablePackages(
  wanted: readonly string[],
  present: TreeSources['present'],
): Promise<Set<string>> {
  const reached = new Set<string>();
  const queue = wanted.map((name) => ({ name, by: '' }));
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    for (const folder of lookups(next.by, next.name)) {
      const found = await present(folder);
      if (found === null) continue;
      if (!reached.has(folder)) {
        reached.add(folder);
        const needs = { ...found.dependencies, ...found.optionalDependencies };
        for (const name of Object.keys(needs)) queue.push({ name, by: folder });
      }
      break;
    }
  }
  return reached;
}
