/** The lines in which two texts differ, as groups of changed lines; and how lines are read for that. */
import { diffArrays } from 'diff';

/** How long the shortest difference is searched for, in milliseconds. */
const SEARCH_MS = 5000;

/** Lines [oldStart, oldEnd) became lines [newStart, newEnd). */
export interface Change {
  oldStart: number;
  oldEnd: number;
  newStart: number;
  newEnd: number;
}

export interface TextLines {
  lines: string[];
  /** Whether the last line has no end. */
  open: boolean;
}

export function linesForDiff(text: string): TextLines {
  if (text === '') return { lines: [], open: false };
  const open = !text.endsWith('\n');
  return { lines: (open ? text : text.slice(0, -1)).split('\n'), open };
}

/** `keyOf` makes lines equal that count as the same. */
export function changesOf(before: TextLines, after: TextLines, keyOf: (line: string) => string): Change[] {
  const keys = ({ lines, open }: TextLines) =>
    lines.map((line, at) => (open && at === lines.length - 1 ? `${keyOf(line)}\n\\` : keyOf(line)));
  const [one, other] = [keys(before), keys(after)];
  const parts = diffArrays(one, other, { timeout: SEARCH_MS });
  if (parts === undefined) return [middleOf(one, other)];
  const changes: Change[] = [];
  let [oldAt, newAt] = [0, 0];
  for (const part of parts) {
    const count = part.value.length;
    if (!part.added && !part.removed) {
      oldAt += count;
      newAt += count;
      continue;
    }
    let last = changes.at(-1);
    if (last === undefined || last.oldEnd !== oldAt || last.newEnd !== newAt) {
      last = { oldStart: oldAt, oldEnd: oldAt, newStart: newAt, newEnd: newAt };
      changes.push(last);
    }
    if (part.removed) last.oldEnd = oldAt += count;
    else last.newEnd = newAt += count;
  }
  return changes;
}

/** Everything between the first and the last lines that are the same: right, and not the shortest. */
function middleOf(one: readonly string[], other: readonly string[]): Change {
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return { oldStart: start, oldEnd: one.length - end, newStart: start, newEnd: other.length - end };
}
