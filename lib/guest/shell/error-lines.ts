/**
 * Where an error of the shell stands: `bash: line 3: foo: command not found`, or `./x.sh: line 3: …` in a script; and
 * how deep a traced command stands. Called by the interpreter as it is patched (bash-message-patches.ts,
 * bash-trace-patches.ts), only where there is an error or a trace.
 */

import { POSIX_REASONS } from './posix-error.ts';

/** What it takes of the interpreter's state. */
interface ShellPlace {
  currentLine: number;
  cwd?: string;
  currentSource?: string;
  env: ReadonlyMap<string, string>;
  /** How many `$(…)`, `eval` and `.` are around a command. */
  traceDepth?: number;
}

/** Commands that are part of bash, and programs here. They name themselves in their errors. */
const BUILTIN_PROGRAMS = new Set(['printf', 'test', '[']);
/** Commands that run others, whose errors have their place already. */
const RUNNERS = new Set(['eval', '.', 'source']);
const ALREADY = /^bash: (?!line \d+: )/gm;

/**
 * The errors of one command with the place of its line. Those of programs and functions stay as they are: `isProgram`
 * says whether `command` is one.
 */
export function placed(
  state: ShellPlace,
  said: string,
  command: string,
  isProgram: boolean,
  line = state.currentLine,
): string {
  const errors = / E[A-Z]{2,}: /.test(said) ? inGnuWords(state, said, command) : said;
  const before = `${state.currentSource ?? state.env.get('0') ?? 'bash'}: line ${line}: `;
  if (BUILTIN_PROGRAMS.has(command))
    return errors.replace(
      /^(?:bash: )?(test|\[|printf): /gm,
      (_, name: string) => `${before}${name === 'test' ? command : name}: `,
    );
  if (isProgram) return errors;
  if (RUNNERS.has(command)) return errors.replace(/^bash: (?=[^\n]*: No such file or directory\n$)/, before);
  return errors.replace(ALREADY, before);
}

/**
 * Errors that one of just-bash's programs says as its file system does: `awk: EISDIR: illegal operation on a directory,
 * '/workspace/d'` becomes `awk: d: Is a directory`. Whatever does not begin with the program's own name stays.
 */
function inGnuWords({ cwd = '/' }: ShellPlace, errors: string, command: string): string {
  return errors.replace(
    /^([^\s:]+): (.*?)(E[A-Z]{2,}): [^\n']*'(.*)'$/gm,
    (whole, name, before, code, path: string) => {
      const reason = POSIX_REASONS[code];
      if (name !== command || reason === undefined) return whole;
      const shown = path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
      return `${name}: ${before === '' ? `${shown}: ` : before}${reason}`;
    },
  );
}

/** What stands in front of a traced command: its first character once more for each level. */
export function deepened(state: ShellPlace, prompt: string): string {
  return (prompt[0] ?? '').repeat(Math.max(0, state.traceDepth ?? 0)) + prompt;
}

/** Whether a command is the `.` by which `bash -x FILE` reads its file (shell-arguments.ts). */
export function isOwnFile(state: ShellPlace, command: string, [file, ...more]: readonly string[]): boolean {
  const own = state.env.get('0') ?? '';
  const isFirst = state.currentSource === undefined && command === '.' && more.length === 0;
  return isFirst && (file === own ? own.includes('/') : file === `./${own}`);
}
