/** Paths as git prints them. Pure. */

import { C_ESCAPED_BYTES } from '../c-escapes.ts';

const NAMED: Readonly<Record<number, string>> = { ...C_ESCAPED_BYTES, 34: '\\"', 92: '\\\\' };

/** In quotes when it has control characters, quotes, backslashes or bytes beyond ASCII; `spaces`: or spaces. */
export function quotedPath(path: string, { spaces = false } = {}): string {
  const special = /[\x00-\x1f\x7f-\uffff"\\]/;
  if (!special.test(path) && !(spaces && path.includes(' '))) return path;
  const quoted = [...Buffer.from(path)].map(
    (byte) =>
      NAMED[byte] ??
      (byte < 0x20 || byte >= 0x7f ? `\\${byte.toString(8).padStart(3, '0')}` : String.fromCharCode(byte)),
  );
  return `"${quoted.join('')}"`;
}

/** `path` from the directory `from`, both relative to one root; `./` for the directory itself. */
export function relativePath(path: string, from: string): string {
  if (from === '') return path;
  const [to, base] = [path.split('/'), from.split('/')];
  let shared = 0;
  while (shared < base.length && shared < to.length - 1 && to[shared] === base[shared]) shared += 1;
  const relative = [...base.slice(shared).map(() => '..'), ...to.slice(shared)].join('/');
  return relative === '' ? './' : relative;
}
