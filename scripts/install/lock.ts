/** What package-lock.json says beyond what npm writes into it. Knows nothing of where it lies. */

/** A package of the lock, as far as it is read here. */
interface Locked {
  version?: string;
  integrity?: string;
  optional?: boolean;
  hasInstallScript?: boolean;
  gypfile?: boolean;
  os?: string | string[];
  cpu?: string | string[];
  libc?: string[];
  bin?: Record<string, string>;
  engines?: Record<string, string>;
}

export interface Lock {
  packages: Record<string, Locked>;
}

/** The oldest Node that npm may run on while it installs. */
const BEGINS_ON = 20;

/** The packages that are a Node for one kind of machine. */
const NODE = /^node_modules\/node-(?:bin-)?(?:linux|darwin)-/;

/** Whether a range such as `^20.19.0 || >=22` leaves out every Node of the major version. */
function leavesOut(range: string, major: number): boolean {
  return range.split('||').every((part) => Number(/\d+/.exec(part)?.[0] ?? 0) > major);
}

/** `a/node_modules/@b/c` is of `@b/c`. */
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * What npm before 12, which reads no `allowScripts`, goes by when it decides whether a package runs something as it is
 * installed.
 */
function silenced(entry: Locked): Locked {
  const { hasInstallScript, ...rest } = entry;
  return { ...rest, gypfile: false };
}

/**
 * The lock with three facts added. Node is built for glibc, which its packages do not say: on a machine with musl npm
 * leaves it out and takes the machine's own. The Node that npm runs on is not the one that runs the packages, so none
 * warns that it wants a newer one. And packages that may run nothing (package.json's `allowScripts`) have nothing to
 * run, neither a script nor a compiler for their `binding.gyp`.
 */
export function completed(lock: Lock, allowScripts: Record<string, boolean>): Lock {
  const packages = Object.entries(lock.packages).map(([path, entry]) => {
    const { engines, ...rest } = entry;
    const kept = engines?.node !== undefined && path !== '' && leavesOut(engines.node, BEGINS_ON) ? rest : entry;
    const quiet = allowScripts[nameOf(path)] === false ? silenced(kept) : kept;
    return [path, NODE.test(path) && path.includes('-linux-') ? { ...quiet, libc: ['glibc'] } : quiet];
  });
  return { ...lock, packages: Object.fromEntries(packages) };
}

/**
 * Whether what npm noted in node_modules is what the lock says. Optional packages may be missing: they are for other
 * machines.
 */
export function isInstalled(lock: Lock, noted: Lock): boolean {
  const whole = Object.entries(lock.packages).every(
    ([path, { optional, version }]) => path === '' || optional || noted.packages[path]?.version === version,
  );
  return (
    whole && Object.entries(noted.packages).every(([path, { version }]) => lock.packages[path]?.version === version)
  );
}
