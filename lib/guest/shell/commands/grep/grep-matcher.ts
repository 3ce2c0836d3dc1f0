/** The patterns of a `grep` as one expression, in two forms: for ASCII text and for any other. */

import { literalRegex, RegexError, translateRegex, wordClass } from '../posix-regex.ts';
import { GrepError, type GrepSettings } from './grep-settings.ts';

export interface GrepForm {
  /** Global: finds a match from `lastIndex` on. */
  expression: RegExp;
  /** Sticky expressions, one per alternative: the longest of their matches is the match of POSIX. Empty: not needed. */
  alternatives: RegExp[];
}

export interface GrepMatcher {
  /** The form for a text of ASCII only, or for any other. */
  form(ascii: boolean): GrepForm;
  /** Whether an expression may match the end of a line: each line is searched on its own. */
  byLine: boolean;
}

/** Compiles the patterns. Throws a `GrepError` for one that is not valid. */
export function grepMatcher(settings: GrepSettings, warn: (message: string) => void): GrepMatcher {
  const forms = new Map<boolean, GrepForm>();
  let warned = false;
  const form = (ascii: boolean) => {
    const known = forms.get(ascii);
    if (known !== undefined) return known;
    const made = compile(settings, !ascii, warned ? () => {} : warn);
    warned = true;
    forms.set(ascii, made);
    return made;
  };
  // An invalid pattern is an error before any file is read.
  form(true);
  return { form, byLine: settings.syntax === 'perl' };
}

function compile(settings: GrepSettings, unicode: boolean, warn: (message: string) => void): GrepForm {
  const alternatives: string[] = [];
  let groups = 0;
  for (const pattern of settings.patterns) {
    const one = oneSource(pattern, settings, unicode, groups, warn);
    groups += one.groups;
    alternatives.push(...one.alternatives);
  }
  const end = settings.nullLines ? '\\0' : '\\n';
  const around = (source: string) => {
    if (settings.wholeLines) return `(?<![^${end}])(?:${source})(?![^${end}])`;
    const word = wordClass(unicode);
    return settings.words ? `(?<![${word}])(?:${source})(?![${word}])` : source;
  };
  const flags = (settings.ignoreCase ? 'i' : '') + (unicode ? 'u' : '');
  const make = (source: string, more: string) => {
    try {
      return new RegExp(source, flags + more);
    } catch {
      throw new GrepError(settings.syntax === 'perl' ? perlError(source) : 'Invalid regular expression');
    }
  };
  const all = alternatives.length === 0 ? '(?!)' : alternatives.join('|');
  const expression = make(around(all), 'gd');
  const needsLongest =
    settings.syntax !== 'perl' && alternatives.length > 1 && (settings.onlyMatches || settings.color);
  const plainGroups = groups === 0;
  return {
    expression: settings.syntax === 'perl' ? expression : make(around(all), 'g'),
    alternatives: needsLongest && plainGroups ? alternatives.map((source) => make(around(source), 'y')) : [],
  };
}

function oneSource(
  pattern: string,
  { syntax, nullLines }: GrepSettings,
  unicode: boolean,
  groupsBefore: number,
  warn: (message: string) => void,
): { alternatives: string[]; groups: number } {
  if (syntax === 'fixed') return { alternatives: [literalRegex(pattern)], groups: 0 };
  if (syntax === 'perl') return { alternatives: [`(?:${perlSource(pattern, unicode)})`], groups: 0 };
  try {
    const lineEnd = nullLines ? '\0' : '\n';
    const { alternatives, groups, warnings } = translateRegex(pattern, { syntax, unicode, lineEnd, groupsBefore });
    for (const warning of warnings) warn(warning);
    return { alternatives, groups };
  } catch (error) {
    if (error instanceof RegexError) throw new GrepError(error.message);
    throw error;
  }
}

