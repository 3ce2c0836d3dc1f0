/**
 * The one way into the guest's house: what the server may know of what runs in a sandbox's process. Loads no
 * interpreter.
 */
import { join } from 'node:path';

export { SHELL_COMMANDS } from './shell/commands/shell-commands.ts';

/** The file that a worker process runs; the server starts its bundle where that is current. */
export const WORKER_ENTRY = join(import.meta.dirname, 'worker', 'worker.ts');
/** The module that a worker loads before its entry, with the flags of the process. */
export const WORKER_FLAGS = join(import.meta.dirname, 'worker', 'worker-flags.cjs');
