/** Child processes for the tests of the VFS, ended with the test. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const ENTRIES = {
  holder: new URL('./holder.ts', import.meta.url),
  shippingWriter: new URL('./shipping-writer.ts', import.meta.url),
  server: new URL('./server.ts', import.meta.url),
  writer: new URL('./writer.ts', import.meta.url),
};

/** Starts one of the entry points beside this file. */
export function startProcess(entry: keyof typeof ENTRIES, ...args: string[]): ChildProcess {
  const child = fork(fileURLToPath(ENTRIES[entry]), args, { execArgv: ['--no-warnings'] });
  onTestFinished(() => kill(child));
  return child;
}

/**
 * A process that has the file open: `live` with an open group of writes, `beside` connected only, `reading` inside a
 * read transaction.
 */
export async function holdFile(file: string, how: 'live' | 'beside' | 'reading'): Promise<ChildProcess> {
  const child = startProcess('holder', file, how);
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (message !== 'holding') throw new Error(`The holder ended with ${message}.`);
  return child;
}

/** SIGKILL, and waits until the process is gone. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
