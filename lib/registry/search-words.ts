/**
 * The words by which text search finds a sandbox. Pure. Stored text and queries are normalised by the same function.
 */

/** Longer words are cut to this length. */
const WORD_LENGTH = 64;
/** Number of words of one query that count. */
const QUERY_WORDS = 16;

/** Lower-case words of letters and digits, without accents, each once. */
function wordsOf(text: string): string[] {
  const plain = text.toWellFormed().toLowerCase().normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.slice(0, WORD_LENGTH).toWellFormed()))];
}

/** The stored form of a sandbox's words: each after a space, so that ` be` matches ` alpha beta` as a prefix. */
export function searchWords(of: {
  id: string;
  tenant: string;
  name: string | null;
  labels: Record<string, string>;
}): string {
  const words = wordsOf([of.id, of.tenant, of.name ?? '', ...Object.values(of.labels)].join(' '));
  return words.map((word) => ` ${word}`).join('');
}

/** The words of a query; none when the text has no letter and no digit. */
export function queryWords(text: string): string[] {
  return wordsOf(text).slice(0, QUERY_WORDS);
}
