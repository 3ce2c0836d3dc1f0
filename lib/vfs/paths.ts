/**
 * Paths inside a volume: absolute, normalised, bounded. They are parsed once, where they come in; deeper code relies on
 * the branded type. Pure; must not know SQLite.
 */
import { WinterdockError } from '../base/errors.ts';

declare const brand: unique symbol;

/** A normalised path inside a volume. Only `parseVfsPath` and the functions of this file make one. */
export type VfsPath = string & { readonly [brand]: 'VfsPath' };

/** Longest path in bytes of UTF-8. */
const MAX_PATH_BYTES = 1024;

/**
 * Normalises a path: absolute, without empty, `.` or trailing segments. Throws `validation` for a path that is not
 * absolute, has a `..` segment, a NUL or an unpaired surrogate, or is longer than 1 024 bytes.
 */
export function parseVfsPath(path: string): VfsPath {
  if (typeof path !== 'string' || !path.startsWith('/')) throw refused(path, 'must begin with a slash');
  if (path.includes('\0')) throw refused(path, 'must not contain NUL');
  if (!path.isWellFormed()) throw refused(path, 'must be valid Unicode');
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) throw refused(path, 'must not contain a ".." segment');
  const normal = `/${segments.join('/')}`;
  if (Buffer.byteLength(normal) > MAX_PATH_BYTES) throw refused(path, `must have at most ${MAX_PATH_BYTES} bytes`);
  return normal as VfsPath;
}

/** The parent directory of a path; `/` for the root itself. */
export function parentPath(path: VfsPath): VfsPath {
  return (path.slice(0, path.lastIndexOf('/')) || '/') as VfsPath;
}

/** Every directory above a path, from the top, without the root. */
export function ancestorsOf(path: VfsPath): VfsPath[] {
  const ancestors: VfsPath[] = [];
  for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1))
    ancestors.push(path.slice(0, at) as VfsPath);
  return ancestors;
}

/**
 * The range of everything below a directory in SQLite's byte order: `above < path < below`.
 * `0` is the character after the slash.
 */
export function subtreeOf(directory: string): { above: string; below: string } {
  const base = directory === '/' ? '' : directory;
  return { above: `${base}/`, below: `${base}0` };
}

function refused(path: unknown, why: string): WinterdockError {
  const shown =
    typeof path === 'string' ? JSON.stringify(path.length > 80 ? `${path.slice(0, 80)}…` : path) : String(path);
  return new WinterdockError('validation', `The path ${shown} ${why}.`, {
    extra: { errors: [{ path: 'path', message: why }] },
  });
}
