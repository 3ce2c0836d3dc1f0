/**
 * Where an error of the shell stands: `bash: line 3: foo: command not found`, or `./x.sh: line 3: …` in a script; and
 * how deep a traced command stands. Called by the interpreter as it is patched (bash-message-patches.ts,
 * bash-trace-patches.ts), only where there is an error or a trace.
 */

/** What it takes of the interpreter's state. */
interface ShellPlace {
  currentLine: number;
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
  errors: string,
  command: string,
  isProgram: boolean,
  line = state.currentLine,
): string {
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
