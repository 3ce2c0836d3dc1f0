/** Numbers, times and tables as text for people. Pure. */

/** Untrusted text without terminal control sequences: control characters show as `\x1b`. */
export function printable(text: string, manyLines = false): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (char) => {
    if (manyLines && char === '\n') return char;
    return `\\x${(char.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`;
  });
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Bytes in decimal units: `1.5 MB`. */
export function bytesText(bytes: number | null): string {
  if (bytes === null) return '–';
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** Seconds as their largest unit: `45 s`, `12 min`, `3 h`, `9 d`. */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** Milliseconds with two or three digits: `4.8 ms`, `310 ms`, `2.4 s`. */
export function millisecondsText(milliseconds: number): string {
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Epoch seconds as a date and time in UTC. */
export function timeText(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString().replace('T', ' ').replace('.000Z', 'Z');
}

/** Headings of columns of numbers. */
const NUMBERS = new Set(
  'SIZE IDLE FILES BYTES TOOK SEQ SANDBOXES ACTIVE FILED CPU CALLS MEMORY DISK WAKES FAULTS AWAKE'.split(' '),
);

/** Who did it: by name, else by the ledger's id. A person without a name has no account any more. */
export function actorText(actor: string, name: string | null): string {
  return name ?? (actor.startsWith('user:') ? 'a former person' : actor);
}

/**
 * A table with headings; columns of numbers are aligned right. Ends with a newline; empty without rows.
 */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const all = [headings, ...rows.map((row) => row.map((cell) => printable(cell)))];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const right = headings.map((heading) => NUMBERS.has(heading));
  return all
    .map((row) =>
      widths
        .map((width, column) =>
          right[column] ? (row[column] ?? '').padStart(width) : (row[column] ?? '').padEnd(width),
        )
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** Names and values, one pair a line. Ends with a newline. */
export function facts(entries: readonly (readonly [string, string | null])[]): string {
  const shown = entries.filter(([, value]) => value !== null && value !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${printable(value ?? '')}\n`).join('');
}