/** An expression of Perl as one of JavaScript, which differs in few places. What follows `\K` is the group `kept`. */
function perlSource(pattern: string, unicode: boolean): string {
  let source = '';
  let kept = false;
  let inClass = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const rest = pattern.slice(at);
    const one = pattern[at] ?? '';
    const found = PERL.find(([from]) => !inClass && rest.startsWith(from));
    const flags = inClass ? null : /^\(\?([imsx]+)\)/.exec(rest);
    const named = inClass ? null : /^\[:(\^?)(\w+):\]/.exec(rest);
    if (found !== undefined && found[0] === '\\K') {
      source = `(?:${source})(?<kept>`;
      kept = true;
      at += 1;
    } else if (found !== undefined) {
      source += found[1];
      at += found[0].length - 1;
    } else if (flags !== null && flags[1] !== undefined) {
      // The flags hold to the end of the group, as a group of their own.
      const tail = perlSource(pattern.slice(at + flags[0].length), unicode);
      const known = flags[1].replaceAll('x', '');
      source += known === '' ? tail : `(?${known}:${tail})`;
      at = pattern.length;
    } else if (named === null && one === '\\') {
      const next = pattern[at + 1] ?? '';
      if (next === '') throw new GrepError('\\ at end of pattern');
      source += escapeOfPerl(next, unicode);
      at += 1;
    } else if (inClass && /^\[:\^?\w+:\]/.test(rest)) {
      const [whole = '', , name = ''] = /^\[:(\^?)(\w+):\]/.exec(rest) ?? [];
      const translated = translateRegex(`[[:${name}:]]`, { syntax: 'basic', unicode, lineEnd: '' }).source;
      source += translated.slice(1, -1);
      at += whole.length - 1;
    } else {
      if (one === '[' && !inClass) {
        inClass = true;
        source += one;
        // A bracket at the start of a class stands for itself.
        const start = /^\[\^?\]/.exec(rest);
        if (start !== null) {
          source += start[0].slice(1).replace(']', '\\]');
          at += start[0].length - 1;
        }
        continue;
      }
      if (one === ']' && inClass) inClass = false;
      source += unicode && one === '[' && inClass ? '\\[' : one;
    }
  }
  if (inClass) throw new GrepError('missing terminating ] for character class');
  return kept ? `${source})` : source;
}

/** What Perl writes differently outside a class. Possessive and atomic groups only forbid backtracking. */
const PERL: readonly (readonly [string, string])[] = [
  ['(?P<', '(?<'],
  ['(?P=', '\\k<'],
  ['(?>', '(?:'],
  ['*+', '*'],
  ['++', '+'],
  ['?+', '?'],
  ['\\K', ''],
  ['\\A', '(?<![^])'],
  ['\\Z', '(?=\\n?(?![^]))'],
  ['\\z', '(?![^])'],
  ['\\h', '[ \\t]'],
  ['\\H', '[^ \\t]'],
  ['\\R', '(?:\\r\\n|[\\n\\v\\f\\r])'],
  ['\\N', '[^\\n]'],
  ['\\Q', ''],
  ['\\E', ''],
];

function escapeOfPerl(next: string, unicode: boolean): string {
  if (next === 'e') return '\\x1b';
  if (next === 'a') return '\\x07';
  if (/[\w^$\\.*+?()[\]{}|/]/.test(next)) return `\\${next}`;
  return unicode && next !== '-' ? next : `\\${next}`;
}

function perlError(source: string): string {
  try {
    new RegExp(source);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    if (message.includes('Unterminated group')) return 'missing closing parenthesis';
    if (message.includes('Unmatched')) return 'unmatched closing parenthesis';
    if (message.includes('Nothing to repeat')) return 'quantifier does not follow a repeatable item';
    if (message.includes('out of order in {}')) return 'numbers out of order in {} quantifier';
    if (message.includes('Range out of order')) return 'range out of order in character class';
  }
  return 'the expression is not supported';
}
