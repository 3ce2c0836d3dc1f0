/** A three-way merge of one file's lines. Pure. */
import { type LineChange, lineChanges, linesOf } from './line-diff.ts';

export interface MergedText {
  text: string;
  conflicts: number;
}

/** Merges two changes of a text; where both changed the same lines differently, writes git's conflict markers. */
export function mergedText(
  base: string,
  ours: string,
  theirs: string,
  labels: { ours: string; theirs: string },
): MergedText {
  const [old, left, right] = [linesOf(base), linesOf(ours), linesOf(theirs)];
  const [mine, yours] = [lineChanges(old, left), lineChanges(old, right)];
  const parts: string[] = [];
  let conflicts = 0;
  let [at, i, j, leftShift, rightShift] = [0, 0, 0, 0, 0];
  const shift = ({ oldCount, newCount }: LineChange) => newCount - oldCount;
  for (;;) {
    const [a, b] = [mine[i], yours[j]];
    if (a === undefined && b === undefined) break;
    const start = Math.min(a?.oldStart ?? Number.POSITIVE_INFINITY, b?.oldStart ?? Number.POSITIVE_INFINITY);
    parts.push(old.slice(at, start).join(''));
    let end = start;
    const [fromLeft, fromRight] = [leftShift, rightShift];
    let [hasLeft, hasRight] = [false, false];
    // Changes that touch the same lines, or meet, are one region.
    for (let grown = true; grown; ) {
      grown = false;
      for (
        let next = mine[i];
        next !== undefined && isTouching(next, start, end, hasLeft || hasRight);
        next = mine[i]
      ) {
        end = Math.max(end, next.oldStart + next.oldCount);
        leftShift += shift(next);
        [hasLeft, grown] = [true, true];
        i += 1;
      }
      for (
        let next = yours[j];
        next !== undefined && isTouching(next, start, end, hasLeft || hasRight);
        next = yours[j]
      ) {
        end = Math.max(end, next.oldStart + next.oldCount);
        rightShift += shift(next);
        [hasRight, grown] = [true, true];
        j += 1;
      }
    }
    const leftLines = left.slice(start + fromLeft, end + leftShift);
    const rightLines = right.slice(start + fromRight, end + rightShift);
    at = end;
    if (!hasRight) parts.push(leftLines.join(''));
    else if (!hasLeft) parts.push(rightLines.join(''));
    else if (leftLines.join('') === rightLines.join('')) parts.push(leftLines.join(''));
    else {
      conflicts += 1;
      parts.push(conflictText(leftLines, rightLines, labels));
    }
  }
  parts.push(old.slice(at).join(''));
  return { text: parts.join(''), conflicts };
}

function isTouching({ oldStart }: LineChange, start: number, end: number, isBegun: boolean): boolean {
  return isBegun ? oldStart <= end : oldStart === start;
}

function conflictText(
  ours: readonly string[],
  theirs: readonly string[],
  labels: { ours: string; theirs: string },
): string {
  let head = 0;
  while (head < ours.length && head < theirs.length && ours[head] === theirs[head]) head += 1;
  let tail = 0;
  const most = Math.min(ours.length, theirs.length) - head;
  while (tail < most && ours[ours.length - 1 - tail] === theirs[theirs.length - 1 - tail]) tail += 1;
  const whole = (lines: readonly string[]) => lines.map((line) => (line.endsWith('\n') ? line : `${line}\n`)).join('');
  return [
    ours.slice(0, head).join(''),
    `<<<<<<< ${labels.ours}\n`,
    whole(ours.slice(head, ours.length - tail)),
    '=======\n',
    whole(theirs.slice(head, theirs.length - tail)),
    `>>>>>>> ${labels.theirs}\n`,
    ours.slice(ours.length - tail).join(''),
  ].join('');
}
