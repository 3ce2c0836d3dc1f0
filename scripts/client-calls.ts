/** `npm run client:calls`: writes the clients' tables of calls and their types from the route table. */
import { writeFileSync } from 'node:fs';
import { printedFiles } from './client/print-calls.ts';
import { printedPython } from './client/print-python.ts';

const files = [...Object.values(await printedFiles()), ...printedPython()];
for (const { path, text } of files) writeFileSync(path, text);
process.stdout.write('Wrote the clients’ tables of calls and their types.\n');
