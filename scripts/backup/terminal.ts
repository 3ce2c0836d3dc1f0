/** What the backup and restore commands say and ask. Knows nothing of backups. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Says why not. Returns the exit code. */
export function refuse(text: string): number {
  process.stderr.write(`${text}\n`);
  return 1;
}

export const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** Bytes for a person. */
export function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** Asks for a passphrase on the terminal without showing it. Throws when there is no terminal. */
export async function askPassphrase({ twice }: { twice: boolean }): Promise<string> {
  if (!process.stdin.isTTY) throw new Error('There is no terminal to ask on: set WB_BACKUP_PASSPHRASE.');
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: hidden, terminal: true });
  const ask = async (prompt: string) => {
    process.stderr.write(prompt);
    const answer = await terminal.question('');
    process.stderr.write('\n');
    return answer;
  };
  try {
    const given = await ask('Passphrase: ');
    if (twice && (await ask('Once more: ')) !== given) throw new Error('The two are not the same.');
    return given;
  } finally {
    terminal.close();
  }
}
