#!/usr/bin/env node
/**
 * The command line in the repository: the TypeScript as it is, on a Node that can run it. That is this one, or else the pinned one
 * of node_modules. (The package for other projects is built; see scripts/build-client.ts.)
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { here, whatIsWrong } from './needs-node.cjs';

const main = fileURLToPath(new URL('../lib/cli/main.ts', import.meta.url));
const pinned = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
const wrong = whatIsWrong(here);

if (wrong === null) {
  await import(main);
} else if (existsSync(pinned)) {
  const child = spawn(pinned, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
} else {
  process.stderr.write(`${wrong}\n`);
  process.exitCode = 1;
}
