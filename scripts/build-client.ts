/**
 * `npm run build:client`: makes the package of the client and the command line in `dist/client`, to be packed or
 * installed from there.
 */
import { join } from 'node:path';
import { ROOT } from './build.ts';
import { buildClient } from './client/build.ts';

const folder = join(ROOT, 'dist', 'client');
buildClient(folder);
process.stdout.write('Built dist/client. `npm pack ./dist/client` makes the file that other projects install.\n');
