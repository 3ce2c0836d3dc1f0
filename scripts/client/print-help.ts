/** The command line's own help as a document: every command, as `--help` says it. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../../lib/cli/program.ts';
import { ROOT } from '../build.ts';

export const HELP_FILE = join(ROOT, 'docs', 'cli.md');
const WIDTH = 100;

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (piece) => {
      text += piece;
    },
    getOutHelpWidth: () => WIDTH,
  });
  command.outputHelp();
  return text.trim();
}

function sections(command: Command, path: string): string[] {
  const own = `## ${path}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`;
  return [own, ...command.commands.flatMap((child) => sections(child, `${path} ${child.name()}`))];
}

/** The whole document. */
export function helpText(): string {
  const [first = '', ...rest] = sections(createProgram('0.0.0'), 'winterdock');
  return `# The command line

Printed from the program's own help by \`npm run docs:cli\`; not to be written by hand. In the repository it runs as \`npx winterdock\`.

${[first.replace('## winterdock\n\n', ''), ...rest].join('\n')}`;
}
