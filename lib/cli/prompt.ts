/** Questions to the person at the terminal. Without a terminal a question fails with a usage error. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { CliError } from './failure.ts';

/** Whether a person can answer: stdin and stderr are terminals. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks for a yes. Throws a usage error for any other answer, or without a terminal. */
export async function confirm(question: string, signal: AbortSignal): Promise<void> {
  if (!isInteractive())
    throw new CliError('usage', `${question} There is no terminal to answer on.`, 'Add --yes to go ahead.');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('usage', 'Nothing was done.');
  } finally {
    lines.close();
  }
}

/**
 * Asks the person to type a name. Throws a usage error for any other text, or without a terminal; its hint names
 * `option`, which confirms without a question.
 */
export async function confirmName(question: string, name: string, option: string, signal: AbortSignal): Promise<void> {
  if (!isInteractive())
    throw new CliError('usage', `${question} There is no terminal to answer on.`, `Add ${option} ${name} to go ahead.`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${question} Type ${name} to go ahead: `, { signal });
    if (answer.trim() !== name) throw new CliError('usage', 'Nothing was done.');
  } finally {
    lines.close();
  }
}

/** Asks for a secret without showing it. */
export async function promptSecret(question: string, signal: AbortSignal): Promise<string> {
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return (await lines.question('', { signal })).trim();
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

/** All of stdin, as text. */
export function readStdin(): Promise<string> {
  return text(process.stdin);
}

/** All of stdin, as bytes. */
export function readStdinBytes(): Promise<Buffer> {
  return buffer(process.stdin);
}
