/** What the `sqlite3` shell says of itself and of errors. */
import { SqliteFailure } from './engine-database.ts';

export const SHELL_USAGE = `Usage: sqlite3 [OPTIONS] FILENAME [SQL]
FILENAME is the name of an SQLite database. A new database is created
if the file does not previously exist.
OPTIONS include:
   -ascii               set output mode to 'ascii'
   -bail                stop after hitting an error
   -box                 set output mode to 'box'
   -column              set output mode to 'column'
   -cmd COMMAND         run "COMMAND" before reading stdin
   -csv                 set output mode to 'csv'
   -echo                print inputs before execution
   -[no]header          turn headers on or off
   -help                show this message
   -html                set output mode to HTML
   -init FILENAME       read/process named file
   -json                set output mode to 'json'
   -line                set output mode to 'line'
   -list                set output mode to 'list'
   -markdown            set output mode to 'markdown'
   -newline SEP         set output row separator. Default: '\\n'
   -nullvalue TEXT      set text string for NULL values. Default ''
   -quote               set output mode to 'quote'
   -readonly            open the database read-only
   -separator SEP       set output column separator. Default: '|'
   -table               set output mode to 'table'
   -tabs                set output mode to 'tabs'
   -version             show SQLite version
`;

/** In which phase a statement failed, and its text. */
const failedPhase = new WeakMap<SqliteFailure, 'prepare' | 'step'>();
const failedText = new WeakMap<SqliteFailure, string>();

export function phase<T>(name: 'prepare' | 'step', sql: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof SqliteFailure) {
      failedPhase.set(error, name);
      failedText.set(error, sql);
    }
    throw error;
  }
}

export function phaseOf(error: SqliteFailure): string {
  const name = failedPhase.get(error);
  return name === 'prepare' ? 'in prepare, ' : name === 'step' ? 'stepping, ' : '';
}

/** The message with its code and the place in the SQL. */
export function describedFailure(error: SqliteFailure): string {
  return (
    error.message + (error.code > 1 ? ` (${error.code})` : '') + placeText(failedText.get(error) ?? '', error.offset)
  );
}

/** The SQL around the error, with an arrow. */
function placeText(sql: string, offset: number): string {
  let text = Buffer.from(sql);
  let at = offset;
  if (at < 0 || at >= text.length) return '';
  while (at > 50) {
    do {
      at -= 1;
      text = text.subarray(1);
    } while (((text[0] ?? 0) & 0xc0) === 0x80);
  }
  let length = Math.min(text.length, 78);
  while (length > 0 && length < text.length && ((text[length] ?? 0) & 0xc0) === 0x80) length -= 1;
  const shown = text.toString('utf8', 0, length).replaceAll(/\s/g, ' ');
  const arrow = at < 25 ? `${' '.repeat(at)}^--- error here` : `${' '.repeat(Math.max(0, at - 14))}error here ---^`;
  return `\n  ${shown}\n  ${arrow}`;
}

/** Escapes of `-separator` and `.separator`. */
export function unescaped(text: string): string {
  const named: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\', '0': '\0' };
  return text.replaceAll(/\\(x[0-9a-fA-F]{2}|[tnr\\0])/g, (whole, key: string) =>
    key.startsWith('x') ? String.fromCharCode(Number.parseInt(key.slice(1), 16)) : (named[key] ?? whole),
  );
}

/** Whether a statement failed before it ran. */
export function isParseFailure(error: SqliteFailure): boolean {
  return failedPhase.get(error) === 'prepare';
}
