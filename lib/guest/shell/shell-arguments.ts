/**
 * The arguments of `bash` and `sh`, in the form that just-bash knows: `-c SCRIPT NAME ARGS…`, `FILE ARGS…`, or none for
 * a script from standard input. Options that the shell's `set` and `shopt` know go in front of the script. Pure.
 */

/** Options of `set`, and those that mean nothing here: no shell is interactive, and none reads a file at its start. */
const SET_LETTERS = 'abCefhmuvx';
const IGNORED_LETTERS = 'Bhikmlpr';
const IGNORED_WORDS = ['--login', '--noediting', '--noprofile', '--norc', '--posix', '--restricted'];
const FILE_WORDS = ['--init-file', '--rcfile'];
const VERSION = 'GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n';

interface Ended {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/**
 * What a shell is to do: `args` as just-bash knows them (`readsInput`: its script was all of the standard input), or
 * what it has said already; `help`: show its usage.
 */
type ShellArguments = { args: string[]; readsInput?: boolean } | { ended: Ended } | { help: true };

interface Options {
  /** Statements that set what was asked for. */
  settings: string[];
  isCommand: boolean;
  isInput: boolean;
  /** Read the script, and run nothing of it. */
  onlyReads: boolean;
}

const refused = (name: string, message: string): { ended: Ended } => ({
  ended: { stdout: '', stderr: `${name}: ${message}\n`, exitCode: 2 },
});

/** `input`: gives the shell's standard input as a script. */
export function shellArguments(name: string, given: readonly string[], input: () => string): ShellArguments {
  const rest = [...given];
  const options: Options = { settings: [], isCommand: false, isInput: false, onlyReads: false };
  while (/^[-+]/.test(rest[0] ?? '')) {
    const word = rest.shift() ?? '';
    if (word === '--' || word === '-') break;
    if (word === '--help') return { help: true };
    if (word === '--version') return { ended: { stdout: VERSION, stderr: '', exitCode: 0 } };
    if (word === '--verbose') options.settings.push('set -v');
    else if (FILE_WORDS.includes(word)) rest.shift();
    else if (word.startsWith('--') && !IGNORED_WORDS.includes(word)) return refused(name, `${word}: invalid option`);
    else if (!word.startsWith('--')) {
      const problem = takeLetters(word, rest, options);
      if (problem !== null) return refused(name, problem);
    }
  }
  return argumentsOf(name, rest, options, input);
}

/** Takes one word of options, as `-euo`, with the values that it needs from `rest`. Returns what is wrong with it. */
function takeLetters(word: string, rest: string[], options: Options): string | null {
  const sign = word[0];
  for (const letter of word.slice(1)) {
    if (letter === 'c' && sign === '-') options.isCommand = true;
    else if (letter === 's' && sign === '-') options.isInput = true;
    else if (letter === 'n' && sign === '-') options.onlyReads = true;
    else if (letter === 'o' || letter === 'O') {
      const value = rest.shift();
      if (value === undefined) return `${word}: option requires an argument`;
      if (!/^\w+$/.test(value)) return `${value}: invalid option name`;
      options.settings.push(letter === 'o' ? `set ${sign}o ${value}` : `shopt ${sign === '-' ? '-s' : '-u'} ${value}`);
    } else if (IGNORED_LETTERS.includes(letter)) continue;
    else if (SET_LETTERS.includes(letter)) options.settings.push(`set ${sign}${letter}`);
    else return `${word}: invalid option`;
  }
  return null;
}

function argumentsOf(name: string, rest: string[], options: Options, input: () => string): ShellArguments {
  const { settings, isCommand, isInput, onlyReads } = options;
  // On the script's own first line, so that its messages name the right one.
  const before = [...settings, ...(onlyReads ? ['set -n'] : [])].map((statement) => `${statement}; `).join('');
  if (isCommand) {
    const [script, ...more] = rest;
    if (script === undefined) return refused(name, '-c: option requires an argument');
    return { args: ['-c', before + script, ...more] };
  }
  const [file, ...more] = rest;
  if (isInput || file === undefined) return { args: ['-c', before + input(), name, ...rest], readsInput: true };
  if (before === '') return { args: rest };
  const path = file.includes('/') ? '"$0"' : './"$0"';
  const missing = `if ! [ -f "$0" ]; then echo "${name}: $0: No such file or directory" >&2; exit 127; fi; `;
  const run = onlyReads ? `eval "set -n; $(cat ${path})" || exit 2` : `. ${path}`;
  return { args: ['-c', `${missing}${onlyReads ? '' : before}${run}`, file, ...more] };
}

/**
 * Runs a file as a program: by the program that its `#!` line names, or by bash. `typed`: its name as it was typed;
 * `content`: null where it cannot be read.
 */
export async function runFile(
  typed: string,
  content: string | null,
  args: readonly string[],
  isProgram: (name: string) => boolean,
  run: (name: string, args: string[]) => Promise<Ended>,
): Promise<Ended> {
  if (content === null) return { stdout: '', stderr: `bash: ${typed}: Permission denied\n`, exitCode: 126 };
  const [, interpreter = '/bin/bash', option = ''] =
    /^#![ \t]*([^ \t\n]+)(?:[ \t]+(.*?))?[ \t]*(?:\n|$)/.exec(content) ?? [];
  const base = interpreter.slice(interpreter.lastIndexOf('/') + 1);
  const name = base === 'dash' ? 'sh' : base;
  if (isProgram(name)) return run(name, [...(option === '' ? [] : [option]), typed, ...args]);
  return { stdout: '', stderr: `bash: ${typed}: cannot execute: required file not found\n`, exitCode: 127 };
}
