/** A machine and the Node that runs on it. */
export interface Here {
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

/** What keeps Winterdock from running there, as one sentence; null when nothing does. */
export function whatIsWrong(on: Here): string | null;

/** This process's own case. */
export const here: Here;

/** Ends the process with the sentence where it cannot run. */
export function orEnd(): void;

/** Whether this process can go on. Where it cannot, the pinned Node runs `args` instead, or the sentence is said. */
export function canRun(args: string[]): boolean;
