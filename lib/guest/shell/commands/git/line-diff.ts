/**
 * Which lines of a text changed: Myers' algorithm of the diff library, then moved to where git shows the same change
 * (the compaction and indent heuristic of its xdiff/xdiffi.c, whose numbers these are). Pure.
 */
import { diffArrays } from 'diff';

/** A run of changed lines: `oldCount` lines from `oldStart` became `newCount` lines from `newStart`, from 0. */
export interface LineChange {
  oldStart: number;
  oldCount: number;
  newStart: number;
  newCount: number;
}

/** How long a comparison may search for the smallest difference; after that everything differs. In milliseconds. */
const SEARCH_MS = 4000;
const MAX_INDENT = 200;
const MAX_BLANKS = 20;
const MAX_SLIDING = 100;

/** Lines with their line breaks. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** `byIndent`: a change goes where its indent speaks for it, else as far down as it can. */
export function lineChanges(before: readonly string[], after: readonly string[], byIndent = true): LineChange[] {
  const [old, fresh] = markedLines(before, after);
  compact(old, fresh, byIndent);
  compact(fresh, old, byIndent);
  const changes: LineChange[] = [];
  for (let at = 0, to = 0; at < before.length || to < after.length; ) {
    if (!old.changed[at] && !fresh.changed[to]) {
      at += 1;
      to += 1;
      continue;
    }
    const [oldStart, newStart] = [at, to];
    while (old.changed[at]) at += 1;
    while (fresh.changed[to]) to += 1;
    changes.push({ oldStart, oldCount: at - oldStart, newStart, newCount: to - newStart });
  }
  return changes;
}

interface MarkedLines {
  lines: readonly string[];
  changed: boolean[];
}

function markedLines(before: readonly string[], after: readonly string[]): [MarkedLines, MarkedLines] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const shorter = Math.min(before.length, after.length) - head;
  while (tail < shorter && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const old = before.slice(head, before.length - tail);
  const fresh = after.slice(head, after.length - tail);
  const marks: [MarkedLines, MarkedLines] = [
    { lines: before, changed: Array<boolean>(before.length).fill(false) },
    { lines: after, changed: Array<boolean>(after.length).fill(false) },
  ];
  const parts = diffArrays(old, fresh, { timeout: SEARCH_MS }) ?? [
    { count: old.length, removed: true, added: false },
    { count: fresh.length, removed: false, added: true },
  ];
  let [at, to] = [head, head];
  for (const { count, removed, added } of parts) {
    if (removed) marks[0].changed.fill(true, at, at + count);
    if (added) marks[1].changed.fill(true, to, to + count);
    if (!added) at += count;
    if (!removed) to += count;
  }
  return marks;
}

/** A run of changed lines, or the empty one between two unchanged lines. */
class Group {
  readonly #of: MarkedLines;
  start = 0;
  end = 0;

  constructor(of: MarkedLines) {
    this.#of = of;
    while (of.changed[this.end]) this.end += 1;
  }

  next(): boolean {
    const { lines, changed } = this.#of;
    if (this.end === lines.length) return false;
    this.start = this.end + 1;
    this.end = this.start;
    while (changed[this.end]) this.end += 1;
    return true;
  }

