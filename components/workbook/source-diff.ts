/** What differs between two sources, line by line, with a little around each change. Pure. */
import { structuredPatch } from 'diff';

export interface DiffLine {
  kind: 'same' | 'removed' | 'added';
  text: string;
  /** Its number in the version that has it: in the newer one when both do. */
  line: number;
}

/** Lines that follow each other. */
export type DiffHunk = DiffLine[];

const AROUND = 3;
/** Longer comparisons are given up: sources that share nothing would take minutes. */
const LONGEST_MS = 300;

/** Null when they differ too much to compare. */
export function diffSources(before: string, after: string): DiffHunk[] | null {
  const patch = structuredPatch('', '', before, after, '', '', { context: AROUND, timeout: LONGEST_MS });
  if (patch === undefined) return null;
  return patch.hunks.map(({ oldStart, newStart, lines }) => {
    let older = oldStart;
    let newer = newStart;
    return lines.flatMap((line): DiffLine[] => {
      const text = line.slice(1);
      if (line.startsWith('-')) return [{ kind: 'removed', text, line: older++ }];
      if (line.startsWith('+')) return [{ kind: 'added', text, line: newer++ }];
      if (!line.startsWith(' ')) return [];
      older += 1;
      return [{ kind: 'same', text, line: newer++ }];
    });
  });
}
