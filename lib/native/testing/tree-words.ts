/** What a tree of files is, in words that can be compared: of a plain folder and of a mount alike. For tests. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmdirSync, unlinkSync } from 'node:fs';

/** Times that tests set are in this range, with half a second; all others are of the present. */
const PINNED_FROM = 1_000_000_000;
const PINNED_UNTIL = 1_100_000_000;
const HALF = 500_000_000n;

/** A time that tests set, by a number. */
export function pinnedTime(number: number): number {
  return PINNED_FROM + (number % (PINNED_UNTIL - PINNED_FROM)) + 0.5;
}

/** A path below a root, of bytes. */
export function below(root: string, ...names: Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(root), ...names.flatMap((name) => [Buffer.from('/'), name])]);
}

/** The kind, mode, count of names, size and time of one entry; the error's code where there is none. */
export function entryWords(path: Buffer): string {
  try {
    const { mode, nlink, size, mtimeNs } = lstatSync(path, { bigint: true });
    const isDirectory = (Number(mode) & 0o170000) === 0o040000;
    const seconds = mtimeNs / 1_000_000_000n;
    const isPinned = mtimeNs % 1_000_000_000n === HALF && seconds >= PINNED_FROM && seconds < PINNED_UNTIL;
    return `${Number(mode).toString(8)} ×${nlink} ${isDirectory ? '-' : size} ${isPinned ? mtimeNs : 'now'}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** Everything in a folder, by path, with what is in it. */
export function treeWords(root: string): string[] {
  const words: string[] = [];
  const visit = (path: Buffer, shown: string) => {
    const entry = entryWords(path);
    words.push(`${shown || '/'} ${entry} ${contentOf(path, entry)}`);
    if (!entry.startsWith('4')) return;
    const names = readdirSync(path, { encoding: 'buffer' }) as Buffer[];
    const sorted = names.map((name) => name.toString('latin1')).toSorted();
    for (const name of sorted)
      visit(Buffer.concat([path, Buffer.from('/'), Buffer.from(name, 'latin1')]), `${shown}/${name}`);
  };
  visit(Buffer.from(root), '');
  return words;
}

/** Removes everything in a folder, whatever its names are: Node's own way needs them to be text. */
export function emptyFolder(folder: Buffer): void {
  for (const name of readdirSync(folder, { encoding: 'buffer' }) as Buffer[]) {
    const path = Buffer.concat([folder, Buffer.from('/'), name]);
    if (!lstatSync(path).isDirectory()) unlinkSync(path);
    else {
      emptyFolder(path);
      rmdirSync(path);
    }
  }
}

function contentOf(path: Buffer, entry: string): string {
  if (entry.startsWith('12')) return (readlinkSync(path, { encoding: 'buffer' }) as Buffer).toString('latin1');
  if (!entry.startsWith('100')) return '';
  return createHash('sha1').update(readFileSync(path)).digest('hex');
}
