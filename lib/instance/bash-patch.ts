/** How a change of one of just-bash's files is written down, and the names of the files that several changes are of. */

/** `from` must be in `file` (relative to its bundle) exactly once, and becomes `to`. */
export interface BashPatch {
  file: string;
  from: string;
  to: string;
}

export const INTERPRETER_FILE = 'index.js';
export const AWK_FILE = 'chunks/chunk-3CBCABOZ.js';
