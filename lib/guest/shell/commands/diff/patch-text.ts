/** Reads patches in unified and normal format, and applies a hunk to lines. Pure. */

export interface Hunk {
  /** First line of the hunk, from zero. */
  start: number;
  before: string[];
  after: string[];
  /** Unchanged lines at its begin and end, which may differ when it is placed with fuzz. */
  leading: number;
  trailing: number;
  beforeOpen: boolean;
  afterOpen: boolean;
  /** As it was written, for the file of rejects. */
  text: string;
}

export interface FilePatch {
  oldName: string | null;
  newName: string | null;
  hunks: Hunk[];
}

export function parsePatch(text: string): FilePatch[] {
  const lines = text.split('\n');
  const files: FilePatch[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const next = lines[at + 1] ?? '';
    if (line.startsWith('--- ') && next.startsWith('+++ ')) {
      files.push({ oldName: nameOf(line), newName: nameOf(next), hunks: [] });
      at += 2;
      continue;
    }
    const unified = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (unified) {
      const parsed = unifiedHunk(lines, at, Number(unified[1]), Number(unified[2] ?? 1), Number(unified[4] ?? 1));
      files.at(-1)?.hunks.push(parsed.hunk);
      at = parsed.next;
      continue;
    }
    const normal = /^(\d+)(?:,(\d+))?([acd])(\d+)(?:,(\d+))?$/.exec(line);
    if (normal && /^[<>] /.test(next)) {
      if (files.length === 0 || files.at(-1)?.oldName !== null) files.push({ oldName: null, newName: null, hunks: [] });
      const parsed = normalHunk(lines, at, Number(normal[1]) - (normal[3] === 'a' ? 0 : 1));
      files.at(-1)?.hunks.push(parsed.hunk);
      at = parsed.next;
      continue;
    }
    at += 1;
  }
  return files.filter(({ hunks }) => hunks.length > 0);
}

/** The name in a header. A file whose time there is the epoch is none, as `diff -N` writes it. */
function nameOf(line: string): string {
  const time = /\t(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.0*)? ([-+]\d{4})$/.exec(line);
  if (time && Date.parse(`${time[1]} ${time[2]}`) === 0) return '/dev/null';
  return line
    .slice(4)
    .replace(/\t.*$/, '')
    .replace(/\s+$/, '')
    .replace(/^"(.*)"$/, '$1');
}

function unifiedHunk(
  lines: readonly string[],
  at: number,
  first: number,
  oldCount: number,
  newCount: number,
): { hunk: Hunk; next: number } {
  const [before, after]: [string[], string[]] = [[], []];
  const kinds: string[] = [];
  let [beforeOpen, afterOpen] = [false, false];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    if (line.startsWith('\\')) {
      const kind = kinds.at(-1);
      if (kind !== '+') beforeOpen = true;
      if (kind !== '-') afterOpen = true;
      continue;
    }
    if (before.length >= oldCount && after.length >= newCount) break;
    const kind = line[0] ?? ' ';
    if (!' -+'.includes(kind)) break;
    kinds.push(kind);
    if (kind !== '+') before.push(line.slice(1));
    if (kind !== '-') after.push(line.slice(1));
  }
  const leading = kinds.findIndex((kind) => kind !== ' ');
  const trailing = kinds.toReversed().findIndex((kind) => kind !== ' ');
  const hunk: Hunk = {
    start: oldCount === 0 ? first : first - 1,
    before,
    after,
    leading: Math.max(0, leading),
    trailing: Math.max(0, trailing),
    beforeOpen,
    afterOpen,
    text: `${lines.slice(at, next).join('\n')}\n`,
  };
  return { hunk, next };
}

function normalHunk(lines: readonly string[], at: number, start: number): { hunk: Hunk; next: number } {
  const [before, after]: [string[], string[]] = [[], []];
  let [beforeOpen, afterOpen] = [false, false];
  let isAfter = false;
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    if (line.startsWith('< ')) before.push(line.slice(2));
    else if (line.startsWith('> ')) {
      after.push(line.slice(2));
      isAfter = true;
    } else if (line.startsWith('\\')) {
      if (isAfter) afterOpen = true;
      else beforeOpen = true;
    } else if (line !== '---') break;
  }
  const text = `${lines.slice(at, next).join('\n')}\n`;
  return { hunk: { start, before, after, leading: 0, trailing: 0, beforeOpen, afterOpen, text }, next };
}

/** A hunk that undoes this one. */
export function reversed(hunk: Hunk): Hunk {
  const { before, after, beforeOpen, afterOpen } = hunk;
  return { ...hunk, before: after, after: before, beforeOpen: afterOpen, afterOpen: beforeOpen };
}

/** Where a hunk fits: the line nearest to `expected`, with as little fuzz as possible. Null: nowhere. */
export function placeOf(
  lines: readonly string[],
  hunk: Hunk,
  expected: number,
  maxFuzz: number,
): { at: number; fuzz: number } | null {
  const context = Math.max(hunk.leading, hunk.trailing);
  for (let fuzz = 0; fuzz <= Math.min(maxFuzz, context); fuzz += 1) {
    const cutStart = Math.max(0, fuzz + hunk.leading - context);
    const cutEnd = Math.max(0, fuzz + hunk.trailing - context);
    const wanted = hunk.before.slice(cutStart, hunk.before.length - cutEnd);
    const fits = (at: number) =>
      at >= 0 && at + wanted.length <= lines.length && wanted.every((line, index) => lines[at + index] === line);
    for (let offset = 0; offset <= lines.length; offset += 1) {
      for (const at of offset === 0
        ? [expected + cutStart]
        : [expected + cutStart + offset, expected + cutStart - offset]) {
        if (fits(at)) return { at: at - cutStart, fuzz };
      }
    }
  }
  return null;
}
