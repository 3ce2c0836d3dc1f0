/**
 * What a checkout leaves out, told: the list at the end of the archive, and the few names that a header has. Pure.
 */
import type { LeftOutSummary } from './messages.ts';

/** The list's name at the top of the archive; with a number where the workspace has an entry of that name. */
const LIST = 'WINTERDOCK-LEFT-OUT';
/** Lines of the list. */
const MOST_LISTED = 10_000;
/** Names in a header, and the letters that they take there at most. */
const MOST_NAMED = 10;
const LONGEST_HEADER = 1000;

/** The name of the list in an archive whose top has the `taken` names. */
export function listName(taken: ReadonlySet<string>): string {
  const lower = new Set([...taken].map((name) => name.toLowerCase()));
  for (let n = 1; ; n += 1) {
    const name = `${LIST}${n === 1 ? '' : `-${n}`}.txt`;
    if (!lower.has(name.toLowerCase())) return name;
  }
}

/** The text of the list. */
export function leftOutList(paths: ReadonlySet<string>): Buffer {
  const lines = [...paths].slice(0, MOST_LISTED).map(asLine);
  const more = paths.size - lines.length;
  return Buffer.from(`git runs what the settings and hooks of a repository say, at the first git status in it. This workspace has some, and
they are not in this archive:

${lines.join('\n')}${more > 0 ? `\nand ${more} more` : ''}

They are still in the sandbox, and each can be downloaded by itself.
`);
}

/** How many there are, and the first of them. */
export function summaryOf(paths: ReadonlySet<string>): LeftOutSummary {
  return { count: paths.size, first: [...paths].slice(0, MOST_NAMED) };
}

/** The summary as a header: the number, then percent-encoded paths; null when nothing was left out. */
export function leftOutHeader({ count, first }: LeftOutSummary): string | null {
  if (count === 0) return null;
  let header = String(count);
  for (const path of first) {
    const next = `${header} ${encodeURI(path.toWellFormed())}`;
    if (next.length > LONGEST_HEADER) break;
    header = next;
  }
  return header;
}

function asLine(path: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path;
}
