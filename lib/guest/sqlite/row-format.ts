/** Rows as the `sqlite3` shell prints them, in its modes. Pure. */
import type { EngineValue } from './engine-database.ts';

export const ROW_MODES = [
  'list',
  'csv',
  'json',
  'column',
  'line',
  'table',
  'box',
  'markdown',
  'tabs',
  'quote',
  'insert',
  'html',
  'ascii',
] as const;
export type RowMode = (typeof ROW_MODES)[number];

export interface RowStyle {
  mode: RowMode;
  headers: boolean;
  separator: string;
  rowSeparator: string;
  nullText: string;
  /** The table that `insert` names. */
  table: string;
  widths: number[];
}

/** Modes that need all rows before they print the first. */
export const COLUMNAR: readonly RowMode[] = ['column', 'table', 'box', 'markdown'];

/** A number as SQLite prints it: 15 digits, with a decimal point. */
function realText(value: number, digits = 15): string {
  if (Number.isNaN(value)) return 'NULL';
  if (!Number.isFinite(value)) return value > 0 ? 'Inf' : '-Inf';
  if (value === 0) return '0.0';
  const [mantissa = '', exponent = '0'] = value.toExponential(digits - 1).split('e');
  const power = Number(exponent);
  if (power < -4 || power >= digits) {
    const short = mantissa.replace(/\.?0+$/, '');
    return `${short.includes('.') ? short : `${short}.0`}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  }
  const plain = value.toFixed(Math.min(100, Math.max(0, digits - 1 - power))).replace(/0+$/, '');
  return plain.endsWith('.') ? `${plain}0` : plain.includes('.') ? plain : `${plain}.0`;
}

/** With as many digits as it takes to be this number again. */
function exactText(value: number): string {
  const digits = [15, 16, 17].find((count) => Number(value.toPrecision(count)) === value) ?? 17;
  return realText(value, digits);
}

/** The value as text; a blob's bytes up to the first NUL. */
function valueText(value: EngineValue, nullText: string): string {
  if (value === null || value === undefined) return nullText;
  if (typeof value === 'number') return realText(value);
  if (typeof value === 'bigint') return String(value);
  const text = typeof value === 'string' ? value : Buffer.from(value as Uint8Array).toString('utf8');
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}

/** The value as an SQL literal. */
export function literal(value: EngineValue): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return value > 0 ? '1e999' : '-1e999';
    return exactText(value);
  }
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return quoted(value);
  return `X'${Buffer.from(value as Uint8Array)
    .toString('hex')
    .toUpperCase()}'`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A text in an INSERT: line breaks are written by `replace`, so that a statement stays in one line. */
export function insertLiteral(value: EngineValue): string {
  if (typeof value !== 'string' || !/[\n\r]/.test(value)) return literal(value);
  let text = quoted(value.replaceAll('\n', '\\n').replaceAll('\r', '\\r'));
  if (value.includes('\\n') || value.includes('\\r'))
    return `unistr(${quoted(value.replaceAll('\\', '\\\\').replaceAll('\n', '\\u000a').replaceAll('\r', '\\u000d'))})`;
  if (value.includes('\n')) text = `replace(${text},'\\n',char(10))`;
  if (value.includes('\r')) text = `replace(${text},'\\r',char(13))`;
  return text;
}

/** What comes before the first row. */
export function headText(names: readonly string[], style: RowStyle): string {
  if (style.mode === 'json') return '[';
  if (!style.headers) return '';
  if (style.mode === 'html') return `<TR>${names.map((name) => `<TH>${htmlText(name)}</TH>`).join('\n')}\n</TR>\n`;
  if (style.mode === 'csv')
    return names.map((name) => csvText(name, style.separator)).join(style.separator) + style.rowSeparator;
  if (style.mode === 'quote') return names.map(quoted).join(style.separator) + style.rowSeparator;
  if (['list', 'tabs', 'ascii'].includes(style.mode)) return names.join(style.separator) + style.rowSeparator;
  return '';
}

/** One row; `number` counts from 0. */
export function rowText(
  names: readonly string[],
  row: readonly EngineValue[],
  number: number,
  style: RowStyle,
): string {
  const { mode, separator, rowSeparator, nullText } = style;
  switch (mode) {
    case 'csv':
      return (
        row.map((value) => csvText(valueText(value, nullText), separator, value === null)).join(separator) +
        rowSeparator
      );
    case 'json':
      return `${number === 0 ? '' : ',\n'}{${row.map((value, at) => `${jsonText(names[at] ?? '')}:${jsonValue(value)}`).join(',')}}`;
    case 'line': {
      const width = Math.max(5, ...names.map((name) => [...name].length));
      const lines = row.map(
        (value, at) => `${(names[at] ?? '').padStart(width)} = ${valueText(value, nullText)}${rowSeparator}`,
      );
      return (number === 0 ? '' : rowSeparator) + lines.join('');
    }
    case 'quote':
      return row.map(literal).join(separator) + rowSeparator;
    case 'insert': {
      const columns = style.headers ? `(${names.map(identifier).join(',')})` : '';
      return `INSERT INTO ${identifier(style.table)}${columns} VALUES(${row.map(insertLiteral).join(',')});\n`;
    }
    case 'html':
      return `<TR>${row.map((value) => `<TD>${htmlText(valueText(value, nullText))}</TD>`).join('\n')}\n</TR>\n`;
    default:
      return row.map((value) => valueText(value, nullText)).join(separator) + rowSeparator;
  }
}

export function tailText(rows: number, style: RowStyle): string {
  return style.mode === 'json' && rows > 0 ? ']\n' : '';
}

/** All rows of a mode with columns. */
export function columnarText(
  names: readonly string[],
  rows: readonly (readonly EngineValue[])[],
  style: RowStyle,
): string {
  if (rows.length === 0) return '';
  const cells = rows.map((row) => row.map((value) => valueText(value, style.nullText).split(/\r?\n/)));
  const width = (text: string) => [...text].length;
  const widths = names.map((name, at) =>
    Math.max(
      style.mode === 'column' && !style.headers ? 0 : width(name),
      Math.abs(style.widths[at] ?? 0),
      ...cells.map((row) => Math.max(...(row[at] ?? ['']).map(width))),
    ),
  );
  const padded = (text: string, at: number) => text + ' '.repeat(Math.max(0, (widths[at] ?? 0) - width(text)));
  const centred = (text: string, at: number) => {
    const space = Math.max(0, (widths[at] ?? 0) - width(text));
    return ' '.repeat(Math.floor(space / 2)) + text + ' '.repeat(Math.ceil(space / 2));
  };
  const lines = (row: readonly (readonly string[])[], start: string, between: string, end: string) => {
    const height = Math.max(...row.map((cell) => cell.length));
    return Array.from(
      { length: height },
      (_, line) => start + row.map((cell, at) => padded(cell[line] ?? '', at)).join(between) + end,
    );
  };
  if (style.mode === 'column') {
    const head = style.headers
      ? [names.map(padded).join('  '), widths.map((count) => '-'.repeat(count)).join('  ')]
      : [];
    return [...head, ...cells.flatMap((row) => lines(row, '', '  ', ''))].map((line) => `${line}\n`).join('');
  }
  const frame = FRAMES[style.mode as 'table' | 'box' | 'markdown'];
  const rule = ([start, fill, cross, end]: readonly [string, string, string, string]) =>
    start + widths.map((count) => fill.repeat(count + 2)).join(cross) + end;
  const isMarkdown = style.mode === 'markdown';
  return [
    ...(isMarkdown ? [] : [rule(frame.top)]),
    `${frame.side} ${names.map(centred).join(` ${frame.side} `)} ${frame.side}`,
    rule(frame.middle),
    ...cells.flatMap((row) => lines(row, `${frame.side} `, ` ${frame.side} `, ` ${frame.side}`)),
    ...(isMarkdown ? [] : [rule(frame.bottom)]),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

type Rule = readonly [start: string, fill: string, cross: string, end: string];
const PLAIN: Rule = ['+', '-', '+', '+'];
const FRAMES: Readonly<Record<'table' | 'box' | 'markdown', { side: string; top: Rule; middle: Rule; bottom: Rule }>> =
  {
    table: { side: '|', top: PLAIN, middle: PLAIN, bottom: PLAIN },
    box: { side: '│', top: ['┌', '─', '┬', '┐'], middle: ['├', '─', '┼', '┤'], bottom: ['└', '─', '┴', '┘'] },
    markdown: { side: '|', top: PLAIN, middle: ['|', '-', '|', '|'], bottom: PLAIN },
  };

/** A name as SQL has it: in quotes when it needs them. */
export function identifier(name: string): string {
  const isPlain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !KEYWORDS.has(name.toUpperCase());
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`;
}

const KEYWORDS = new Set(
  'ABORT ACTION ADD AFTER ALL ALTER ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN BY CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DROP EACH ELSE END ESCAPE EXCEPT EXCLUSIVE EXISTS EXPLAIN FAIL FOR FOREIGN FROM FULL GLOB GROUP HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INNER INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LEFT LIKE LIMIT MATCH NATURAL NO NOT NOTNULL NULL OF OFFSET ON OR ORDER OUTER PLAN PRAGMA PRIMARY QUERY RAISE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT RIGHT ROLLBACK ROW SAVEPOINT SELECT SET TABLE TEMP TEMPORARY THEN TO TRANSACTION TRIGGER UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WITH WITHOUT'.split(
    ' ',
  ),
);

function csvText(text: string, separator: string, isNull = false): string {
  if (isNull) return text;
  const special = text === '' || /[\x00-\x20"'\x7f-\uffff]/.test(text) || text.includes(separator);
  return special ? `"${text.replaceAll('"', '""')}"` : text;
}

function jsonText(text: string): string {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007f');
}

function jsonValue(value: EngineValue): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? exactText(value) : value > 0 ? '1e999' : '-1e999';
  if (typeof value === 'string') return jsonText(value);
  const escaped = [...Buffer.from(value as Uint8Array)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
      ? `\\u00${byte.toString(16).padStart(2, '0')}`
      : String.fromCharCode(byte),
  );
  return `"${escaped.join('')}"`;
}

function htmlText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
