/**
 * The raw request target: split and percent-decoded here, before anything else could have normalised it, so that `..`,
 * NUL and double slashes are refused instead of resolved. Pure.
 */
import { WinterdockError } from '../base/errors.ts';
import { parseVfsPath, type VfsPath } from '../vfs/paths.ts';

export interface Target {
  /** Path as sent, still encoded. */
  path: string;
  /** The path's segments as sent, without the empty one before the first slash. */
  segments: string[];
  /** Query as sent, without its `?`. */
  search: string;
}

/** Splits a request target in origin form, or in absolute form as a proxy sends it. Nothing is decoded. */
export function parseTarget(raw: string): Target {
  const origin = raw.startsWith('/') ? null : /^https?:\/\/[^/?#]*/i.exec(raw);
  const target = origin === null ? raw : raw.slice(origin[0].length) || '/';
  const fragment = target.indexOf('#');
  const whole = fragment < 0 ? target : target.slice(0, fragment);
  const mark = whole.indexOf('?');
  const path = mark < 0 ? whole : whole.slice(0, mark);
  return { path, segments: path.split('/').slice(1), search: mark < 0 ? '' : whole.slice(mark + 1) };
}

/** A validation error about one input, as the problem document lists it. `what` names the input for people. */
export function invalid(path: string, message: string, what = 'path'): WinterdockError {
  return new WinterdockError('validation', `The ${what} is not valid: ${path === what ? '' : `${path}: `}${message}.`, {
    extra: { errors: [{ path, message }] },
  });
}

/**
 * Percent-decodes one segment. Throws `validation` for broken escapes, bytes that are not UTF-8, and what should have
 * been encoded.
 */
export function decodeSegment(raw: string, name: string): string {
  if (/[^\x21-\x7e]/.test(raw)) throw invalid(name, 'must be percent-encoded beyond ASCII');
  if (!raw.includes('%')) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    throw invalid(name, 'is not valid percent-encoded UTF-8');
  }
}

/**
 * The volume path that the raw segments after the volume's name spell: absolute, no empty, `.` or `..` segment in any
 * encoding, no NUL, at most 1 024 bytes. Throws `validation` for anything else.
 */
export function filePathOf(rawSegments: readonly string[]): VfsPath {
  const path = `/${rawSegments.map((segment) => decodeSegment(segment, 'path')).join('/')}`;
  for (const segment of path.slice(1).split('/')) {
    if (segment === '') throw invalid('path', 'must not contain an empty segment');
    if (segment === '.' || segment === '..') throw invalid('path', 'must not contain . or .. segments');
  }
  return parseVfsPath(path);
}
