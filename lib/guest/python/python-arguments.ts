/** The arguments of `python3`, read as CPython reads them. Pure. */

/** What is to run, and how. */
export interface PythonArguments {
  /** `-c` and its code, `-m` and its module, a file, or standard input. */
  what: { kind: 'code' | 'module' | 'file'; text: string } | { kind: 'stdin' };
  /** `sys.argv` behind its first. */
  rest: string[];
  /** `-W`, in their order. */
  warnings: string[];
  /** `-O`, twice for 2. */
  optimize: number;
  /** `-E`, `-I`: PYTHONPATH is not read. */
  ignoresEnvironment: boolean;
  /** `-P`, `-I`: the folder of the script, or the current one, is not searched. */
  isSafePath: boolean;
  /** `-s`, `-I`: what pip has installed is not searched. */
  withoutInstalled: boolean;
}

/** What an option ends with: `--version` and the like, or a mistake. */
export type PythonRefusal = { stdout: string; stderr: string; exitCode: number } | { original: string };

/** Options that change nothing here: what is written is not buffered, and compiled code is not kept. */
const WITHOUT_EFFECT = 'bBdquvx';
const USAGE_EXIT = 2;

function refusal(name: string, sentence: string): PythonRefusal {
  const usage = `usage: ${name} [option] ... [-c cmd | -m mod | file | -] [arg] ...`;
  const stderr = `${sentence}\n${usage}\nTry \`${name} -h' for more information.\n`;
  return { stdout: '', stderr, exitCode: USAGE_EXIT };
}

/** Reads arguments. `original`: an option that prints something and ends, with which the interpreter is called. */
export function pythonArguments(name: string, args: readonly string[]): PythonArguments | PythonRefusal {
  const read: Omit<PythonArguments, 'what' | 'rest'> = {
    warnings: [],
    optimize: 0,
    ignoresEnvironment: false,
    isSafePath: false,
    withoutInstalled: false,
  };
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '-') return { ...read, what: { kind: 'stdin' }, rest: args.slice(at + 1) };
    if (arg === '--') return { ...read, ...operand(args.slice(at + 1)) };
    if (!arg.startsWith('-')) return { ...read, ...operand(args.slice(at)) };
    if (arg === '--version' || arg === '--help') return { original: arg };
    if (arg.startsWith('--')) return refusal(name, `unknown option ${arg}`);
    for (let letter = 1; letter < arg.length; letter += 1) {
      const option = arg[letter] ?? '';
      if ('cmWX'.includes(option)) {
        const attached = arg.slice(letter + 1);
        const text = attached === '' ? args[at + 1] : attached;
        if (text === undefined) return refusal(name, `Argument expected for the -${option} option`);
        if (attached === '') at += 1;
        if (option === 'c') return { ...read, what: { kind: 'code', text }, rest: args.slice(at + 1) };
        if (option === 'm') return { ...read, what: { kind: 'module', text }, rest: args.slice(at + 1) };
        if (option === 'W') read.warnings.push(text);
        break;
      }
      if (option === 'V' || option === 'h' || option === '?')
        return { original: option === 'V' ? '--version' : '--help' };
      if (option === 'i') return refusal(name, `${name}: -i: a script of the sandbox has no terminal`);
      if (option === 'O') read.optimize += 1;
      else if ('EI'.includes(option)) read.ignoresEnvironment = true;
      else if (!`${WITHOUT_EFFECT}PsS`.includes(option)) return refusal(name, `Unknown option: -${option}`);
      if ('PI'.includes(option)) read.isSafePath = true;
      if ('sSI'.includes(option)) read.withoutInstalled = true;
    }
  }
  return { ...read, what: { kind: 'stdin' }, rest: [] };
}

function operand([file, ...rest]: string[]): Pick<PythonArguments, 'what' | 'rest'> {
  return file === undefined ? { what: { kind: 'stdin' }, rest: [] } : { what: { kind: 'file', text: file }, rest };
}
