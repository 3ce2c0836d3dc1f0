/** The header arguments of a source block: `:deps a,b :uses vfs :in x:number :out y:number :persist`. Pure. */

export interface HeaderArgument {
  key: string;
  value: string;
  /** Offset of its `:` in the text. */
  at: number;
  /** Offset of its value. */
  valueAt: number;
}

/** Of org's own Babel: allowed and without a meaning here. */
const BABEL = new Set(
  (
    'cache cmdline colnames comments dir epilogue eval exports file-desc file-ext file-mode hlines mkdirp no-expand ' +
    'noweb noweb-ref noweb-sep output-dir padline post prologue results rownames sep session shebang tangle ' +
    'tangle-mode var wrap'
  ).split(' '),
);
export const HEADER_KEYS: readonly string[] = ['deps', 'uses', 'in', 'out', 'persist', 'file'];

/** Whether org itself knows the key, so that it is no mistake to have it. */
export function isBabelKey(key: string): boolean {
  return BABEL.has(key);
}

const KEY = /(^|[ \t]):([A-Za-z][A-Za-z0-9_-]*)(?=[ \t]|$)/g;

/** The arguments in their order. A value ends before the next key. */
export function headerArguments(text: string): HeaderArgument[] {
  const keys = [...text.matchAll(KEY)];
  return keys.map((match, i) => {
    const [whole, before = '', key = ''] = match;
    const end = keys[i + 1]?.index ?? text.length;
    const raw = text.slice(match.index + whole.length, end);
    const value = raw.trim();
    return {
      key: key.toLowerCase(),
      value,
      at: match.index + before.length,
      valueAt: match.index + whole.length + (raw.length - raw.trimStart().length),
    };
  });
}

/** The items of a value with their offsets: separated by commas or spaces. */
export function itemsOf({ value, valueAt }: Pick<HeaderArgument, 'value' | 'valueAt'>): { text: string; at: number }[] {
  return [...value.matchAll(/[^\s,]+/g)].map((match) => ({ text: match[0], at: valueAt + match.index }));
}
