/** `getopt` of util-linux: the arguments of a script, in order and in quotes. */
import type { CommandCall, OwnCommand } from './own-command.ts';

const USAGE = 2;
const BAD_OPTION = 1;
const TEST = 4;

interface Wanted {
  /** Letters and names with the colons of their arguments. */
  short: string;
  long: readonly string[];
  /** How the first characters of the short ones say to go on at an operand. */
  mode: '' | '+' | '-';
  isAlternative: boolean;
}

interface Found {
  options: string[];
  operands: string[];
  errors: string[];
}

export const getopt: OwnCommand = {
  usageExit: USAGE,
  like: 'util-linux 2.38.1',
  main(call: CommandCall) {
    const [first = ''] = call.args;
    // The old form: letters, and what is parsed.
    const isOld = first !== '' && !first.startsWith('-');
    if (isOld) return answer(call, first, [], call.args.slice(1), { quotes: false });
    const end = call.args.indexOf('--');
    const { options, operands } = call.options({
      letters: 'al:n:o:qQs:Tu',
      long: {
        alternative: 'a',
        'longoptions=': 'l',
        'longoptionals=': 'l',
        'name=': 'n',
        'options=': 'o',
        quiet: 'q',
        'quiet-output': 'Q',
        'shell=': 's',
        test: 'T',
        unquoted: 'u',
      },
      stopAtOperand: true,
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const has = (key: string) => options.some((option) => option.key === key);
    if (has('T')) return TEST;
    const given = value('o');
    const rest = end === -1 || given !== null ? operands : operands.slice(0);
    const [letters, ...others] = given === null ? rest : [given, ...rest];
    if (letters === undefined) call.usage('missing optstring argument');
    const long = options.flatMap((option) => (option.key === 'l' ? (option.value ?? '').split(/[,\s]+/) : []));
    return answer(
      call,
      letters,
      long.filter((name) => name !== ''),
      others,
      {
        quotes: !has('u'),
        name: value('n') ?? undefined,
        isQuiet: has('q'),
        hasNoOutput: has('Q'),
        isAlternative: has('a'),
      },
    );
  },
};

function answer(
  call: CommandCall,
  letters: string,
  long: readonly string[],
  args: readonly string[],
  how: {
    quotes: boolean;
    name?: string | undefined;
    isQuiet?: boolean;
    hasNoOutput?: boolean;
    isAlternative?: boolean;
  },
): number {
  const mode = letters.startsWith('+') ? '+' : letters.startsWith('-') ? '-' : '';
  const wanted = { short: letters.slice(mode.length), long, mode, isAlternative: how.isAlternative ?? false } as const;
  const found = parsed(wanted, args, how.quotes ? inShellQuotes : (text) => text);
  const quote = how.quotes ? inShellQuotes : (text: string) => text;
  if (!how.isQuiet) for (const error of found.errors) call.warn(`${how.name ?? 'getopt'}: ${error}\n`);
  if (!how.hasNoOutput)
    call.print(`${[...found.options, '--', ...found.operands.map(quote)].map((word) => ` ${word}`).join('')}\n`);
  return found.errors.length > 0 ? BAD_OPTION : 0;
}

const inShellQuotes = (text: string) => `'${text.replaceAll("'", `'\\''`).replaceAll('!', `'\\!'`)}'`;

function parsed(wanted: Wanted, args: readonly string[], quote: (text: string) => string): Found {
  const found: Found = { options: [], operands: [], errors: [] };
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '--') {
      found.operands.push(...args.slice(at + 1));
      break;
    }
    const isLong = arg.startsWith('--') || (wanted.isAlternative && arg.startsWith('-') && arg.length > 2);
    if (isLong) {
      if (takeLong(wanted, arg, args[at + 1], found, quote)) at += 1;
    } else if (arg.startsWith('-') && arg.length > 1) {
      if (takeLetters(wanted, arg, args[at + 1], found, quote)) at += 1;
    } else if (wanted.mode === '+') {
      found.operands.push(...args.slice(at));
      break;
    } else if (wanted.mode === '-') found.options.push(quote(arg));
    else found.operands.push(arg);
  }
  return found;
}

/** Returns whether the next argument is its value. */
function takeLong(
  { long }: Wanted,
  arg: string,
  next: string | undefined,
  found: Found,
  quote: (text: string) => string,
): boolean {
  const [, name = '', , value] = /^--?([^=]*)(=(.*))?$/s.exec(arg) ?? [];
  const bare = (given: string) => given.replace(/:+$/, '');
  const exact = long.filter((given) => bare(given) === name);
  const choices = exact.length > 0 ? exact : long.filter((given) => given.startsWith(name));
  const [choice] = choices;
  if (choice === undefined) {
    found.errors.push(`unrecognized option '${arg.startsWith('--') ? '--' : '-'}${name}'`);
    return false;
  }
  if (choices.length > 1 && exact.length === 0) {
    const list = choices.map((given) => ` '--${bare(given)}'`).join('');
    found.errors.push(`option '--${name}' is ambiguous; possibilities:${list}`);
    return false;
  }
  const full = bare(choice);
  const colons = choice.length - full.length;
  if (colons === 0 && value !== undefined) {
    found.errors.push(`option '--${full}' doesn't allow an argument`);
    return false;
  }
  if (colons === 1 && value === undefined && next === undefined) {
    found.errors.push(`option '--${full}' requires an argument`);
    return false;
  }
  found.options.push(`--${full}`);
  if (colons === 0) return false;
  const takesNext = colons === 1 && value === undefined;
  found.options.push(quote((takesNext ? next : value) ?? ''));
  return takesNext;
}

function takeLetters(
  { short }: Wanted,
  arg: string,
  next: string | undefined,
  found: Found,
  quote: (text: string) => string,
): boolean {
  for (let at = 1; at < arg.length; at += 1) {
    const letter = arg[at] ?? '';
    const where = letter === ':' ? -1 : short.indexOf(letter);
    if (where === -1) {
      found.errors.push(`invalid option -- '${letter}'`);
      continue;
    }
    if (short[where + 1] !== ':') {
      found.options.push(`-${letter}`);
      continue;
    }
    const rest = arg.slice(at + 1);
    const isOptional = short[where + 2] === ':';
    if (rest === '' && !isOptional && next === undefined) {
      found.errors.push(`option requires an argument -- '${letter}'`);
      return false;
    }
    const takesNext = rest === '' && !isOptional;
    found.options.push(`-${letter}`, quote((takesNext ? next : rest) ?? ''));
    return takesNext;
  }
  return false;
}
