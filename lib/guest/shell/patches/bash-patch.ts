/** The form of a patch of just-bash, and the names of the files that several patches change. */
import { OUTPUT_FIRST } from '../script-transform.ts';

/** Replaces `from`, which must occur exactly once in `file` (a path inside the bundle), with `to`. */
export interface BashPatch {
  file: string;
  from: string;
  to: string;
}

export const INTERPRETER_FILE = 'index.js';
/** The commands `bash` and `sh`. */
export const SHELLS_FILE = 'chunks/chunk-EJFBIRMD.js';
/** The engine of regular expressions. */
export const REGEX_FILE = 'chunks/chunk-KVG5FR5F.js';
export const PRINTF_FILE = 'chunks/chunk-4AKAIZPW.js';
export const AWK_FILE = 'chunks/chunk-3CBCABOZ.js';
export const TAR_FILE = 'chunks/chunk-X3TZEFQG.js';
/** Where a result is joined: whether the command, or a script, prints what it has before an error. */
export const PRINTS_FIRST = `/^(?:bash|${OUTPUT_FIRST.join('|')})$/.test(o)`;