  previous(): boolean {
    if (this.start === 0) return false;
    this.end = this.start - 1;
    this.start = this.end;
    while (this.#of.changed[this.start - 1]) this.start -= 1;
    return true;
  }

  slideUp(): boolean {
    const { lines, changed } = this.#of;
    if (this.start === 0 || lines[this.start - 1] !== lines[this.end - 1]) return false;
    this.start -= 1;
    this.end -= 1;
    changed[this.start] = true;
    changed[this.end] = false;
    while (changed[this.start - 1]) this.start -= 1;
    return true;
  }

  slideDown(): boolean {
    const { lines, changed } = this.#of;
    if (this.end >= lines.length || lines[this.start] !== lines[this.end]) return false;
    changed[this.start] = false;
    changed[this.end] = true;
    this.start += 1;
    this.end += 1;
    while (changed[this.end]) this.end += 1;
    return true;
  }
}

function compact(marked: MarkedLines, other: MarkedLines, byIndent: boolean): void {
  const group = new Group(marked);
  const twin = new Group(other);
  do {
    if (group.end > group.start) settle(marked, group, twin, byIndent);
  } while (group.next() && twin.next());
}

/** Slides one group to its place; merges it with those that it meets. */
function settle(marked: MarkedLines, group: Group, twin: Group, byIndent: boolean): void {
  let size: number;
  let earliestEnd: number;
  let matchingEnd: number;
  do {
    size = group.end - group.start;
    matchingEnd = -1;
    while (group.slideUp()) twin.previous();
    earliestEnd = group.end;
    if (twin.end > twin.start) matchingEnd = group.end;
    while (group.slideDown()) {
      twin.next();
      if (twin.end > twin.start) matchingEnd = group.end;
    }
  } while (size !== group.end - group.start);
  if (group.end === earliestEnd) return;
  if (matchingEnd !== -1) {
    while (twin.end === twin.start && group.slideUp()) twin.previous();
    return;
  }
  if (!byIndent) return;
  const best = bestEnd(marked.lines, group, earliestEnd, size);
  while (group.end > best && group.slideUp()) twin.previous();
}

interface SplitScore {
  indent: number;
  penalty: number;
}

function bestEnd(lines: readonly string[], group: Group, earliestEnd: number, size: number): number {
  let best = -1;
  let bestScore: SplitScore = { indent: 0, penalty: 0 };
  for (let end = Math.max(earliestEnd, group.end - size - 1, group.end - MAX_SLIDING); end <= group.end; end += 1) {
    const score: SplitScore = { indent: 0, penalty: 0 };
    addSplit(lines, end, score);
    addSplit(lines, end - size, score);
    const compared = 60 * Math.sign(score.indent - bestScore.indent) + score.penalty - bestScore.penalty;
    if (best === -1 || compared <= 0) {
      best = end;
      bestScore = score;
    }
  }
  return best;
}

/** -1 for a blank line. */
function indentOf(line: string): number {
  let indent = 0;
  for (const character of line) {
    if (character === ' ') indent += 1;
    else if (character === '\t') indent += 8 - (indent % 8);
    else if (!/\s/.test(character)) return indent;
    if (indent >= MAX_INDENT) return MAX_INDENT;
  }
  return -1;
}

/** The first line with an indent from `at` on, and how many blank ones come before it. */
function nearest(lines: readonly string[], at: number, step: 1 | -1): { indent: number; blanks: number } {
  let blanks = 0;
  for (let line = at; line >= 0 && line < lines.length; line += step) {
    const indent = indentOf(lines[line] ?? '');
    if (indent !== -1) return { indent, blanks };
    blanks += 1;
    if (blanks === MAX_BLANKS) return { indent: 0, blanks };
  }
  return { indent: -1, blanks };
}

/** Adds what speaks against a split before line `split`. */
function addSplit(lines: readonly string[], split: number, score: SplitScore): void {
  const isEnd = split >= lines.length;
  const own = isEnd ? -1 : indentOf(lines[split] ?? '');
  const before = nearest(lines, split - 1, -1);
  const after = nearest(lines, split + 1, 1);
  if (before.indent === -1 && before.blanks === 0) score.penalty += 1;
  if (isEnd) score.penalty += 21;
  const blanksAfter = own === -1 ? 1 + after.blanks : 0;
  const blanks = before.blanks + blanksAfter;
  score.penalty += -30 * blanks + 6 * blanksAfter;
  const indent = own === -1 ? after.indent : own;
  score.indent += indent;
  if (indent === -1 || before.indent === -1 || indent === before.indent) return;
  if (indent > before.indent) score.penalty += blanks > 0 ? 10 : -4;
  else if (after.indent !== -1 && after.indent > indent) score.penalty += blanks > 0 ? 17 : 24;
  else score.penalty += blanks > 0 ? 17 : 23;
}
