/** Progress on stderr: on a terminal one line that is overwritten, elsewhere a new line every second. */
import type { Progress } from '../client/client.ts';
import { bytesText } from './format.ts';

const TERMINAL_MS = 100;
const ELSEWHERE_MS = 1000;

export interface ProgressLine {
  /** Reports the bytes transferred, and the total. */
  readonly bytes: Progress;
  /** Reports the things done, and the total. */
  readonly count: (done: number, total: number) => void;
  /** Ends it: on a terminal the line disappears, elsewhere the last state is printed. */
  end(): void;
}

const SILENT: ProgressLine = { bytes: () => undefined, count: () => undefined, end: () => undefined };

/** Starts it. `wanted`: the `--progress` option; undefined shows progress on a terminal only. */
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
