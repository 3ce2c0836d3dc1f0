/**
 * The options of a command, read as GNU's getopt_long reads them: combined letters, values in the same or the next
 * argument, abbreviated long names, options behind operands, and its error sentences. Pure.
 */

export interface OptionNames {
  /** Letters; one colon behind a letter: it takes a value, two: its value may follow in the same argument. */
  letters: string;
  /** Long names to the key of their option; `name=`: it takes a value, `name=?`: its value is optional. */
  long?: Readonly<Record<string, string>>;
  /** Options end at the first operand, as for commands that run another command. */
  stopAtOperand?: boolean;
}

/** An option as given: its letter, or the key of its long name. */
export interface GivenOption {
  key: string;
  value: string | null;
  /** How it was written, with its dashes. */
  written: string;
}

export interface ParsedOptions {
  options: GivenOption[];
  operands: string[];
}

/** Parses arguments. Throws an `OptionError` with the sentence of GNU. */
export function parseOptions(args: readonly string[], table: OptionNames): ParsedOptions {
  const options: GivenOption[] = [];
  const operands: string[] = [];
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '--') {
      operands.push(...args.slice(at + 1));
      break;
    }
    if (arg.startsWith('--')) {
      const { option, takesNext } = longOption(arg, args[at + 1], table);
      options.push(option);
      if (takesNext) at += 1;
    } else if (arg.startsWith('-') && arg.length > 1) {
      if (lettersOf(arg, args[at + 1], table, options)) at += 1;
    } else if (table.stopAtOperand) {
      operands.push(...args.slice(at));
      break;
    } else operands.push(arg);
  }
  return { options, operands };
}

export class OptionError extends Error {}

function longOption(
  arg: string,
  next: string | undefined,
  table: OptionNames,
): { option: GivenOption; takesNext: boolean } {
  const equals = arg.indexOf('=');
  const name = equals === -1 ? arg.slice(2) : arg.slice(2, equals);
  const given = equals === -1 ? null : arg.slice(equals + 1);
  const entries = Object.entries(table.long ?? {}).map(([spec, key]) => {
    const [long = '', takes] = spec.split('=');
    return { long, takes: takes === undefined ? 'none' : takes === '?' ? 'optional' : 'required', key };
  });
  const exact = entries.find(({ long }) => long === name);
  const begun = entries.filter(({ long }) => long.startsWith(name));
  const same = new Set(begun.map(({ key }) => key)).size === 1;
  const entry = exact ?? (same ? begun[0] : undefined);
  if (entry === undefined) {
    if (begun.length === 0) throw new OptionError(`unrecognized option '--${arg.slice(2)}'`);
    const possible = begun.map(({ long }) => `'--${long}'`).join(' ');
    throw new OptionError(`option '${arg}' is ambiguous; possibilities: ${possible}`);
  }
  const written = `--${entry.long}`;
  if (entry.takes === 'none' && given !== null) throw new OptionError(`option '${written}' doesn't allow an argument`);
  if (entry.takes !== 'required' || given !== null)
    return { option: { key: entry.key, value: given, written }, takesNext: false };
  if (next === undefined) throw new OptionError(`option '${written}' requires an argument`);
  return { option: { key: entry.key, value: next, written }, takesNext: true };
}

/** Adds the options of one argument; true when the last of them takes the next argument as its value. */
function lettersOf(arg: string, next: string | undefined, table: OptionNames, options: GivenOption[]): boolean {
  const letters = [...arg.slice(1)];
  for (const [at, letter] of letters.entries()) {
    const found = letter === ':' ? -1 : table.letters.indexOf(letter);
    if (found === -1) throw new OptionError(`invalid option -- '${letter}'`);
    const written = `-${letter}`;
    if (table.letters[found + 1] !== ':') {
      options.push({ key: letter, value: null, written });
      continue;
    }
    const rest = letters.slice(at + 1).join('');
    const optional = table.letters[found + 2] === ':';
    if (rest !== '' || optional) {
      options.push({ key: letter, value: rest === '' ? null : rest, written });
      return false;
    }
    if (next === undefined) throw new OptionError(`option requires an argument -- '${letter}'`);
    options.push({ key: letter, value: next, written });
    return true;
  }
  return false;
}
