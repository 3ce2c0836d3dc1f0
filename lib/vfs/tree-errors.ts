/** The errors of operations on the tree; each names the volume and the path. Must not know SQLite. */
import { WinterdockError } from '../base/errors.ts';
import { ancestorsOf, type VfsPath } from './paths.ts';
import type { VfsEntry, WriteCondition } from './types.ts';
import type { Volume } from './volumes.ts';

/** A volume and a path for a message. A row of another tool may have an invalid path. */
type Named = { volume: Volume; path: string };

export function named(at: Named): string {
  return `${at.volume}:${at.path}`;
}

export function conflict(at: Named, why: string): WinterdockError {
  return new WinterdockError('conflict', `${named(at)} ${why}.`);
}

export function notFound(at: Named): WinterdockError {
  return new WinterdockError('not_found', `There is nothing at ${named(at)}.`);
}

/** Throws `too_large` when a content is larger than a file may be. */
export function requireSize(at: Named, bytes: number, maxFileBytes: number): void {
  if (bytes <= maxFileBytes) return;
  throw new WinterdockError(
    'too_large',
    `${named(at)} would have ${bytes} bytes; a file has at most ${maxFileBytes}.`,
    {
      extra: { limit: maxFileBytes },
    },
  );
}

/** Longest name in bytes of UTF-8, as on Linux. */
const MAX_NAME_BYTES = 255;

/**
 * Throws `validation` for a new name of more than 255 bytes, with which no checkout could be written. One that is there
 * already stays in use.
 */
export function requireShortNames(at: { volume: Volume; path: VfsPath }, isThere: (path: VfsPath) => boolean): void {
  if (Buffer.byteLength(at.path) <= MAX_NAME_BYTES) return;
  for (const path of [...ancestorsOf(at.path), at.path]) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (Buffer.byteLength(name) <= MAX_NAME_BYTES || isThere(path)) continue;
    const message = `A name must have at most ${MAX_NAME_BYTES} bytes`;
    throw new WinterdockError('validation', `${message}: ${JSON.stringify(`${name.slice(0, 80)}…`)}.`, {
      extra: { errors: [{ path: 'path', message: `names must have at most ${MAX_NAME_BYTES} bytes` }] },
    });
  }
}

/** Throws `validation` for a link's target that is empty, overlong or not valid text. */
export function requireTarget(at: Named, target: string): void {
  const bytes = Buffer.byteLength(target);
  if (bytes > 0 && bytes <= 1024 && !target.includes('\0') && target.isWellFormed()) return;
  throw new WinterdockError(
    'validation',
    `The target of the link ${named(at)} must be 1 to 1024 bytes of text without NUL.`,
  );
}

/** Throws `precondition_failed` unless the current file (null: none) meets every condition. */
export function requireCondition(at: Named, file: VfsEntry | null, condition: WriteCondition | undefined): void {
  if (!condition) return;
  const { ifMatch, ifNoneMatch } = condition;
  const matches = (versions: '*' | number[]) => file !== null && (versions === '*' || versions.includes(file.version));
  if (ifMatch !== undefined && !matches(ifMatch)) {
    throw new WinterdockError('precondition_failed', `${named(at)} is not the version that was expected.`, {
      hint: file === null ? 'There is nothing at that path.' : 'Read it again, then decide.',
    });
  }
  if (ifNoneMatch !== undefined && matches(ifNoneMatch)) {
    throw new WinterdockError('precondition_failed', `${named(at)} is there already.`);
  }
}
