/** A query's answer as a table of texts. Pure. */
import type { SqlAnswer } from '#lib/contract/schema.ts';

const TEXT_SHOWN = 400;

interface Cell {
  key: number;
  text: string;
  /** `quiet`: a placeholder for a value that is not text. */
  kind: 'text' | 'number' | 'quiet';
}

export interface SqlTable {
  /** Two columns may have the same name, so the key is the position. */
  columns: { key: number; name: string; isNumeric: boolean }[];
  rows: { key: number; cells: Cell[] }[];
}

export function sqlTable({ columns, rows }: Pick<SqlAnswer, 'columns' | 'rows'>): SqlTable {
  return {
    columns: columns.map((name, key) => ({ key, name, isNumeric: isNumeric(rows.map((row) => row[key])) })),
    rows: rows.map((row, key) => ({ key, cells: row.map((value, at) => ({ key: at, ...cellOf(value) })) })),
  };
}

function isNumeric(values: unknown[]): boolean {
  const given = values.filter((value) => value !== null);
  return given.length > 0 && given.every((value) => typeof value === 'number');
}

/** `value`: a string, a number, null, or `{base64}` for bytes that are not text. */
function cellOf(value: unknown): Omit<Cell, 'key'> {
  if (value === null || value === undefined) return { text: 'NULL', kind: 'quiet' };
  if (typeof value === 'number') return { text: String(value), kind: 'number' };
  if (typeof value === 'string') {
    if (value.length <= TEXT_SHOWN) return { text: value, kind: 'text' };
    return { text: `${value.slice(0, TEXT_SHOWN)}… (${value.length.toLocaleString('en')} characters)`, kind: 'text' };
  }
  if (typeof value === 'object' && 'base64' in value && typeof value.base64 === 'string') {
    const padding = value.base64.endsWith('==') ? 2 : value.base64.endsWith('=') ? 1 : 0;
    const bytes = (value.base64.length / 4) * 3 - padding;
    return { text: `${bytes.toLocaleString('en')} bytes that are no text`, kind: 'quiet' };
  }
  return { text: JSON.stringify(value), kind: 'text' };
}
