/** For tests: a program in a real terminal (a pseudo-terminal that `script` of util-linux makes), to be typed into. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { vi } from 'vitest';

export interface Terminal {
  /** All that it has shown so far, what was typed included. */
  shown(): string;
  /** Types keys: a line ends with `\r`. */
  type(keys: string): void;
  /** Waits until it shows this after `from` characters. Returns how much it has shown then. */
  shows(text: string, from?: number): Promise<number>;
  /** All that it showed, when the program has ended. */
  ended: Promise<string>;
  exit(): number | null;
  end(): void;
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/** Starts a program in a terminal. */
export function inTerminal(words: readonly string[], options: { env?: Record<string, string> } = {}): Terminal {
  const command = `stty cols 100 rows 30; exec ${words.map(quoted).join(' ')}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm', ...options.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  child.stdin.on('error', () => undefined);
  return {
    shown: () => shown,
    type: (keys) => child.stdin.write(keys),
    async shows(text, from = 0) {
      await vi.waitFor(() => {
        if (!shown.includes(text, from)) throw new Error(`The terminal shows no "${text}":\n${shown.slice(from)}`);
      }, 240_000);
      return shown.length;
    },
    ended: once(child, 'close').then(() => shown),
    exit: () => child.exitCode,
    end: () => child.kill('SIGTERM'),
  };
}
