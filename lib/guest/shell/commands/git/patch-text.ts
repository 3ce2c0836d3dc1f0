/** A change of a file as a patch, in git's words. Pure: contents in, text as bytes (one char each) out. */
import type { TreeChange } from './changes.ts';
import { latin1Of } from './git-output.ts';
import { type LineChange, lineChanges, linesOf } from './line-diff.ts';
import { quotedPath } from './quoted-path.ts';
import { SUBMODULE_MODE } from './repository.ts';
import { type WordDiff, wordHunk } from './word-diff.ts';

/** A changed file with the contents of both sides; an absent side is empty. */
export interface ChangeContents {
  change: TreeChange;
  before: Buffer;
  after: Buffer;
}

const NULL_HASH = '0'.repeat(40);
const SHORT = 7;
const SEARCHED_FOR_NUL = 8000;
const MAX_HEADING = 80;

export function isBinaryContent(content: Buffer): boolean {
  return content.subarray(0, SEARCHED_FOR_NUL).includes(0);
}

interface PatchStyle {
  /** Unchanged lines around a change. */
  context: number;
  fullIndex?: boolean;
  words?: WordDiff | null;
}

export function patchText(contents: ChangeContents, style: PatchStyle): string {
  const { fullIndex = false } = style;
  const { change, before, after } = contents;
  if (change.status === 'T')
    return patchText(half(contents, 'before'), style) + patchText(half(contents, 'after'), style);
  const [oldName, newName] = [quotedPath(`a/${change.from}`), quotedPath(`b/${change.path}`)];
  const lines = [`diff --git ${oldName} ${newName}`, ...modeLines(change)];
  const same = change.before?.oid === change.after?.oid;
  if (!same) lines.push(indexLine(change, fullIndex));
  const text = isBinaryContent(before) || isBinaryContent(after);
  if (same) return joined(lines);
  const from = change.before === null ? '/dev/null' : oldName;
  const to = change.after === null ? '/dev/null' : newName;
  if (text) return joined([...lines, `Binary files ${from} and ${to} differ`]);
  const hunks = hunksOf(before.toString('latin1'), after.toString('latin1'), style);
  if (hunks === '') return joined(lines);
  const tab = (name: string, path: string) => (path.includes(' ') && name !== '/dev/null' ? `${name}\t` : name);
  return joined([...lines, `--- ${tab(from, change.from)}`, `+++ ${tab(to, change.path)}`]) + hunks;
}

/** A change of type is shown as a removal and an addition. */
function half({ change, before, after }: ChangeContents, side: 'before' | 'after'): ChangeContents {
  const empty = Buffer.alloc(0);
  return side === 'before'
    ? { change: { ...change, status: 'D', after: null }, before, after: empty }
    : { change: { ...change, status: 'A', before: null }, before: empty, after };
}

const joined = (lines: readonly string[]) => lines.map((line) => `${latin1Of(line)}\n`).join('');
const octal = (mode: number) => mode.toString(8).padStart(6, '0');

function modeLines({ status, before, after, similarity, from, path }: TreeChange): string[] {
  if (before === null) return [`new file mode ${octal(after?.mode ?? 0)}`];
  if (after === null) return [`deleted file mode ${octal(before.mode)}`];
  const modes = before.mode === after.mode ? [] : [`old mode ${octal(before.mode)}`, `new mode ${octal(after.mode)}`];
  if (status !== 'R') return modes;
  return [
    ...modes,
    `similarity index ${similarity}%`,
    `rename from ${quotedPath(from)}`,
    `rename to ${quotedPath(path)}`,
  ];
}

function indexLine({ before, after }: TreeChange, fullIndex: boolean): string {
  const name = (oid: string | undefined) => (oid ?? NULL_HASH).slice(0, fullIndex ? 40 : SHORT);
  const mode = before !== null && after !== null && before.mode === after.mode ? ` ${octal(before.mode)}` : '';
  return `index ${name(before?.oid)}..${name(after?.oid)}${mode}`;
}

/** The content that a patch shows of a submodule. */
export function submoduleText(oid: string): Buffer {
  return Buffer.from(`Subproject commit ${oid}\n`);
}

export function isSubmodule(mode: number | undefined): boolean {
  return mode === SUBMODULE_MODE;
}

function hunksOf(before: string, after: string, { context, words = null }: PatchStyle): string {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const groups: LineChange[][] = [];
  for (const change of lineChanges(old, fresh)) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && change.oldStart - (last.oldStart + last.oldCount) <= context * 2)
      groups.at(-1)?.push(change);
    else groups.push([change]);
  }
  return groups.map((group) => hunkText(old, fresh, group, { context, words })).join('');
}

function hunkText(
  old: readonly string[],
  fresh: readonly string[],
  group: readonly LineChange[],
  { context, words }: Required<Pick<PatchStyle, 'context' | 'words'>>,
): string {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) return '';
  const before = Math.min(context, first.oldStart, Math.max(first.oldStart, 0));
  const oldEnd = Math.min(old.length, last.oldStart + last.oldCount + context);
  const after = oldEnd - (last.oldStart + last.oldCount);
  const [oldFrom, newFrom] = [first.oldStart - before, first.newStart - before];
  const newEnd = last.newStart + last.newCount + after;
  const lines: string[] = [];
  let at = oldFrom;
  for (const change of group) {
    for (; at < change.oldStart; at += 1) lines.push(` ${old[at]}`);
    for (; at < change.oldStart + change.oldCount; at += 1) lines.push(`-${old[at]}`);
    for (let to = change.newStart; to < change.newStart + change.newCount; to += 1) lines.push(`+${fresh[to]}`);
  }
  for (; at < oldEnd; at += 1) lines.push(` ${old[at]}`);
  const heading = headingBefore(old, oldFrom);
  const head = `@@ -${span(oldFrom, oldEnd)} +${span(newFrom, newEnd)} @@${heading === '' ? '' : ` ${heading}`}\n`;
  if (words)
    return (
      head +
      wordHunk(
        lines.map((line) => (line.endsWith('\n') ? line : `${line}\n`)),
        words,
      )
    );
  return head + lines.map((line) => (line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`)).join('');
}

function span(from: number, end: number): string {
  const count = end - from;
  return count === 1 ? `${from + 1}` : `${count === 0 ? from : from + 1},${count}`;
}

/** The nearest line above that begins as a function does. */
function headingBefore(lines: readonly string[], from: number): string {
  for (let at = from - 1; at >= 0; at -= 1) {
    const line = lines[at] ?? '';
    if (/^[A-Za-z_$]/.test(line)) return line.slice(0, MAX_HEADING).trimEnd();
  }
  return '';
}

/** Added and removed lines; null for a binary file. */
export function lineCounts({ change, before, after }: ChangeContents): { added: number; removed: number } | null {
  if (isBinaryContent(before) || isBinaryContent(after)) return null;
  if (change.before?.oid === change.after?.oid) return { added: 0, removed: 0 };
  const changes = lineChanges(linesOf(before.toString('latin1')), linesOf(after.toString('latin1')));
  const sum = (key: 'newCount' | 'oldCount') => changes.reduce((total, one) => total + one[key], 0);
  return { added: sum('newCount'), removed: sum('oldCount') };
}
