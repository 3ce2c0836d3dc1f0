#!/usr/bin/env node
/**
 * The command line in the repository and in a packaged folder: the TypeScript as it is, on a Node that can run it. That is this one, or else
 * the pinned one of node_modules. `start` becomes the server: built first in the repository, as it lies in a package. (The command line for
 * other projects is built; see scripts/build-client.ts.)
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { here, whatIsWrong } from './needs-node.cjs';

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const main = file('lib/cli/main.ts');
const pinned = file('node_modules/.bin/node');
const wrong = whatIsWrong(here);
const [command, ...rest] = process.argv.slice(2);

if (wrong === null && command === 'start' && !rest.some((word) => word === '--help' || word === '-h')) {
  const building = file('scripts/start.ts');
  const server = existsSync(building) ? building : file('lib/server.ts');
  process.argv = [process.argv[0], server, ...rest];
  process.env.NODE_ENV = 'production';
  await import(server);
} else if (wrong === null) {
  await import(main);
} else if (existsSync(pinned)) {
  const child = spawn(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
} else {
  process.stderr.write(`${wrong}\n`);
  process.exitCode = 1;
}
