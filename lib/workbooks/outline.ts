/**
 * The headings of an org source, found in one linear pass: what is too large, too deep or too much is refused before
 * any parser sees it. Pure. Knows nothing of what headings mean.
 */
import type { PlanProblem } from './types.ts';

/** A parser takes time that grows with the square of some inputs: these bounds keep it to seconds. */
export const MAX_SOURCE_BYTES = 2 * 1024 * 1024;
export const MAX_DEPTH = 16;
export const MAX_COMPONENTS = 10_000;
export const MAX_HEADINGS = 20_000;

/** A heading with the text that is its own: up to the next heading of any level. */
export interface OutlineHeading {
  /** Its number of stars. */
  level: number;
  /** From 1. */
  line: number;
  /** Offsets in the text: of its first star, and past its own text. */
  start: number;
  end: number;
}

interface Outline {
  headings: OutlineHeading[];
  /** Refusals: with any of them the source is not parsed. */
  problems: PlanProblem[];
}

const COMPONENT_TAG = ':component:';

/** Reads the headings of a source whose line ends are `\n`. */
export function outlineOf(text: string): Outline {
  const headings: OutlineHeading[] = [];
  const problems: PlanProblem[] = [];
  let components = 0;
  let line = 1;
  let counted = 0;
  for (let at = nextHeading(text, 0); at >= 0; ) {
    for (let end = text.indexOf('\n', counted); end >= 0 && end < at; end = text.indexOf('\n', counted)) {
      line += 1;
      counted = end + 1;
    }
    const level = starsAt(text, at);
    const lineEnd = text.indexOf('\n', at);
    if (level > MAX_DEPTH) return { headings: [], problems: [tooDeep(line, level)] };
    if (isTagged(text, at + level, lineEnd < 0 ? text.length : lineEnd)) components += 1;
    const last = headings.at(-1);
    if (last) last.end = at;
    headings.push({ level, line, start: at, end: text.length });
    if (components > MAX_COMPONENTS)
      return {
        headings: [],
        problems: [tooMany(line, 'components', MAX_COMPONENTS, 'Split it into several workbooks.')],
      };
    if (headings.length > MAX_HEADINGS)
      return {
        headings: [],
        problems: [tooMany(line, 'headings', MAX_HEADINGS, 'Keep long texts in files of their own.')],
      };
    at = nextHeading(text, at + level);
  }
  return { headings, problems };
}

/** How much of a heading's line is searched for tags. */
const TAGS_LENGTH = 500;

/** Whether the last word of a heading may make it a component; the parser has the last word. */
function isTagged(text: string, from: number, lineEnd: number): boolean {
  let end = lineEnd;
  while (end > from && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1;
  if (text[end - 1] !== ':') return false;
  return text.slice(Math.max(from, end - TAGS_LENGTH), end).includes(COMPONENT_TAG);
}

/** The offset of the next heading from `from` on, or -1. */
function nextHeading(text: string, from: number): number {
  if (from === 0 && isHeading(text, 0)) return 0;
  for (let at = text.indexOf('\n*', from); at >= 0; at = text.indexOf('\n*', at + 1)) {
    if (isHeading(text, at + 1)) return at + 1;
  }
  return -1;
}

function isHeading(text: string, at: number): boolean {
  const stars = starsAt(text, at);
  const next = text[at + stars];
  return stars > 0 && (next === ' ' || next === '\t');
}

function starsAt(text: string, at: number): number {
  let end = at;
  while (text[end] === '*') end += 1;
  return end - at;
}

function tooDeep(line: number, level: number): PlanProblem {
  return {
    code: 'depth',
    message: `A heading is ${level} levels deep; at most ${MAX_DEPTH} are taken.`,
    mend: `Give it at most ${MAX_DEPTH} stars.`,
    line,
    column: 1,
  };
}

function tooMany(line: number, what: string, most: number, mend: string): PlanProblem {
  return { code: 'count', message: `There are more than ${most} ${what}.`, mend, line, column: 1 };
}
