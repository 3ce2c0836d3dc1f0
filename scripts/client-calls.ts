/** `npm run client:calls`: writes the client's table of calls and its types from the route table. Arguments: none. */
import { writeFileSync } from 'node:fs';
import { printedFiles } from './client/print-calls.ts';

for (const { path, text } of Object.values(await printedFiles())) writeFileSync(path, text);
process.stdout.write('Wrote the client’s table of calls and its types.\n');
