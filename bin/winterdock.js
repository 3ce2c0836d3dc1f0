#!/usr/bin/env node
/**
 * The command line in the repository and in a packaged folder: the TypeScript as it is, on a Node that can run it. That is this one, or else
 * the pinned one of node_modules. `start` becomes the server: built first in the repository, as it lies in a package. (The command line for
 * other projects is built; see scripts/build-client.ts.)
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { canRun } from './needs-node.cjs';

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const [command, ...rest] = process.argv.slice(2);

if (canRun([fileURLToPath(import.meta.url), ...process.argv.slice(2)])) {
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
