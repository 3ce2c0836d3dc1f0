/** The words of every command: the rule of their places, the lists in their help, and what completion knows. */
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { OFFERED_POLICIES } from '../workers/protocol/policies.ts';
import { sourceOf } from './completion/candidates.ts';
import { createProgram } from './program.ts';
import { wordsInOrder } from './words-in-order.ts';

/** Every command that does something, with its name. */
function leaves(command: Command = createProgram('0'), above = ''): { name: string; command: Command }[] {
  return command.commands.flatMap((child) => {
    const name = `${above} ${child.name()}`.trim();
    return child.commands.length > 0 ? leaves(child, name) : [{ name, command: child }];
  });
}

/** Values that are free text, numbers or times: nothing is there to choose from. */
const FREE_OPTIONS =
  /^--(?:url|name|label|filter|search|reason|tag|cwd|env|cron|at|repeat|timezone|input|types|type|actor|request|to|from|since|until|around|email|tenants|header|format|address|methods|if-match|cursor|component|world|set|unset|id|as|confirm|session|breaks|accept|issuer|keep|limit|count|after|version|if-version|interval|within|step|timeout|expires-in|max-.*|hot-to-warm|idle-.*|hold-for|days|target|hourly|daily|weekly|monthly|trial-cron)$/;
const FREE_ARGUMENTS =
  /^(?:command|code|words|name|name=value|url|cron|time|to|table|delivery|address|component|keys|line|sql|parameters)$/;

test('every place of a command line has words to choose from, or takes free text', () => {
  const unknown = leaves().flatMap(({ name, command }) => {
    const options = command.options
      .filter((option) => (option.required || option.optional) && !FREE_OPTIONS.test(option.long ?? ''))
      .filter((option) => sourceOf({ place: { option }, command }) === null);
    const given = command.registeredArguments
      .filter((argument) => !FREE_ARGUMENTS.test(argument.name()))
      .filter((argument) => sourceOf({ place: { argument }, command }) === null);
    return [
      ...options.map(({ flags }) => `${name} ${flags}`),
      ...given.map((argument) => `${name} <${argument.name()}>`),
    ];
  });
  // Ids that their maker chooses.
  expect(unknown).toEqual(['create <id>', 'blueprints create <blueprint>']);
});

test('every --policy names all policies in its help', () => {
  const asking = leaves().filter(({ command }) => command.options.some(({ long }) => long === '--policy'));
  expect(asking.map(({ name }) => name)).toEqual(['create', 'set', 'resume', 'restore']);
  for (const { command } of asking) {
    for (const policy of OFFERED_POLICIES) expect(command.helpInformation()).toContain(`"${policy}"`);
  }
});

test('a sandbox stands by position or is named by --sandbox', () => {
  const shown = leaves().filter(({ command }) =>
    command.options.some(({ long, hidden }) => long === '--instance' && !hidden),
  );
  // The folder of a backup is what this one acts on, by its script's own words.
  expect(shown.map(({ name }) => name)).toEqual(['restore-backup']);
});

test('options of exec and run may stand before and after the id, and behind the command they are its own', () => {
  const program = createProgram('0');
  const inOrder = (...words: string[]) => wordsInOrder(program, words).join(' ');
  expect(inOrder('exec', 'a', '--cwd', '/x', 'ls', '--all')).toBe('exec --cwd /x a ls --all');
  expect(inOrder('exec', '--json', 'a', '--env=K=1', '-it', 'bash', '-c', 'x')).toBe(
    'exec --json --env=K=1 -it a bash -c x',
  );
  expect(inOrder('run', 'a', '-d', '--', '--odd', 'name')).toBe('run -d a -- --odd name');
  expect(inOrder('exec', 'a', '--help')).toBe('exec --help a');
  expect(inOrder('exec', 'a', 'ls', '--help')).toBe('exec a ls --help');
  expect(inOrder('list', 'a', '--help')).toBe('list a --help');
});
