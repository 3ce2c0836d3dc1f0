/** Patterns of file names as fnmatch(3) reads them, where `*` also matches a slash. Pure. */

const CLASSES: Readonly<Record<string, string>> = {
  alnum: '\\p{L}\\p{N}',
  alpha: '\\p{L}',
  blank: ' \\t',
  digit: '0-9',
  lower: '\\p{Ll}',
  punct: '\\p{P}\\p{S}',
  space: '\\s',
  upper: '\\p{Lu}',
  xdigit: '0-9A-Fa-f',
};

/** The expression that matches what the whole pattern matches. */
export function globRegex(pattern: string, ignoreCase = false): RegExp {
  let source = '';
  for (let at = 0; at < pattern.length; ) {
    const one = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    at += one.length;
    if (one === '*') source += '[^]*';
    else if (one === '?') source += '[^]';
    else if (one === '\\' && at < pattern.length) {
      const next = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
      at += next.length;
      source += literal(next);
    } else if (one === '[') {
      const found = bracket(pattern, at);
      source += found?.source ?? '\\[';
      at = found?.next ?? at;
    } else source += literal(one);
  }
  try {
    return new RegExp(`^${source}$`, ignoreCase ? 'iu' : 'u');
  } catch {
    // A range whose end comes before its start matches nothing.
    return /(?!)/;
  }
}

function bracket(pattern: string, from: number): { source: string; next: number } | null {
  let at = from;
  const negated = pattern[at] === '!' || pattern[at] === '^';
  if (negated) at += 1;
  let inside = '';
  for (let first = true; ; first = false) {
    const one = pattern[at];
    if (one === undefined) return null;
    if (one === ']' && !first) break;
    const named = /^\[:(\w+):\]/.exec(pattern.slice(at));
    if (named && CLASSES[named[1] ?? ''] !== undefined) {
      inside += CLASSES[named[1] ?? ''];
      at += named[0].length;
      continue;
    }
    if (one === '\\' && at + 1 < pattern.length) at += 1;
    const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    at += character.length;
    const range = character === '-' && !first && pattern[at] !== ']' && inside !== '';
    inside += range ? '-' : /[\\\]^[-]/.test(character) ? `\\${character}` : character;
  }
  return { source: `[${negated ? '^' : ''}${inside}]`, next: at + 1 };
}

function literal(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}
