/** The lines of `ls`: columns of `-l`, quoting, marks behind names. Knows no files' contents. */

import { diskBlocks, type FileStatus, inodeOf } from '../command-files.ts';
import { textOfMoment } from '../date/date-format.ts';
import { humanSize, modeLetters, OWNER } from '../file-words.ts';

/** Half a year, as GNU takes it: an older or a future time is shown with its year instead of its hour. */
const RECENT_SECONDS = 15_778_476;

export interface ListedFile {
  name: string;
  info: FileStatus;
  links: number;
  /** The kind of what a link leads to; null for nothing, and for what is no link. */
  target: FileStatus | null;
}

export interface ListStyle {
  long: boolean;
  human: 1024 | 1000 | null;
  inodes: boolean;
  blocks: boolean;
  owner: boolean;
  group: boolean;
  numeric: boolean;
  /** What stands behind names: nothing, a slash behind directories, a mark of every kind, or all but executables. */
  mark: 'none' | 'slash' | 'file-type' | 'classify';
  quoting: 'literal' | 'c' | 'escape' | 'shell';
  hideControls: boolean;
  time: string;
  color: boolean;
  blockSize: number;
  context: boolean;
}

/** `Jan  2 03:04`, or with the year when it is not recent. Times in epoch seconds. */
export function recentTime(time: number, now: number): string {
  const recent = time <= now && now - time < RECENT_SECONDS;
  return textOfMoment(recent ? '%b %e %R' : '%b %e  %Y', time * 1000, 'UTC');
}

/** A name as it is printed. */
export function quotedName(name: string, style: Pick<ListStyle, 'quoting' | 'hideControls'>): string {
  switch (style.quoting) {
    case 'c':
      return `"${escapedName(name).replaceAll('"', '\\"')}"`;
    case 'escape':
      return escapedName(name).replaceAll(' ', '\\ ');
    case 'shell':
      return shellName(name);
    default:
      return style.hideControls ? name.replaceAll(/[\0-\x1f\x7f]/g, '?') : name;
  }
}

function escapedName(name: string): string {
  const letters: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '\\': '\\\\' };
  return name.replaceAll(
    /[\0-\x1f\x7f\\]/g,
    (one) => letters[one] ?? `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
}

function shellName(name: string): string {
  if (/^[\w./+@%:,-]+$/.test(name) || /^[^\s!-,;-?[-^`{-~]+$/u.test(name)) return name;
  if (/[\0-\x1f\x7f]/.test(name)) return `'${escapedName(name).replaceAll(/((?:\\.\d*)+)/g, "'$$'$1''")}'`;
  return name.includes("'") && !/["$`\\]/.test(name) ? `"${name}"` : `'${name.replaceAll("'", "'\\''")}'`;
}

/** The name with its mark and, in a long line, what a link leads to. */
function shownName(file: ListedFile, style: ListStyle): string {
  const name = colored(quotedName(file.name, style), file, style);
  if (style.long && file.info.kind === 'link') {
    const target = quotedName(file.info.target ?? '', style);
    return `${name} -> ${target}${file.target === null ? '' : markOf(file.target, style)}`;
  }
  return name + markOf(file.info, style);
}

function markOf(info: FileStatus, { mark }: ListStyle): string {
  if (mark === 'none') return '';
  if (info.kind === 'dir') return '/';
  if (mark === 'slash') return '';
  if (info.kind === 'link') return '@';
  return mark === 'classify' && info.kind === 'file' && (info.mode & 0o111) !== 0 ? '*' : '';
}

function colored(name: string, { info, target }: ListedFile, { color }: ListStyle): string {
  if (!color) return name;
  const executable = info.kind === 'file' && (info.mode & 0o111) !== 0;
  const code =
    info.kind === 'dir'
      ? '01;34'
      : info.kind === 'link'
        ? target === null
          ? '40;31;01'
          : '01;36'
        : executable
          ? '01;32'
          : '';
  return code === '' ? name : `\x1b[${code}m${name}\x1b[0m`;
}

/** The lines of some files, with columns as wide as their widest. */
export function listLines(files: readonly ListedFile[], style: ListStyle, now: number): string[] {
  const rows = files.map((file) => cellsOf(file, style, now));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, { text }] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, text.length);
  }
  return rows.map((row, at) => {
    const cells = row.map(({ text, left }, column) =>
      left ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
    );
    const file = files[at];
    return [...cells, file === undefined ? '' : shownName(file, style)].join(' ');
  });
}

interface Cell {
  text: string;
  left: boolean;
}

function cellsOf({ info, links }: ListedFile, style: ListStyle, now: number): Cell[] {
  const right = (text: string): Cell => ({ text, left: false });
  const left = (text: string): Cell => ({ text, left: true });
  const cells: Cell[] = [];
  if (style.inodes) cells.push(right(String(inodeOf(info))));
  if (style.blocks) cells.push(right(blockCount(info, style)));
  if (!style.long) return style.context ? [...cells, right('?')] : cells;
  const owner = style.numeric ? String(OWNER.id) : OWNER.name;
  cells.push(left(modeLetters(info)), right(String(links)));
  if (style.owner) cells.push(left(owner));
  if (style.group) cells.push(left(owner));
  if (style.context) cells.push(left('?'));
  cells.push(right(sizeOf(info, style)));
  cells.push(left(style.time === '' ? recentTime(info.mtime, now) : timeOf(style.time, info.mtime, now)));
  return cells;
}

function sizeOf(info: FileStatus, { human, blockSize }: ListStyle): string {
  if (info.kind === 'device') return '1, 3';
  if (human !== null) return humanSize(info.size, human);
  return blockSize === 1 ? String(info.size) : withUnit(Math.ceil(info.size / blockSize), blockSize);
}

function withUnit(count: number, blockSize: number): string {
  return `${count}${{ 1024: 'K', 1048576: 'M', 1073741824: 'G' }[blockSize] ?? ''}`;
}

function blockCount(info: FileStatus, { human, blockSize }: ListStyle): string {
  const bytes = diskBlocks(info) * 512;
  if (human !== null) return humanSize(bytes, human);
  return blockSize === 1 ? String(bytes / 1024) : withUnit(Math.ceil(bytes / blockSize), blockSize);
}

/** The line `total` before a long listing. */
export function totalOf(files: readonly ListedFile[], { human, blockSize }: ListStyle): string {
  const bytes = files.reduce((sum, { info }) => sum + diskBlocks(info) * 512, 0);
  if (human !== null) return humanSize(bytes, human);
  return blockSize === 1 ? String(bytes / 1024) : withUnit(Math.ceil(bytes / blockSize), blockSize);
}

function timeOf(style: string, time: number, now: number): string {
  const [recent = '', old = recent] = style.split('\n').toReversed();
  const isRecent = time <= now && now - time < RECENT_SECONDS;
  return textOfMoment(isRecent ? recent : old, time * 1000, 'UTC').replaceAll('\t', ' ');
}
