/** Paths as git prints them: bytes beyond ASCII in quotes, but where `core.quotepath` says otherwise. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { C_ESCAPED_BYTES } from '../c-escapes.ts';

const NAMED: Readonly<Record<number, string>> = { ...C_ESCAPED_BYTES, 34: '\\"', 92: '\\\\' };

/** Set for the whole of a command, so that what prints a path deep below need not be handed it. */
const plain = new AsyncLocalStorage<boolean>();

/** Runs a command. `core.quotepath` false: characters beyond ASCII are printed as they are. */
export function withPathQuoting<T>(quotesAll: boolean, work: () => Promise<T>): Promise<T> {
  return plain.run(!quotesAll, work);
}

/** In quotes when it has control characters, quotes, backslashes or bytes beyond ASCII; `spaces`: or spaces. */
export function quotedPath(path: string, { spaces = false } = {}): string {
  const isPlain = plain.getStore() === true;
  const special = isPlain ? /[\x00-\x1f\x7f"\\]/ : /[\x00-\x1f\x7f-\uffff"\\]/;
  if (!special.test(path) && !(spaces && path.includes(' '))) return path;
  const escaped = (byte: number) =>
    NAMED[byte] ?? (byte < 0x20 || byte >= 0x7f ? `\\${byte.toString(8).padStart(3, '0')}` : String.fromCharCode(byte));
  const quoted = Array.from(path, (character) =>
    isPlain && character > '\x7f' ? character : [...Buffer.from(character)].map(escaped).join(''),
  );
  return `"${quoted.join('')}"`;
}

/** `path` from the directory `from`, both relative to one root; `.//` for the directory itself. */
export function relativePath(path: string, from: string): string {
  if (from === '') return path;
  const [to, base] = [path.split('/'), from.split('/')];
  let shared = 0;
  while (shared < base.length && shared < to.length - 1 && to[shared] === base[shared]) shared += 1;
  const relative = [...base.slice(shared).map(() => '..'), ...to.slice(shared)].join('/');
  return relative === '' ? './/' : relative;
}
