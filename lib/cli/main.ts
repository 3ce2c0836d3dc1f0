#!/usr/bin/env node
/** The entry point of the command line: parses, runs, and turns errors into exit codes. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { exitCode } from './exit-codes.ts';
import { reportFailure } from './failure.ts';
import { createProgram } from './program.ts';
import { wordsInOrder } from './words-in-order.ts';

/** The version of the package that this file is part of, built or not. */
function version(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const path = join(folder, 'package.json');
    if (existsSync(path)) return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
    if (folder === dirname(folder)) return '0.0.0';
  }
}

// A reader that stops early (`| head`) is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
// Nor is one of what is said beside the answer: what is under way, such as a plan of several hops, goes on to its end.
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  const program = createProgram(version());
  await program.parseAsync(wordsInOrder(program, process.argv.slice(2)), { from: 'user' });
} catch (error) {
  // Commander has printed the problem or the help before it throws.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCode('usage');
  else process.exitCode = reportFailure(error, process.argv.includes('--json'));
}
