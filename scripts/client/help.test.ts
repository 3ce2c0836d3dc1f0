import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProgram } from '../../lib/cli/program.ts';
import { HELP_FILE, helpText } from './print-help.ts';

test('docs/cli.md is what the command line says of itself', () => {
  expect(readFileSync(HELP_FILE, 'utf8'), 'run `npm run docs:cli`').toBe(helpText());
});

/**
 * Of the machine and not of a server's API: they tell people what they do, and programs how it ended, by their exit
 * code.
 */
const SAY_NO_JSON = ['start', 'restore-backup', 'server-keys', 'root', 'ledger-verify'];

test('every command teaches with an example that calls it by its name, and takes --json', () => {
  const commands = createProgram('0.0.0').commands.flatMap((command) =>
    command.commands.length === 0 ? [command] : command.commands,
  );
  expect(commands.length).toBeGreaterThan(20);
  for (const command of commands) {
    const name =
      command.parent?.name() === 'winterdock' ? command.name() : `${command.parent?.name()} ${command.name()}`;
    const section = helpText().split(`## winterdock ${name}\n`)[1]?.split('\n## ')[0] ?? '';
    expect(section, name).toMatch(new RegExp(`Examples:\\n(.*\\n)*.*winterdock ${name}\\b`));
    if (SAY_NO_JSON.includes(name)) expect(section, name).not.toContain('--json');
    else expect(section, name).toContain('--json');
  }
});
