#!/usr/bin/env node
/**
 * The command line, in the repository and in a packaged folder: runs the TypeScript sources with this Node, or with the
 * pinned one in node_modules when this one is too old. `start` runs the server in this process; in the repository it
 * builds the console first. The command line for other projects is compiled by scripts/build-client.ts.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { continueOrHandOver } from './supported-node.cjs';

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const [command, ...rest] = process.argv.slice(2);

if (continueOrHandOver([fileURLToPath(import.meta.url), ...process.argv.slice(2)])) {
  if (command === 'start' && !rest.some((word) => word === '--help' || word === '-h')) {
    const building = file('scripts/start.ts');
    const server = existsSync(building) ? building : file('lib/front/server.ts');
    process.argv = [process.argv[0], server, ...rest];
    process.env.NODE_ENV = 'production';
    await import(server);
  } else {
    await import(file('lib/cli/main.ts'));
  }
}
