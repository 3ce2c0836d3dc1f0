/**
 * Text as Postgres can store it. U+0000 cannot be stored, and SQLite stores it; so it is written as two characters, and
 * U+0001 too, which keeps every text, the order of texts and what they begin with. `plain_json`
 * (db/postgres/functions.ts) does the same to texts inside JSON.
 */

const UNUSUAL = /[\u0000\u0001]/;

/** The text in its stored form. */
export function toStored(text: string): string {
  if (!UNUSUAL.test(text)) return text;
  return text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001');
}

/** The text of its stored form. */
export function fromStored(stored: string): string {
  if (!stored.includes('\u0001')) return stored;
  return stored.replaceAll('\u0001\u0001', '\u0000').replaceAll('\u0001\u0002', '\u0001');
}
