/** The options of a `git` command, as its table declares them. Pure. */
import { usageError } from './git-error.ts';

/**
 * What each option takes: nothing (`flag`), a value in the same or the next argument (`value`), or at most one in the
 * same (`maybe`). Several names, as in `m,message`, are one option under its last name.
 */
export type OptionTable = Readonly<Record<string, 'flag' | 'value' | 'maybe'>>;

/** The name by which an option of a table is asked for. */
type LastName<Names> = Names extends `${string},${infer Rest}` ? LastName<Rest> : Names;

/** Asked for by names of its table alone, so that no option is declared under one name and read under another. */
export interface CommandLine<Name extends string = string> {
  /** Whether an option was given. */
  has(name: Name): boolean;
  /** The last value of an option. */
  value(name: Name): string | undefined;
  values(name: Name): string[];
  /** Arguments before `--`. */
  operands: string[];
  /** Arguments after `--`; null when there was none. */
  paths: string[] | null;
}

/** Throws git's usage error for an option that the table does not have. */
export function parseCommandLine<const Table extends OptionTable>(
  args: readonly string[],
  table: Table,
): CommandLine<LastName<keyof Table & string> & string> {
  const kinds = new Map<string, { name: string; kind: OptionTable[string] }>();
  for (const [names, kind] of Object.entries(table)) {
    const all = names.split(',');
    for (const name of all) kinds.set(name, { name: all.at(-1) ?? name, kind });
  }
  const given = new Map<string, string[]>();
  const operands: string[] = [];
  let paths: string[] | null = null;
  const add = (name: string, value: string) => given.set(name, [...(given.get(name) ?? []), value]);
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '--') {
      paths = args.slice(at + 1);
      break;
    }
    if (!arg.startsWith('-') || arg === '-') {
      operands.push(arg);
      continue;
    }
    const next = () => {
      at += 1;
      const value = args[at];
      if (value === undefined) throw usageError(`option \`${arg.replace(/^-+/, '')}' requires a value`);
      return value;
    };
    if (arg.startsWith('--')) longOption(arg.slice(2), kinds, add, next);
    else if (/^-\d+$/.test(arg) && kinds.has('n')) add(kinds.get('n')?.name ?? 'n', arg.slice(1));
    else shortOptions(arg.slice(1), kinds, add, next);
  }
  return {
    has: (name) => given.has(name),
    value: (name) => given.get(name)?.at(-1),
    values: (name) => given.get(name) ?? [],
    operands,
    paths,
  };
}

function unknown(what: string): Error {
  return usageError(`unknown ${what}, or one that is not supported in this sandbox`);
}

type Kinds = ReadonlyMap<string, { name: string; kind: OptionTable[string] }>;

function longOption(text: string, kinds: Kinds, add: (name: string, value: string) => void, next: () => string): void {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  const found = kinds.get(name);
  if (found === undefined) throw unknown(`option \`${name}'`);
  if (equals >= 0 && found.kind === 'flag') throw usageError(`option \`${name}' takes no value`);
  add(found.name, equals >= 0 ? text.slice(equals + 1) : found.kind === 'value' ? next() : '');
}

function shortOptions(
  text: string,
  kinds: Kinds,
  add: (name: string, value: string) => void,
  next: () => string,
): void {
  for (let at = 0; at < text.length; at += 1) {
    const found = kinds.get(text[at] ?? '');
    if (found === undefined) throw unknown(`switch \`${text[at]}'`);
    const rest = text.slice(at + 1);
    if (found.kind === 'flag') add(found.name, '');
    else {
      add(found.name, rest === '' && found.kind === 'value' ? next() : rest);
      return;
    }
  }
}
