/** How a file is described in words and letters: its permissions, its owner, its kind, its size. Pure. */
import type { FileStatus } from './command-files.ts';

/** Whom everything in a sandbox belongs to. */
export const OWNER = { name: 'user', id: 1000 } as const;

const KIND_LETTERS: Readonly<Record<FileStatus['kind'], string>> = { file: 'f', dir: 'd', link: 'l', device: 'c' };
const KIND_BITS: Readonly<Record<FileStatus['kind'], number>> = {
  file: 0o100000,
  dir: 0o040000,
  link: 0o120000,
  device: 0o020000,
};

/** The letter of `find -type`. */
export function kindLetter({ kind }: FileStatus): string {
  return KIND_LETTERS[kind];
}

/** The mode with the bits of its kind. */
export function rawMode({ kind, mode }: FileStatus): number {
  return KIND_BITS[kind] | mode;
}

/** The kind in words, as `stat` says it. */
export function kindWords({ kind, size }: FileStatus): string {
  if (kind === 'file') return size === 0 ? 'regular empty file' : 'regular file';
  return { dir: 'directory', link: 'symbolic link', device: 'character special file' }[kind];
}

/** The permissions in nine letters, as `rw-r--r--`. */
export function permissionLetters(mode: number): string {
  const bits = [0o400, 0o200, 0o100, 0o40, 0o20, 0o10, 0o4, 0o2, 0o1];
  const letters = bits.map((bit, at) => (mode & bit ? 'rwx'[at % 3] : '-'));
  if (mode & 0o4000) letters[2] = mode & 0o100 ? 's' : 'S';
  if (mode & 0o2000) letters[5] = mode & 0o10 ? 's' : 'S';
  if (mode & 0o1000) letters[8] = mode & 0o1 ? 't' : 'T';
  return letters.join('');
}

/** The kind and the permissions, as `-rw-r--r--`. */
export function modeLetters(info: FileStatus): string {
  const kind = info.kind === 'file' ? '-' : KIND_LETTERS[info.kind];
  return kind + permissionLetters(info.mode);
}

/** A size with a unit, rounded up as GNU does: `1.5K`. */
export function humanSize(bytes: number, base: 1024 | 1000 = 1024): string {
  const units = base === 1024 ? ['', 'K', 'M', 'G', 'T'] : ['', 'k', 'M', 'G', 'T'];
  let value = bytes;
  let unit = 0;
  while (value >= base && unit < units.length - 1) {
    value /= base;
    unit += 1;
  }
  if (unit === 0) return String(bytes);
  const tenths = Math.ceil(value * 10 - 1e-9) / 10;
  const shown = tenths < 10 ? tenths.toFixed(1) : String(Math.ceil(value - 1e-9));
  return Number(shown) >= base && unit < units.length - 1 ? `1.0${units[unit + 1]}` : shown + units[unit];
}

/** A mode as `chmod` reads it: octal, or symbolic on top of `current`. Null when it is neither. */
export function parseMode(text: string, current: number, directory: boolean): number | null {
  if (/^[0-7]{1,5}$/.test(text)) return Number.parseInt(text, 8) & 0o7777;
  let mode = current;
  for (const clause of text.split(',')) {
    const found = /^([ugoa]*)((?:[-+=][rwxXst]*|[-+=][ugo])+)$/.exec(clause);
    if (found === null) return null;
    const who = found[1] === '' || found[1]?.includes('a') ? 'ugo' : (found[1] ?? '');
    // Without letters for whom, the umask of 022 holds.
    const masked = found[1] === '' ? 0o022 : 0;
    for (const [, operator = '', letters = ''] of (found[2] ?? '').matchAll(/([-+=])([rwxXst]*|[ugo])/g))
      mode = applied(mode, who, operator, letters, directory, masked);
  }
  return mode;
}

function applied(
  mode: number,
  who: string,
  operator: string,
  letters: string,
  directory: boolean,
  masked: number,
): number {
  const shifts: Readonly<Record<string, number>> = { u: 6, g: 3, o: 0 };
  let bits = 0;
  for (const one of who) {
    const shift = shifts[one] ?? 0;
    const from = shifts[letters];
    let part = from === undefined ? 0 : (mode >> from) & 7;
    if (from === undefined) {
      if (letters.includes('r')) part |= 4;
      if (letters.includes('w')) part |= 2;
      if (letters.includes('x') || (letters.includes('X') && (directory || (mode & 0o111) !== 0))) part |= 1;
    }
    bits |= part << shift;
    if (letters.includes('s') && one === 'u') bits |= 0o4000;
    if (letters.includes('s') && one === 'g') bits |= 0o2000;
  }
  if (letters.includes('t')) bits |= 0o1000;
  bits &= ~masked;
  if (operator === '+') return mode | bits;
  if (operator === '-') return mode & ~bits;
  const cleared = [...who].reduce((rest, one) => rest & ~(7 << (shifts[one] ?? 0)), mode & 0o777);
  return cleared | bits;
}
