/** How far long work is, on stderr: a line that is written over on a terminal, lines now and then elsewhere. */
import type { Progress } from '../client/client.ts';
import { bytesText } from './format.ts';

const TERMINAL_MS = 100;
const ELSEWHERE_MS = 1000;

export interface ProgressLine {
  /** Takes bytes that have passed, and how many there will be. */
  readonly bytes: Progress;
  /** Takes things that are done, and how many there will be. */
  readonly count: (done: number, total: number) => void;
  /** Ends it: on a terminal its line disappears, elsewhere its last state is told. */
  end(): void;
}

const SILENT: ProgressLine = { bytes: () => undefined, count: () => undefined, end: () => undefined };

/** Starts to show. `wanted` as the command line says: undefined shows on a terminal only. */
export function showProgress(label: string, wanted: boolean | undefined): ProgressLine {
  const terminal = process.stderr.isTTY === true;
  if (!(wanted ?? terminal)) return SILENT;
  let last = 0;
  let text = '';
  let written = '';
  const write = () => {
    if (written === text) return;
    written = text;
    process.stderr.write(terminal ? `\r\x1b[K${text}` : `${text}\n`);
  };
  const show = (state: string) => {
    text = `${label}: ${state}`;
    const now = performance.now();
    if (now - last < (terminal ? TERMINAL_MS : ELSEWHERE_MS)) return;
    last = now;
    write();
  };
  return {
    bytes(bytes, total) {
      const share =
        total === null || total === 0 ? '' : ` of ${bytesText(total)}, ${Math.floor((100 * bytes) / total)} %`;
      show(`${bytesText(bytes)}${share}`);
    },
    count: (done, total) => show(`${done} of ${total}`),
    end() {
      if (!terminal) write();
      else if (written !== '') process.stderr.write('\r\x1b[K');
    },
  };
}
