/**
 * Whether the code of a component has what `:persist` keeps, as far as its text shows it. Text that only looks like it,
 * such as an export in a comment, passes: its first call says so. Pure.
 */
import type { WorkbookLanguage } from './types.ts';

/** Each is bounded: a source has any text. */
const EXPORTED: readonly RegExp[] = [
  // `export const state`, also with others before it or taken out of an object.
  /\bexport\s{1,100}(?:const|let|var)\b[^;]{0,2000}?\bstate\b/,
  /\bexport\s{1,100}(?:abstract\s{1,100})?(?:class|enum|namespace)\s{1,100}state\b/,
  /\bexport\s{1,100}(?:async\s{1,100})?function\s{0,100}\*?\s{0,100}state\b/,
  // `export { kept as state }`
  /\bexport\s{0,100}\{[^}]{0,2000}?\bstate\b/,
  // A comment where nobody looks through it.
  /\bexport\s{0,100}\/[/*]/,
];

/** What a component with `:persist` lacks, and what mends it; null when nothing is seen to be lacking. */
export function lackingState(lang: WorkbookLanguage, src: string): { lacks: string; mend: string } | null {
  if (lang === 'js' || lang === 'ts') {
    if (EXPORTED.some((form) => form.test(src))) return null;
    return {
      lacks: 'exports no “state”',
      mend: 'Add export const state = { get: () => value, set: (kept) => { … } }.',
    };
  }
  if (lang !== 'python') return null;
  const missing = ['get_state', 'set_state'].filter((name) => !src.includes(name));
  // A star may bring any name.
  if (missing.length === 0 || /^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]*\*/m.test(src)) return null;
  return { lacks: `has no ${missing.join(' and no ')}`, mend: 'Add def get_state() and def set_state(value).' };
}
