/**
 * The guest's side of a JavaScript run. QuickJS evaluates it before the guest's code. It defines `console`, `stdout`,
 * `stderr`, `stdinBytes`, `vfs`, the stack of errors and the values that were passed. It takes its own
 * references first, so nothing that the guest redefines changes what it does.
 */
import { sourceText } from '../source-text.ts';

/**
 * Source of a function of (host functions, names of the functions that `vfs` has). The function returns the guest's
 * JSON serialiser.
 */
export const PRELUDE = sourceText(new URL('./prelude.cjs', import.meta.url));
