/**
 * The difference of a file from both sides of a merge, as `git diff --cc` shows it: hunks in which it is neither
 * side's. Pure.
 */
import { latin1Of } from './git-output.ts';
import { lineChanges, linesOf } from './line-diff.ts';
import { quotedPath } from './quoted-path.ts';

export interface CombinedSides {
  path: string;
  /** Contents and hashes of both sides; contents as bytes, one char each. */
  ours: { content: string; oid: string };
  theirs: { content: string; oid: string };
  /** A null hash: the work tree's. */
  result: { content: string; oid: string | null };
}

const CONTEXT = 3;
const SHORT = 7;
const BOTH = 3;
const MAX_HEADING = 40;

interface LostLine {
  text: string;
  /** Bits of the sides that had it: 1 and 2. */
  sides: number;
}

/** A line of the result, or what stands behind its last one. */
interface ResultLine {
  text: string;
  /** Bits of the sides that do not have it. */
  added: number;
  /** What was there before it. */
  lost: LostLine[];
}

/** Empty when every hunk is one side's. */
export function combinedText({ path, ours, theirs, result }: CombinedSides): string {
  const lines = resultLines(ours.content, theirs.content, result.content);
  const shown = shownLines(lines);
  const hunks: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (!shown.has(at)) continue;
    let end = at;
    while (end < lines.length && shown.has(end)) end += 1;
    hunks.push(hunkText(lines, at, end));
    at = end;
  }
  if (hunks.length === 0) return '';
  const index = [ours.oid, theirs.oid].map((oid) => oid.slice(0, SHORT)).join(',');
  const head = [
    `diff --cc ${quotedPath(path)}`,
    `index ${index}..${(result.oid ?? '0'.repeat(SHORT)).slice(0, SHORT)}`,
    `--- ${quotedPath(`a/${path}`)}`,
    `+++ ${quotedPath(`b/${path}`)}`,
  ];
  return head.map((line) => `${latin1Of(line)}\n`).join('') + hunks.join('');
}

function resultLines(ours: string, theirs: string, result: string): ResultLine[] {
  const fresh = linesOf(result);
  const lines: ResultLine[] = [...fresh, ''].map((text) => ({ text, added: 0, lost: [] }));
  for (const [side, content] of [ours, theirs].entries()) {
    const bit = side + 1;
    const old = linesOf(content);
    for (const { oldStart, oldCount, newStart, newCount } of lineChanges(old, fresh)) {
      addLost(lines[newStart], old.slice(oldStart, oldStart + oldCount), bit);
      for (const line of lines.slice(newStart, newStart + newCount)) line.added |= bit;
    }
  }
  return lines;
}

/** A line that both sides had is lost once. */
function addLost(line: ResultLine | undefined, gone: readonly string[], bit: number): void {
  if (line === undefined) return;
  let from = 0;
  for (const text of gone) {
    const known = line.lost.findIndex((one, at) => at >= from && one.text === text && (one.sides & bit) === 0);
    if (known < 0) {
      line.lost.splice(from, 0, { text, sides: bit });
      from += 1;
      continue;
    }
    const lost = line.lost[known];
    if (lost !== undefined) lost.sides |= bit;
    from = known + 1;
  }
}

/** The lines of hunks that are neither side's, with the lines around them. */
function shownLines(lines: readonly ResultLine[]): Set<number> {
  const isChanged = ({ added, lost }: ResultLine) => added !== 0 || lost.length > 0;
  const chosen = new Set<number>();
  for (let at = 0; at < lines.length; at += 1) {
    if (!isChanged(lines[at] as ResultLine)) continue;
    let end = at + 1;
    for (let ahead = end; ahead < lines.length && ahead < end + CONTEXT; ahead += 1) {
      if (isChanged(lines[ahead] as ResultLine)) end = ahead + 1;
    }
    const hunk = lines.slice(at, end);
    const kinds = new Set(
      hunk.flatMap(({ added, lost }) => [...(added === 0 ? [] : [added]), ...lost.map(({ sides }) => sides)]),
    );
    if (kinds.size > 1 || kinds.has(BOTH)) {
      for (let line = Math.max(0, at - CONTEXT); line < Math.min(lines.length, end + CONTEXT); line += 1)
        chosen.add(line);
    }
    at = end - 1;
  }
  return chosen;
}

function hunkText(lines: readonly ResultLine[], start: number, end: number): string {
  const body: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (at < start || at >= end) continue;
    for (const { text, sides } of line.lost) body.push(`${sides & 1 ? '-' : ' '}${sides & 2 ? '-' : ' '}${text}`);
    if (at < lines.length - 1) body.push(`${line.added & 1 ? '+' : ' '}${line.added & 2 ? '+' : ' '}${line.text}`);
  }
  const span = (begin: number, count: number) => `${count === 0 ? begin : begin + 1},${count}`;
  const side = (bit: number) => {
    const begin = sideLines(lines, 0, start, bit);
    return span(begin, sideLines(lines, start, end, bit));
  };
  const count = Math.min(end, lines.length - 1) - start;
  const heading = headingBefore(lines, start);
  const head = `@@@ -${side(1)} -${side(2)} +${span(start, count)} @@@${heading === '' ? '' : ` ${heading}`}\n`;
  return head + body.map((line) => (line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`)).join('');
}

/** How many lines of a side there are from one line of the result to another. */
function sideLines(lines: readonly ResultLine[], from: number, to: number, bit: number): number {
  let count = 0;
  for (const [at, { added, lost }] of lines.entries()) {
    if (at < from || at >= to) continue;
    count += lost.filter(({ sides }) => (sides & bit) !== 0).length;
    if ((added & bit) === 0 && at < lines.length - 1) count += 1;
  }
  return count;
}

/** As git shows it: without its last character. */
function headingBefore(lines: readonly ResultLine[], start: number): string {
  for (let at = start - 1; at >= 0; at -= 1) {
    const text = lines[at]?.text ?? '';
    if (/^[A-Za-z_$]/.test(text)) return text.slice(0, MAX_HEADING).trimEnd().slice(0, -1);
  }
  return '';
}
