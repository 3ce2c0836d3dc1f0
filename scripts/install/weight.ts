/** What an install takes on the disk, and what of it is largest. Reads folders and nothing else. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What `npm ci` may take on Linux x64, in MiB as `du -m` says it. Where it comes from:
 * docs/decisions/046-what-an-install-brings.md.
 */
export const MOST_MIB = 650;

const MIB = 2 ** 20;

/** How many of the largest are named when it is too much. */
const NAMED = 8;

interface Weight {
  /** Everything below node_modules, as `du` counts it: blocks on the disk, a file with several names once. */
  bytes: number;
  /** The same by package, the largest first; a package within a package counts to the outer one. */
  packages: [name: string, bytes: number][];
}

/** `next/dist/x` is of `next`, `@next/env/x` of `@next/env`, and `.bin/x` of `.bin`. */
const packageOf = (path: string) =>
  path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');

/**
 * Weighs a node_modules folder. What tools leave in its `.cache` while they run was not installed and is not counted.
 */
export function weigh(folder: string): Weight {
  const counted = new Set<string>();
  const packages = new Map<string, number>();
  const add = (path: string) => {
    const { blocks, dev, ino, nlink } = lstatSync(join(folder, path));
    const file = `${dev}:${ino}`;
    if (nlink > 1 && counted.has(file)) return;
    counted.add(file);
    const name = packageOf(path);
    packages.set(name, (packages.get(name) ?? 0) + blocks * 512);
  };
  const walk = (path: string) => {
    add(path);
    for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
      const below = path === '' ? entry.name : `${path}/${entry.name}`;
      if (below === '.cache') continue;
      if (entry.isDirectory()) walk(below);
      else add(below);
    }
  };
  walk('');
  const sorted = [...packages].sort(([, a], [, b]) => b - a);
  return { bytes: sorted.reduce((sum, [, bytes]) => sum + bytes, 0), packages: sorted };
}

/** One line on the weight: how much it is, and what is largest where that is more than `mostMib`. */
export function verdict({ bytes, packages }: Weight, mostMib: number): { fits: boolean; line: string } {
  const mib = Math.ceil(bytes / MIB);
  const fits = mib <= mostMib;
  const largest = packages.slice(0, NAMED).map(([name, size]) => `${name} ${Math.round(size / MIB)}`);
  return {
    fits,
    line: fits
      ? `node_modules: ${mib} MiB of at most ${mostMib}`
      : `node_modules is ${mib} MiB and may be ${mostMib}; the largest, in MiB: ${largest.join(', ')}`,
  };
}
