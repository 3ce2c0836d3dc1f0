/** What may stand at the end of a command line, by the tree of commands itself. Asks nobody. */
import type { Argument, Command, Option } from 'commander';
import { passesThrough } from '../words-in-order.ts';

/** What may come next. */
export interface Expected {
  /** The deepest command that the words name. */
  command: Command;
  /** What is typed of the last word. */
  typed: string;
  /** A command below `command`, an option of it, the value of one, an argument, or nothing that is known. */
  place: 'command' | 'option' | { option: Option } | { argument: Argument } | null;
  /** The arguments before it. */
  before: string[];
  /** Values of the options before it, by their long names. */
  options: ReadonlyMap<string, string>;
}

/** The name by which an option is found: `--tenant`. */
const nameOf = (option: Option): string => option.long ?? option.short ?? '';

const takesValue = (option: Option): boolean => option.required || option.optional;

/** Reads the words after the program's name; the last is being typed, and may be empty. */
export function expectedAt(program: Command, words: readonly string[]): Expected {
  let command = program;
  const before: string[] = [];
  const options = new Map<string, string>();
  let pending: Option | null = null;
  let optionsEnd = false;
  const typed = words.at(-1) ?? '';
  for (const word of words.slice(0, -1)) {
    if (pending !== null) {
      options.set(nameOf(pending), word);
      pending = null;
    } else if (word === '--' && !optionsEnd) optionsEnd = true;
    else if (word.startsWith('-') && word !== '-' && !optionsEnd) {
      const [name = '', value] = word.split(/=(.*)/s);
      const option = command.options.find(({ short, long }) => short === name || long === name);
      if (option !== undefined && takesValue(option)) {
        if (value === undefined) pending = option;
        else options.set(nameOf(option), value);
      }
    } else {
      const below = before.length === 0 ? command.commands.find((child) => child.name() === word) : undefined;
      if (below !== undefined) command = below;
      else {
        before.push(word);
        optionsEnd ||= before.length > 1 && passesThrough(command);
      }
    }
  }
  return { command, typed, place: placeOf(), before, options };

  function placeOf(): Expected['place'] {
    if (pending !== null) return { option: pending };
    if (typed.startsWith('-') && !optionsEnd) return 'option';
    if (command.commands.length > 0) return before.length === 0 ? 'command' : null;
    const last = command.registeredArguments.at(-1);
    const argument = command.registeredArguments[before.length] ?? (last?.variadic === true ? last : undefined);
    return argument === undefined ? null : { argument };
  }
}
