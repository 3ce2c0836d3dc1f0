/** `npm run docs:cli`: writes docs/cli.md from the command line's own help. */
import { writeFileSync } from 'node:fs';
import { HELP_FILE, helpText } from './client/print-help.ts';

writeFileSync(HELP_FILE, helpText());
process.stdout.write('Wrote docs/cli.md.\n');
