/** Which names objects may have. Pure. */
import { WinterdockError } from '../../base/errors.ts';

const PART = '[A-Za-z0-9_][A-Za-z0-9._=+@-]{0,199}';
const NAME = new RegExp(`^${PART}(?:/${PART})*$`);
/** Of the marker of the installation whose place it is. */
export const MARKER_NAME = 'winterdock.json';
/** A name, the beginning of one, or nothing. */
const PREFIX = new RegExp(`^(?:${PART}/)*(?:${PART})?$`);
/** S3 allows 1024 bytes, of which the installation's prefix takes a part. */
const MOST = 700;

export function isObjectName(name: string): boolean {
  return name.length <= MOST && NAME.test(name);
}

/** Throws `validation` for anything that is no name of an object. */
export function requireObjectName(name: string): void {
  if (!isObjectName(name)) throw new WinterdockError('validation', 'This is no name of an object.');
}

/** Throws `validation` for anything that no name can begin with. */
export function requireObjectPrefix(prefix: string): void {
  if (prefix.length > MOST || !PREFIX.test(prefix)) {
    throw new WinterdockError('validation', 'No name of an object begins like this.');
  }
}
