/**
 * The one way into the guest's house: what the server may know of what runs in a sandbox's process. Loads no
 * interpreter. The package's tracer follows these paths as they are written here.
 */
import { fileURLToPath } from 'node:url';

export { SHELL_COMMANDS } from './shell/commands/shell-commands.ts';

/** The file that a worker process runs; the server starts its bundle where that is current. */
export const WORKER_ENTRY = fileURLToPath(new URL('./worker/worker.ts', import.meta.url));
/** The module that a worker loads before its entry, with the flags of the process. */
export const WORKER_FLAGS = fileURLToPath(new URL('./worker/worker-flags.cjs', import.meta.url));
