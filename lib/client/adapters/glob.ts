/** Patterns of paths, as agents write them: `*` and `?` within a name, `**` over names, `[a-z]`, `{a,b}`. Pure. */

/** What a place in a pattern takes: one character, or any number of them. */
interface Place {
  takes(character: string): boolean;
  isMany: boolean;
  /** How many places further one may go without a character. */
  leaps: readonly number[];
}

/** How many patterns a pattern with alternatives may be. */
const MOST_ALTERNATIVES = 64;

/** The patterns that `{a,b}` stands for. What is beyond the bound, or has no end, stands for itself. */
function alternativesOf(pattern: string): string[] {
  let patterns = [pattern];
  for (;;) {
    const next = patterns.flatMap((one) => {
      const [whole, inner = ''] = /\{([^{}]*,[^{}]*)\}/.exec(one) ?? [];
      if (whole === undefined) return [one];
      const at = one.indexOf(whole);
      return inner.split(',').map((word) => one.slice(0, at) + word + one.slice(at + whole.length));
    });
    if (next.length === patterns.length || next.length > MOST_ALTERNATIVES) return patterns;
    patterns = next;
  }
}

/** Whether a character is one of `[abc]`, `[a-z]`, `[!a]`, `[^a]`; `inner` is what is between the brackets. */
function isOneOf(inner: string, character: string): boolean {
  const isNegated = /^[!^]/.test(inner);
  const ranges = (isNegated ? inner.slice(1) : inner).matchAll(/([\s\S])-([\s\S])|([\s\S])/gu);
  const isIn = [...ranges].some(([, from, to, one]) =>
    from === undefined || to === undefined ? one === character : from <= character && character <= to,
  );
  return isIn !== isNegated;
}

function placesOf(pattern: string): Place[] {
  const places: Place[] = [];
  const add = (takes: Place['takes'], isMany = false, leaps = isMany ? [1] : []) =>
    places.push({ takes, isMany, leaps });
  for (const [token] of pattern.matchAll(/\*\*\/|\*\*|\*|\?|\[[!^]?[^\]/]+\]|[\s\S]/gu)) {
    if (token === '**/') {
      // All of it or nothing: names and their slash, or neither.
      add(() => false, false, [1, 3]);
      add(() => true, true);
      add((character) => character === '/');
    } else if (token === '**') add(() => true, true);
    else if (token === '*') add((character) => character !== '/', true);
    else if (token === '?') add((character) => character !== '/');
    else if (token.length > 2 && token.startsWith('[')) add((character) => isOneOf(token.slice(1, -1), character));
    else add((character) => character === token);
  }
  return places;
}

/** Adds a place and those that can be had from it without a character. */
function reach(reached: Set<number>, at: number, places: readonly Place[]): void {
  if (reached.has(at)) return;
  reached.add(at);
  for (const leap of places[at]?.leaps ?? []) reach(reached, at + leap, places);
}

/**
 * Whether a whole path fits a pattern. Takes time in proportion to both lengths, whatever the pattern: it may come from
 * a model, and names from whoever wrote the files.
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  const alternatives = alternativesOf(pattern).map(placesOf);
  return (path) =>
    alternatives.some((places) => {
      let reached = new Set<number>();
      reach(reached, 0, places);
      for (const character of path) {
        const next = new Set<number>();
        for (const at of reached) {
          const place = places[at];
          if (place?.takes(character)) reach(next, place.isMany ? at : at + 1, places);
        }
        if (next.size === 0) return false;
        reached = next;
      }
      return reached.has(places.length);
    });
}
