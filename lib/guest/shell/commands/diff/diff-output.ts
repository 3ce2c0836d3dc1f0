/** The output formats of `diff`. */
import type { Change, TextLines } from './diff-lines.ts';

const OPEN_END = '\\ No newline at end of file\n';

export function normalDiff(before: TextLines, after: TextLines, changes: readonly Change[]): string {
  return changes
    .map((change) => {
      const { oldStart, oldEnd, newStart, newEnd } = change;
      const kind = oldStart === oldEnd ? 'a' : newStart === newEnd ? 'd' : 'c';
      const range = (start: number, end: number) => (end - start > 1 ? `${start + 1},${end}` : `${end}`);
      return [
        `${range(oldStart, oldEnd)}${kind}${range(newStart, newEnd)}\n`,
        marked(before, oldStart, oldEnd, '< '),
        kind === 'c' ? '---\n' : '',
        marked(after, newStart, newEnd, '> '),
      ].join('');
    })
    .join('');
}

function marked({ lines, open }: TextLines, start: number, end: number, mark: string): string {
  const text = lines
    .slice(start, end)
    .map((line) => `${mark}${line}\n`)
    .join('');
  return open && end === lines.length && end > start ? text + OPEN_END : text;
}

export function unifiedDiff(before: TextLines, after: TextLines, changes: readonly Change[], context: number): string {
  return hunksOf(changes, context)
    .map((hunk) => unifiedHunk(before, after, hunk, context))
    .join('');
}

/** Changes whose surroundings meet are one hunk. */
function hunksOf(changes: readonly Change[], context: number): Change[][] {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1)?.at(-1);
    if (last !== undefined && change.oldStart - last.oldEnd <= context * 2) hunks.at(-1)?.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function unifiedHunk(before: TextLines, after: TextLines, hunk: readonly Change[], context: number): string {
  const [first, last] = [hunk[0], hunk.at(-1)];
  if (first === undefined || last === undefined) return '';
  const oldStart = Math.max(0, first.oldStart - context);
  const newStart = first.newStart - (first.oldStart - oldStart);
  const oldEnd = Math.min(before.lines.length, last.oldEnd + context);
  const newEnd = last.newEnd + (oldEnd - last.oldEnd);
  const range = (start: number, end: number) =>
    end - start === 1 ? `${start + 1}` : `${end === start ? start : start + 1},${end - start}`;
  let text = `@@ -${range(oldStart, oldEnd)} +${range(newStart, newEnd)} @@\n`;
  let at = oldStart;
  for (const change of hunk) {
    text += marked(before, at, change.oldStart, ' ');
    text += marked(before, change.oldStart, change.oldEnd, '-');
    text += marked(after, change.newStart, change.newEnd, '+');
    at = change.oldEnd;
  }
  return text + marked(before, at, oldEnd, ' ');
}

export function contextDiff(before: TextLines, after: TextLines, changes: readonly Change[], context: number): string {
  return hunksOf(changes, context)
    .map((hunk) => {
      const [first, last] = [hunk[0], hunk.at(-1)];
      if (first === undefined || last === undefined) return '';
      const oldStart = Math.max(0, first.oldStart - context);
      const newStart = Math.max(0, first.newStart - context);
      const oldEnd = Math.min(before.lines.length, last.oldEnd + context);
      const newEnd = Math.min(after.lines.length, last.newEnd + context);
      const range = (start: number, end: number) => (end - start > 1 ? `${start + 1},${end}` : `${end}`);
      const side = (text: TextLines, start: number, end: number, old: boolean) => {
        const spans = hunk.map((change) => ({
          start: old ? change.oldStart : change.newStart,
          end: old ? change.oldEnd : change.newEnd,
          mark: change.oldStart === change.oldEnd || change.newStart === change.newEnd ? (old ? '- ' : '+ ') : '! ',
        }));
        // A side on which nothing changes is not shown.
        if (spans.every((span) => span.start === span.end)) return '';
        let [shown, at] = ['', start];
        for (const span of spans) {
          shown += marked(text, at, span.start, '  ') + marked(text, span.start, span.end, span.mark);
          at = span.end;
        }
        return shown + marked(text, at, end, '  ');
      };
      return `***************\n*** ${range(oldStart, oldEnd)} ****\n${side(before, oldStart, oldEnd, true)}--- ${range(newStart, newEnd)} ----\n${side(after, newStart, newEnd, false)}`;
    })
    .join('');
}

const TAB = 8;

export interface SideBySide {
  width: number;
  /** Leaves out the lines that are the same. */
  onlyChanges: boolean;
  /** Shows only the left one of lines that are the same. */
  leftOnly: boolean;
}

/** Two columns with a mark between them, aligned with tabs as GNU does. */
export function sideBySide(
  before: TextLines,
  after: TextLines,
  changes: readonly Change[],
  { width, onlyChanges, leftOnly }: SideBySide,
): string {
  const offset = Math.floor((width + TAB + 3) / (2 * TAB)) * TAB;
  const half = Math.max(0, Math.min(offset - 3, width - offset));
  const second = half > 0 ? offset : width;
  const row = (left: string | null, mark: string, right: string | null) => {
    const shown = (left ?? '').slice(0, half);
    let text = shown;
    let column = shown.length;
    if (mark !== ' ') {
      const middle = Math.floor((half + second - 1) / 2);
      text += tabsTo(column, middle) + mark;
      column = middle + 1;
    }
    if (right !== null && right !== '') text += tabsTo(column, second) + right.slice(0, half);
    return `${text}\n`;
  };
  let text = '';
  let [oldAt, newAt] = [0, 0];
  for (const change of [...changes, null]) {
    for (; oldAt < (change?.oldStart ?? before.lines.length); oldAt += 1, newAt += 1)
      if (!onlyChanges)
        text += leftOnly
          ? row(before.lines[oldAt] ?? '', '(', null)
          : row(before.lines[oldAt] ?? '', ' ', after.lines[newAt] ?? '');
    if (change === null) break;
    while (oldAt < change.oldEnd || newAt < change.newEnd) {
      const left = oldAt < change.oldEnd ? (before.lines[oldAt] ?? '') : null;
      const right = newAt < change.newEnd ? (after.lines[newAt] ?? '') : null;
      text += row(left, left === null ? '>' : right === null ? '<' : '|', right);
      if (left !== null) oldAt += 1;
      if (right !== null) newAt += 1;
    }
  }
  return text;
}

function tabsTo(from: number, to: number): string {
  let text = '';
  let column = from;
  for (let next = column + TAB - (column % TAB); next <= to; next = column + TAB - (column % TAB)) {
    text += '\t';
    column = next;
  }
  return text + ' '.repeat(Math.max(0, to - column));
}
