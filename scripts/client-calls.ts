/** `npm run client:calls`: writes the client's table of calls from the route table. Arguments: none. */
import { writeFileSync } from 'node:fs';
import { CALLS_FILE, callsText } from './client/print-calls.ts';

writeFileSync(CALLS_FILE, await callsText());
process.stdout.write('Wrote the client’s table of calls.\n');
