/** Conditional requests and byte ranges: ETags made from versions, preconditions, `Range`. Pure. */
import type { WriteCondition } from '../workers/protocol/instance.ts';

/** The ETag of a file's version. */
export function etagOf(version: number): string {
  return `"v${version}"`;
}

/**
 * Reads `If-Match` or `If-None-Match`: `*`, or the versions of the ETags that are ours. Tags of other shapes name no
 * version, so a list of them matches nothing. `weak` accepts weak tags, as `If-None-Match` compares.
 */
export function versionsOf(header: string, weak: boolean): '*' | number[] {
  if (header.trim() === '*') return '*';
  const versions: number[] = [];
  for (const [, prefix, version] of header.matchAll(/(W\/)?"(?:v(\d{1,16})|[^"]*)"/g)) {
    if (version !== undefined && (weak || prefix === undefined)) versions.push(Number(version));
  }
  return versions;
}

/** The precondition of a write, from its headers; undefined when there is none. */
export function writeConditionOf(headers: { ifMatch?: string; ifNoneMatch?: string }): WriteCondition | undefined {
  if (headers.ifMatch === undefined && headers.ifNoneMatch === undefined) return undefined;
  return {
    ...(headers.ifMatch === undefined ? {} : { ifMatch: versionsOf(headers.ifMatch, false) }),
    ...(headers.ifNoneMatch === undefined ? {} : { ifNoneMatch: versionsOf(headers.ifNoneMatch, true) }),
  };
}

export interface ReadHeaders {
  ifMatch: string | null;
  ifNoneMatch: string | null;
  ifModifiedSince: string | null;
  ifUnmodifiedSince: string | null;
}

/** What the preconditions of a read say about a file that exists, in the order that RFC 9110 (13.2.2) gives them. */
export function readVerdict(
  headers: ReadHeaders,
  file: { version: number; mtime: number },
): 'send' | 'not_modified' | 'failed' {
  const names = (versions: '*' | number[]) => versions === '*' || versions.includes(file.version);
  if (headers.ifMatch !== null) {
    if (!names(versionsOf(headers.ifMatch, false))) return 'failed';
  } else if (headers.ifUnmodifiedSince !== null) {
    const since = Date.parse(headers.ifUnmodifiedSince);
    if (Number.isFinite(since) && file.mtime * 1000 > since) return 'failed';
  }
  if (headers.ifNoneMatch !== null) return names(versionsOf(headers.ifNoneMatch, true)) ? 'not_modified' : 'send';
  if (headers.ifModifiedSince !== null) {
    const since = Date.parse(headers.ifModifiedSince);
    if (Number.isFinite(since) && file.mtime * 1000 <= since) return 'not_modified';
  }
  return 'send';
}

export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/**
 * The one range that a `Range` header asks of a file of `size` bytes. `whole`: there is none, it is not in bytes, is
 * malformed or lists several, and the whole file is the answer. `unsatisfiable`: it starts past the end.
 */
export function rangeOf(header: string | null, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = header === null ? null : /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header.replaceAll(' ', ''));
  const [, first, last] = match ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Number(last);
  if (last !== '' && end < start) return 'whole';
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(end, size - 1) };
}
