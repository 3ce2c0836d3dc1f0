/** `completion`: what a shell loads to complete the words of this program, and the words that it asks for. */
import type { Command } from 'commander';
import { addCommand, cliClient } from '../command.ts';
import { candidatesFor } from '../completion/candidates.ts';
import { expectedAt } from '../completion/expected.ts';
import { COMPLETION_SCRIPTS } from '../completion/scripts.ts';
import { CliError } from '../failure.ts';
import { printable } from '../format.ts';
import { resolveServer } from '../saved-logins.ts';

/** A person waits at the Tab. */
const LONGEST_MS = 2000;

/** bash divides words at some characters, `:` and `=` among them: puts them together again. */
function joined(words: readonly string[], breaks: string): string[] {
  const isBreak = (word: string) =>
    word !== '' && [...word].every((char) => ':='.includes(char) && breaks.includes(char));
  const whole: string[] = [];
  let open = false;
  for (const word of words) {
    const joins = isBreak(word);
    if ((joins || open) && whole.length > 0) whole.push(`${whole.pop()}${word}`);
    else whole.push(word);
    open = joins;
  }
  return whole;
}

/** What bash replaces: the part of a word behind the last character that divides it. */
function brokenOff(typed: string, breaks: string): number {
  return Math.max(...[':', '='].map((char) => (breaks.includes(char) ? typed.lastIndexOf(char) : -1))) + 1;
}

async function printCandidates(program: Command, given: readonly string[], breaks: string): Promise<void> {
  const expected = expectedAt(program, joined(given, breaks));
  const connect = () => {
    const server = resolveServer(process.env, expected.options.get('--url'), expected.options.get('--context'));
    if (server.key === null) throw new CliError('refused', 'There is no key.');
    return cliClient(server, { retries: 0 });
  };
  const signal = AbortSignal.timeout(LONGEST_MS);
  const { words, files } = await candidatesFor({ expected, connect, signal });
  const from = brokenOff(expected.typed, breaks);
  for (const { word, about } of words) process.stdout.write(`${word.slice(from)}\t${printable(about)}\n`);
  if (files) process.stdout.write(':files\n');
}

export function addCompletionCommand(program: Command): void {
  addCommand<{ breaks?: string }, [string, string[]]>(program, 'completion <shell> [words...]', {
    summary: 'print what bash, zsh or fish loads to complete commands, options, sandboxes and files',
    description:
      'Ids and names come from the server, and files of sandboxes are read where they rest: nothing wakes. Names that a shell would not take as they are, are not offered. The scripts ask `completion candidates` for the words.',
    options: (command) =>
      command.option('--breaks <characters>', 'for the script of bash: where it divides words').passThroughOptions(),
    examples: [
      ['completion bash >> ~/.bashrc', 'for every bash from now on'],
      ['completion zsh >> ~/.zshrc', 'for every zsh, behind its compinit'],
      ['completion fish > ~/.config/fish/completions/winterdock.fish', 'for every fish'],
    ],
    async run({ print }, { breaks = '' }, shell, words) {
      if (shell === 'candidates') return printCandidates(program, words[0] === '--' ? words.slice(1) : words, breaks);
      const script = Object.hasOwn(COMPLETION_SCRIPTS, shell) ? COMPLETION_SCRIPTS[shell] : undefined;
      if (script === undefined) {
        throw new CliError('usage', `There is no completion for "${shell}".`, 'There is one for bash, zsh and fish.');
      }
      print({ shell, script }, () => script);
    },
  });
}
