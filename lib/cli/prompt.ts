/**
 * Questions to the person at the terminal. Without one there are no answers: what would be asked is refused instead.
 */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { CliError } from './failure.ts';

/** Whether somebody is there to answer. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks for a yes. Throws a usage error when the answer is another, or when nobody can be asked. */
export async function confirm(question: string, signal: AbortSignal): Promise<void> {
  if (!isInteractive()) throw new CliError('usage', `${question} Nobody is here to say so.`, 'Say --yes to go ahead.');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('usage', 'Nothing was done.');
  } finally {
    lines.close();
  }
}

/**
 * Asks for a name to be typed. Throws a usage error when another is, or when nobody can be asked; `option` says it
 * without asking.
 */
export async function confirmName(question: string, name: string, option: string, signal: AbortSignal): Promise<void> {
  if (!isInteractive())
    throw new CliError('usage', `${question} Nobody is here to say so.`, `Say ${option} ${name} to go ahead.`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${question} Type ${name} to go ahead: `, { signal });
    if (answer.trim() !== name) throw new CliError('usage', 'Nothing was done.');
  } finally {
    lines.close();
  }
}

/** Asks for a secret, which is not shown while it is typed. */
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

/** Everything that comes on stdin, as text. */
export function readStdin(): Promise<string> {
  return text(process.stdin);
}

/** Everything that comes on stdin, byte by byte. */
export function readStdinBytes(): Promise<Buffer> {
  return buffer(process.stdin);
}
