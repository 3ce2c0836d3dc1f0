/**
 * POSIX regular expressions, with GNU's additions, as JavaScript's. A match never spans a line: what could match the
 * end of a line excludes it, so that a whole text can be searched at once. Pure.
 *
 * JavaScript takes the first alternative that matches and POSIX the longest match: `alternatives` are for those who
 * need its end.
 */

export type RegexSyntax = 'basic' | 'extended' | 'emacs';

export interface RegexOptions {
  syntax: RegexSyntax;
  /** For text with characters beyond ASCII; the expression needs the flag `u`. */
  unicode: boolean;
  /** What ends a line: no match contains it. Empty: matches may contain anything. */
  lineEnd: '\n' | '\0' | '';
  /** Groups of expressions that stand before this one in the same source. */
  groupsBefore?: number;
}

export interface TranslatedRegex {
  source: string;
  /** The alternatives at the top of the expression; one when there are none. */
  alternatives: string[];
  groups: number;
  warnings: string[];
}

/** The sentence of GNU for an expression that is not valid. */
export class RegexError extends Error {}

const SYNTAX = /[\\^$.*+?()[\]{}|/]/;
const ASCII_CLASSES: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  blank: ' \\t',
  cntrl: '\\0-\\t\\v-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: ' \\t\\v\\f\\r',
  upper: 'A-Z',
  xdigit: 'A-Fa-f0-9',
};
const UNICODE_CLASSES: Readonly<Record<string, string>> = {
  ...ASCII_CLASSES,
  alnum: '\\p{L}\\p{M}\\p{N}',
  alpha: '\\p{L}\\p{M}\\p{Nl}',
  blank: ' \\t\\u1680\\u2000-\\u2006\\u2008-\\u200a\\u205f\\u3000',
  cntrl: '\\0-\\t\\v-\\x1f\\x7f-\\x9f\\u2028\\u2029',
  graph: '\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}',
  lower: '\\p{Ll}',
  print: '\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}\\p{Zs}',
  punct: '\\p{P}\\p{S}',
  space: ' \\t\\v\\f\\r\\u1680\\u2000-\\u2006\\u2008-\\u200a\\u2028\\u2029\\u205f\\u3000',
  upper: '\\p{Lu}',
};
/** Bytes that are not UTF-8, as byte-text.ts escapes them: no expression matches them. */
const STRAY_BYTES = '\\udc80-\\udcff';
const LARGEST_REPETITION = 32_767;

/** Text as an expression that matches exactly it. */
export function literalRegex(text: string): string {
  return [...text].map((character) => (SYNTAX.test(character) ? `\\${character}` : character)).join('');
}

/** The letters, digits and underscores of a word, for a character class. */
export function wordClass(unicode: boolean): string {
  return `${(unicode ? UNICODE_CLASSES : ASCII_CLASSES).alnum}_`;
}

/** Translates an expression. Throws a `RegexError`. */
export function translateRegex(pattern: string, options: RegexOptions): TranslatedRegex {
  return new Translator(pattern, options).translate();
}

class Translator {
  readonly #text: string[];
  readonly #options: RegexOptions;
  readonly #basic: boolean;
  readonly #warnings: string[] = [];
  #at = 0;
  #groups = 0;
  readonly #closed = new Set<number>();
  #depth = 0;

  constructor(pattern: string, options: RegexOptions) {
    this.#text = [...pattern];
    this.#options = options;
    this.#basic = options.syntax !== 'extended';
  }

