/** Cursors of paged lists: opaque to their users; foreign ones are refused. Pure. */
import { WinterdockError } from '../base/errors.ts';

/** The text of a position in a list. */
export function writeCursor(position: (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
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
