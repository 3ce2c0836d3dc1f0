/** A machine and the Node that runs on it. */
export interface Machine {
  /** As in `process.versions.node`. */
  version: string;
  /** As in `process.platform`. */
  platform: string;
  /** As in `process.arch`. */
  arch: string;
  /** Whether the C library is musl: npm's Node is built for glibc. */
  musl: boolean;
  /** The folder that has package.json and node_modules. */
  root: string;
}

/** Why Winterdock cannot run on a machine, as one sentence; null when it can. */
export function unsupportedReason(machine: Machine): string | null;

/** The machine and the Node that run this process. */
export const thisMachine: Machine;

/** Ends the process, with the reason on stderr, when it cannot run Winterdock. */
export function requireSupportedNode(): void;

/** True when this Node can run Winterdock. Otherwise the pinned Node runs `args`, or the process ends. */
export function continueOrHandOver(args: string[]): boolean;