  translate(): TranslatedRegex {
    const whole = this.#text.join('');
    const named = /^\[:\w+:\]$/.exec(whole);
    if (named) throw new RegexError('character class syntax is [[:space:]], not [:space:]');
    const alternatives = this.#alternatives();
    return { source: alternatives.join('|'), alternatives, groups: this.#groups, warnings: this.#warnings };
  }

  #alternatives(): string[] {
    const alternatives: string[] = [];
    for (;;) {
      alternatives.push(this.#branch());
      if (this.#takes(this.#basic ? '\\|' : '|')) continue;
      return alternatives;
    }
  }

  #branch(): string {
    const atoms: string[] = [];
    let atStart = true;
    while (this.#at < this.#text.length) {
      if (this.#ends()) break;
      const repetition = this.#repetition(atStart);
      if (repetition !== null) {
        const last = atoms.pop();
        if (last === undefined) this.#warnings.push(`${repetition.written} at start of expression`);
        else atoms.push(`(?:${last})${repetition.quantifier}`);
        continue;
      }
      const atom = this.#atom(atStart);
      atoms.push(atom.source);
      atStart = this.#basic && atom.anchor;
    }
    return atoms.join('');
  }

  /** Whether an alternative ends here. */
  #ends(): boolean {
    if (this.#sees(this.#basic ? '\\|' : '|')) return true;
    if (this.#basic) {
      if (!this.#sees('\\)')) return false;
      if (this.#depth === 0) throw new RegexError('Unmatched ) or \\)');
      return true;
    }
    return this.#sees(')') && this.#depth > 0;
  }

  /** A repetition at the current place; null when what stands there is none. */
  #repetition(atStart: boolean): { quantifier: string; written: string } | null {
    const { syntax } = this.#options;
    const one = this.#text[this.#at] ?? '';
    if (one === '*' && !(this.#basic && atStart)) {
      this.#at += 1;
      return { quantifier: '*', written: '*' };
    }
    const marks = syntax === 'basic' ? ['\\+', '\\?'] : ['+', '?'];
    for (const mark of marks) {
      if (!this.#sees(mark) || (this.#basic && atStart)) continue;
      this.#at += mark.length;
      return { quantifier: mark.slice(-1), written: mark };
    }
    const open = syntax === 'basic' ? '\\{' : syntax === 'extended' ? '{' : null;
    if (open === null || !this.#sees(open) || (this.#basic && atStart)) return null;
    return this.#interval(open);
  }

  #interval(open: string): { quantifier: string; written: string } | null {
    const close = this.#basic ? '\\}' : '}';
    const rest = this.#text.slice(this.#at + open.length).join('');
    const found = /^(\d*)(,?)(\d*)/.exec(rest);
    const [whole = '', from = '', comma = '', to = ''] = found ?? [];
    const valid = rest.slice(whole.length).startsWith(close) && (from !== '' || comma !== '');
    if (!valid) {
      if (!this.#basic) return null;
      throw new RegexError(rest.includes(close) ? 'Invalid content of \\{\\}' : 'Unmatched \\{');
    }
    if (Number(from) > LARGEST_REPETITION || Number(to) > LARGEST_REPETITION)
      throw new RegexError('Regular expression too big');
    if (to !== '' && Number(to) < Number(from)) throw new RegexError('Invalid content of \\{\\}');
    this.#at += open.length + whole.length + close.length;
    return { quantifier: `{${from === '' ? '0' : from}${comma}${to}}`, written: '{...}' };
  }

  #atom(atStart: boolean): { source: string; anchor: boolean } {
    const one = this.#text[this.#at] ?? '';
    const plain = (source: string) => ({ source, anchor: false });
    if (one === '\\') return this.#escaped();
    this.#at += 1;
    if (one === '[') return plain(this.#bracket());
    if (one === '.') return plain(this.#anyCharacter());
    if (one === '(' && !this.#basic) return plain(this.#group(')'));
    if (one === '^' && (!this.#basic || atStart)) return { source: this.#lineStart(), anchor: true };
    if (one === '$' && (!this.#basic || this.#atBranchEnd())) return plain(this.#lineEnd());
    return plain(literalRegex(one));
  }

  #escaped(): { source: string; anchor: boolean } {
    const next = this.#text[this.#at + 1];
    if (next === undefined) throw new RegexError('Trailing backslash');
    this.#at += 2;
    const plain = (source: string) => ({ source, anchor: false });
    const word = wordClass(this.#options.unicode);
    const { lineEnd } = this.#options;
    const end = lineEnd === '' ? '' : lineEnd === '\n' ? '\\n' : '\\0';
    const spaces = this.#class('space') + (lineEnd === '\0' || lineEnd === '' ? '\\n' : '');
    if (next === '(' && this.#basic) return { source: this.#group('\\)'), anchor: false };
    if (/[1-9]/.test(next)) {
      if (!this.#closed.has(Number(next))) throw new RegexError('Invalid back reference');
      return plain(`(?:\\${Number(next) + (this.#options.groupsBefore ?? 0)})`);
    }
    switch (next) {
      case 'w':
        return plain(`[${word}]`);
      case 'W':
        return plain(`[^${word}${end}]`);
      case 's':
        return plain(`[${spaces}]`);
      case 'S':
        return plain(`[^${spaces}${end}]`);
      case '<':
        return plain(`(?<![${word}])(?=[${word}])`);
      case '>':
        return plain(`(?<=[${word}])(?![${word}])`);
      case 'b':
        return plain(`(?:(?<![${word}])(?=[${word}])|(?<=[${word}])(?![${word}]))`);
      case 'B':
        return plain(`(?:(?<![${word}])(?![${word}])|(?<=[${word}])(?=[${word}]))`);
      case '`':
        return plain('(?<![^])');
      case "'":
        return plain('(?![^])');
    }
    return plain(literalRegex(next));
  }

  #group(close: string): string {
    this.#groups += 1;
    const number = this.#groups;
    this.#depth += 1;
    const inside = this.#alternatives();
    this.#depth -= 1;
    if (!this.#takes(close)) throw new RegexError('Unmatched ( or \\(');
    this.#closed.add(number);
    return `(${longestFirst(inside).join('|')})`;
  }

  /** The rest of a bracket expression as a character class. */
  #bracket(): string {
    const { lineEnd, unicode } = this.#options;
    const negated = this.#takes('^');
    let inside = '';
    let first = true;
    for (; ; first = false) {
      const one = this.#text[this.#at];
      if (one === undefined) {
        throw new RegexError(first ? 'Invalid regular expression' : 'Unmatched [, [^, [:, [., or [=');
      }
      if (one === ']' && !first) break;
      inside += this.#bracketItem();
    }
    this.#at += 1;
    const end = lineEnd === '' ? '' : lineEnd === '\n' ? '\\n' : '\\0';
    if (!negated) return inside === '' ? '(?!)' : `[${inside}]`;
    return `[^${inside}${end}${unicode ? STRAY_BYTES : ''}]`;
  }

  #bracketItem(): string {
    const named = /^\[([:.=])(.*?)\1\]/s.exec(this.#text.slice(this.#at, this.#at + 40).join(''));
    if (named?.[1] === ':') {
      this.#at += [...named[0]].length;
      const found = this.#class(named[2] ?? '');
      if (found === '') throw new RegexError('Invalid character class name');
      return found + (named[2] === 'space' && this.#options.lineEnd !== '\n' ? '\\n' : '');
    }
    const from = this.#bracketCharacter();
    if (this.#text[this.#at] !== '-' || [undefined, ']'].includes(this.#text[this.#at + 1])) return escapeInClass(from);
    this.#at += 1;
    const to = this.#bracketCharacter();
    if ((to.codePointAt(0) ?? 0) < (from.codePointAt(0) ?? 0)) throw new RegexError('Invalid range end');
    return `${escapeInClass(from)}-${escapeInClass(to)}`;
  }

  #bracketCharacter(): string {
    const named = /^\[([.=])(.)\1\]/su.exec(this.#text.slice(this.#at, this.#at + 6).join(''));
    if (named) {
      this.#at += [...named[0]].length;
      return named[2] ?? '';
    }
    const one = this.#text[this.#at];
    if (one === undefined) throw new RegexError('Unmatched [, [^, [:, [., or [=');
    this.#at += 1;
    return one;
  }

  #class(name: string): string {
    return (this.#options.unicode ? UNICODE_CLASSES : ASCII_CLASSES)[name] ?? '';
  }

  #anyCharacter(): string {
    const { lineEnd, unicode } = this.#options;
    const excluded = `${lineEnd === '' ? '' : lineEnd === '\n' ? '\\n' : '\\0'}${unicode ? STRAY_BYTES : ''}`;
    return excluded === '' ? '[^]' : `[^${excluded}]`;
  }

  #lineStart(): string {
    const { lineEnd } = this.#options;
    return lineEnd === '' ? '(?<![^])' : lineEnd === '\n' ? '(?<![^\\n])' : '(?<![^\\0])';
  }

  #lineEnd(): string {
    const { lineEnd } = this.#options;
    return lineEnd === '' ? '(?![^])' : lineEnd === '\n' ? '(?![^\\n])' : '(?![^\\0])';
  }

  #atBranchEnd(): boolean {
    return this.#at >= this.#text.length || this.#sees('\\|') || (this.#sees('\\)') && this.#depth > 0);
  }

  #sees(mark: string): boolean {
    return [...mark].every((character, at) => this.#text[this.#at + at] === character);
  }

  #takes(mark: string): boolean {
    if (!this.#sees(mark)) return false;
    this.#at += mark.length;
    return true;
  }
}

/** Plain alternatives with the longer ones first, so that the first that matches is the longest. */
function longestFirst(alternatives: readonly string[]): readonly string[] {
  const plain = alternatives.every((alternative) => /^[\w -]*$/.test(alternative));
  return plain ? alternatives.toSorted((a, b) => b.length - a.length) : alternatives;
}

function escapeInClass(character: string): string {
  return /[\\\]^[-]/.test(character) ? `\\${character}` : character;
}
