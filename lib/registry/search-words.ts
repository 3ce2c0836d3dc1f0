/**
 * The text by which search finds a sandbox, and what a query looks for in it. Pure. Stored text and queries are
 * normalised by the same function.
 */

/**
 * Stands before every word. With the first letter of a word it makes three characters, so that an index of all runs of
 * three characters also finds the beginnings of words.
 */
const GAP = '  ';
/** The longest beginning of a word that a query may look for; anything longer may be in the middle of one. */
const BEGINNING = 2;
/** Characters of a stored text that count. */
const TEXT_LENGTH = 4000;
/** Characters of a term, and terms of a query, that count. */
const TERM_LENGTH = 200;
const QUERY_TERMS = 16;

/** The lower-case words of letters and digits, without accents, each after a gap. */
function normalized(text: string): string {
  const plain = text.toWellFormed().toLowerCase().normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => GAP + word).join('');
}

function firstOf(text: string, length: number): string {
  return text.length <= length ? text : [...text].slice(0, length).join('');
}

/** The stored text of a sandbox. A further space keeps its fields apart: no match spans two of them. */
export function searchText(of: {
  id: string;
  tenant: string;
  name: string | null;
  labels: Record<string, string>;
}): string {
  const fields = [of.id, of.tenant, of.name ?? '', ...Object.values(of.labels)].map(normalized);
  return firstOf(fields.join(' '), TEXT_LENGTH);
}

/**
 * What the stored text of a match contains, for each term of a query (terms are separated by white space): a term of
 * one or two characters at the beginning of a word, a longer one anywhere. None when the query has no letter and no
 * digit.
 */
export function searchPatterns(query: string): string[] {
  const terms = query.split(/\s+/u).flatMap((term) => {
    const pattern = firstOf(normalized(term), GAP.length + TERM_LENGTH);
    if (pattern === '') return [];
    return [[...pattern].length - GAP.length > BEGINNING ? pattern.slice(GAP.length) : pattern];
  });
  return [...new Set(terms)].slice(0, QUERY_TERMS);
}
