/** Cursors of paged lists: opaque to their users; foreign ones are refused. Pure. */
import { WinterdockError } from '../base/errors.ts';
import type { RowPage } from './types.ts';

type CursorPosition = (string | number | null)[];

/** The text of a position in a list. */
export function writeCursor(position: CursorPosition): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** A page of rows of which one more was read, to see whether there is another page. `at`: the position of a row. */
export function pageOfRows<Row>(found: readonly Row[], limit: number, at: (row: Row) => CursorPosition): RowPage<Row> {
  const last = found.length > limit ? found[limit - 1] : undefined;
  return { rows: found.slice(0, limit), next: last === undefined ? null : writeCursor(at(last)) };
}

/** The same by the numbers of the rows, which only the cursor keeps. */
export function pageByNumber<Row extends { seq: number }>(
  found: readonly Row[],
  limit: number,
): RowPage<Omit<Row, 'seq'>> {
  const { rows, next } = pageOfRows(found, limit, ({ seq }) => [seq]);
  return { rows: rows.map(({ seq: _, ...row }) => row), next };
}

/** The position in a cursor when `fits` accepts it. Throws `validation` for anything else. */
export function readCursor<T extends unknown[]>(cursor: string, fits: (position: unknown[]) => position is T): T {
  const position = parse(cursor);
  if (Array.isArray(position) && fits(position)) return position;
  throw new WinterdockError('validation', 'The cursor is not from this list.', {
    hint: 'Take it unchanged from the Link header of the page before, with the same sort.',
    extra: { errors: [{ path: 'cursor', message: 'not a cursor of this list' }] },
  });
}

function parse(cursor: string): unknown {
  if (!/^[A-Za-z0-9_-]+$/.test(cursor)) return null;
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    // Text that is not JSON is one kind of invalid cursor; the caller refuses it.
    return null;
  }
}

/** Positions of lists, as the parts of their cursors. */
export function isNumberPosition(position: unknown[]): position is [number] {
  return position.length === 1 && Number.isSafeInteger(position[0]);
}

export function isTextPosition(position: unknown[]): position is [string] {
  return position.length === 1 && typeof position[0] === 'string';
}

export function isTextPairPosition(position: unknown[]): position is [string, string] {
  return position.length === 2 && position.every((part) => typeof part === 'string');
}

export function isTimeAndIdPosition(position: unknown[]): position is [number, string] {
  return position.length === 2 && typeof position[0] === 'number' && typeof position[1] === 'string';
}

export function isTimeAndNumberPosition(position: unknown[]): position is [number, number] {
  return position.length === 2 && position.every((part) => typeof part === 'number');
}
