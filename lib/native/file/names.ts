/** Names and paths as bytes. Pure. */
import { EINVAL, ENAMETOOLONG, endWith } from './errno.ts';

const MAX_NAME_BYTES = 255;
const SLASH = 47;
const DOT = 46;

/** Whether Linux can have a file of this name. */
export function isFileName(name: Uint8Array): boolean {
  if (name.length === 0 || name.length > MAX_NAME_BYTES) return false;
  if (name[0] === DOT && (name.length === 1 || (name.length === 2 && name[1] === DOT))) return false;
  return !name.includes(0) && !name.includes(SLASH);
}

/** Refuses a name that no file can have. */
export function requireFileName(name: Uint8Array): void {
  if (name.length > MAX_NAME_BYTES) endWith(ENAMETOOLONG);
  if (!isFileName(name)) endWith(EINVAL);
}

/** The path of an entry of a directory, whose own path is empty for the root of a volume. */
export function entryPath(directory: Buffer, name: Uint8Array): Buffer {
  const path = Buffer.allocUnsafe(directory.length + 1 + name.length);
  path.set(directory, 0);
  path[directory.length] = SLASH;
  path.set(name, directory.length + 1);
  return path;
}
