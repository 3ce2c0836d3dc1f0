/** Names of variables that a guest may be given. Pure, and safe for the browser. */

/** Longest name, in characters. */
export const LONGEST_VARIABLE_NAME = 128;

/** What the sandbox and its shell set themselves. */
const RESERVED = new Set([
  ...['BASHOPTS', 'ENV', 'EUID', 'HOME', 'IFS', 'LINENO', 'OLDPWD', 'OPTIND', 'PATH', 'PPID', 'PWD', 'PYTHONHOME'],
  ...['RANDOM', 'SECONDS', 'SHELLOPTS', 'SHLVL', 'UID', '_', '__proto__'],
]);

/** What is wrong with a name, as the rest of a sentence; null for one that may be given. */
export function variableNameProblem(name: string): string | null {
  if (name.length > LONGEST_VARIABLE_NAME) return `must have at most ${LONGEST_VARIABLE_NAME} characters`;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return 'must be letters, digits and _, not beginning with a digit';
  return RESERVED.has(name) || name.startsWith('BASH_') ? 'is set by the sandbox itself: take another name' : null;
}
