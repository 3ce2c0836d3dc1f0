/**
 * The one rule of where words stand: what a command acts on comes by position, everything else by name, and names may
 * stand anywhere before another program's command begins. Commander reads options of such a command only before its
 * first argument: here they are brought there. Asks nobody.
 */
import type { Command, Option } from 'commander';

/** Whether what follows the first argument is another program's, options included. */
export const passesThrough = (command: Command): boolean =>
  command.registeredArguments.some((argument) => argument.variadic && argument.name() === 'command');

/** The option that a word such as `--cwd` or `--cwd=/tmp` begins. */
const optionOf = (command: Command, word: string): Option | undefined =>
  command.options.find(({ short, long }) => short === word || long === word.split('=', 1)[0]);

/** The words after the program's name, as Commander takes them. */
export function wordsInOrder(program: Command, words: readonly string[]): string[] {
  const [name, ...rest] = words;
  const command = program.commands.find((one) => one.name() === name);
  if (name === undefined || command === undefined || !passesThrough(command)) return [...words];
  const options: string[] = [];
  let subject: string | undefined;
  while (rest[0] !== undefined && rest[0] !== '--') {
    const isOption = rest[0].startsWith('-') && rest[0] !== '-';
    if (!isOption && subject !== undefined) break;
    const word = rest.shift() ?? '';
    if (!isOption) {
      subject = word;
      continue;
    }
    options.push(word);
    const option = optionOf(command, word);
    if (option?.required === true && !word.includes('=')) options.push(...rest.splice(0, 1));
  }
  return [name, ...options, ...(subject === undefined ? [] : [subject]), ...rest];
}
