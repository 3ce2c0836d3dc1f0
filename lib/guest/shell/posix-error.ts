/** POSIX file system errors, which the shell's commands expect and print. */
import { isWinterdockError } from '../../base/errors.ts';

/** The words of GNU's tools. */
export const POSIX_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'Permission denied',
  EBUSY: 'Device or resource busy',
  EEXIST: 'File exists',
  EFBIG: 'File too large',
  EILSEQ: 'Invalid or incomplete multibyte or wide character',
  EINVAL: 'Invalid argument',
  EIO: 'Input/output error',
  EISDIR: 'Is a directory',
  ELOOP: 'Too many levels of symbolic links',
  ENAMETOOLONG: 'File name too long',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space left on device',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  EPERM: 'Operation not permitted',
  EROFS: 'Read-only file system',
};

/** `ENOENT: no such file or directory, '/workspace/a'`. */
export function posixError(code: string, what: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${what}, '${path}'`), { code });
}

/** Whether it is an error of permissions. */
export function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EACCES';
}

/** The words of GNU's tools for a POSIX error; undefined for any other. */
export function reasonFor(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? POSIX_REASONS[String(error.code)] : undefined;
}

/** The same with the path in front of it: `/workspace/a: Is a directory`. */
export function sentenceFor(error: unknown): string | undefined {
  const reason = reasonFor(error);
  const path = error instanceof Error ? /'(.*)'$/s.exec(error.message)?.[1] : undefined;
  return reason === undefined || path === undefined ? reason : `${path}: ${reason}`;
}

/** Runs a change of the VFS at a path of the shell. Translates the VFS's errors into POSIX errors. */
export function asPosix<T>(path: string, change: () => T): T {
  try {
    return change();
  } catch (error) {
    throw isWinterdockError(error) ? translated(error.code, error.message, path) : error;
  }
}

function translated(code: string, message: string, path: string): Error {
  switch (code) {
    case 'quota_exceeded':
      return posixError('ENOSPC', 'No space left on device', path);
    case 'too_large':
      return posixError('EFBIG', 'File too large', path);
    case 'not_found':
      return posixError('ENOENT', 'no such file or directory', path);
    case 'registry_unavailable':
    case 'storage_unavailable':
      return posixError('EIO', 'Input/output error', path);
    case 'validation':
      return /at most \d+ bytes/.test(message)
        ? posixError('ENAMETOOLONG', 'File name too long', path)
        : posixError('EINVAL', 'invalid argument', path);
    case 'conflict':
      if (message.endsWith('is not a directory.')) return posixError('ENOTDIR', 'not a directory', path);
      if (message.endsWith('is not empty.')) return posixError('ENOTEMPTY', 'directory not empty', path);
      if (message.endsWith('is a directory.')) return posixError('EISDIR', 'illegal operation on a directory', path);
      if (message.endsWith('inside what is moved.')) return posixError('EINVAL', 'invalid argument', path);
      return posixError('EEXIST', 'file already exists', path);
    default:
      return posixError('EIO', message, path);
  }
}
