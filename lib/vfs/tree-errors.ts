/** The errors of operations on the tree; each names the volume and the path. Must not know SQLite. */
import { WinterdockError } from '../base/errors.ts';
import { normalisePath } from './paths.ts';
import type { VfsAddress, VfsEntry, WriteCondition } from './types.ts';
import { asVolume } from './volumes.ts';

/** Checks a volume's name and brings a path into its one form. Throws `unknown_volume`, `validation`. */
export function parseAddress(volume: string, path: string): VfsAddress {
  return { volume: asVolume(volume), path: normalisePath(path) };
}

export function named(at: VfsAddress): string {
  return `${at.volume}:${at.path}`;
}

export function conflict(at: VfsAddress, why: string): WinterdockError {
  return new WinterdockError('conflict', `${named(at)} ${why}.`);
}

export function notFound(at: VfsAddress): WinterdockError {
  return new WinterdockError('not_found', `There is nothing at ${named(at)}.`);
}

/** Throws `too_large` when a content has more bytes than a file may have. */
export function requireSize(at: VfsAddress, bytes: number, maxFileBytes: number): void {
  if (bytes <= maxFileBytes) return;
  throw new WinterdockError(
    'too_large',
    `${named(at)} would have ${bytes} bytes; a file has at most ${maxFileBytes}.`,
    {
      extra: { limit: maxFileBytes },
    },
  );
}

/** Throws `validation` for a link's target that is empty, overlong or no text. */
export function requireTarget(at: VfsAddress, target: string): void {
  const bytes = Buffer.byteLength(target);
  if (bytes > 0 && bytes <= 1024 && !target.includes('\0') && target.isWellFormed()) return;
  throw new WinterdockError(
    'validation',
    `The target of the link ${named(at)} must be 1 to 1024 bytes of text without NUL.`,
  );
}

/** Throws `precondition_failed` unless the file that is there (null: none) meets every condition given. */
export function requireCondition(at: VfsAddress, file: VfsEntry | null, condition: WriteCondition | undefined): void {
  if (!condition) return;
  const { ifMatch, ifNoneMatch } = condition;
  const matches = (versions: '*' | number[]) => file !== null && (versions === '*' || versions.includes(file.version));
  if (ifMatch !== undefined && !matches(ifMatch)) {
    throw new WinterdockError('precondition_failed', `${named(at)} is not the version that was expected.`, {
      hint: file === null ? 'There is nothing at that path.' : 'Read it again and decide anew.',
    });
  }
  if (ifNoneMatch !== undefined && matches(ifNoneMatch)) {
    throw new WinterdockError('precondition_failed', `${named(at)} is there already.`);
  }
}
