/** What stays out of a copy of a sandbox's files because git takes commands from it, in words. */
import { printable } from './format.ts';

/** How much stays out, and the first of it; folders end with a slash. */
export interface LeftOutPaths {
  count: number;
  first: readonly string[];
}

/** Names that a note has. */
const MOST_NAMED = 5;

/** Reads the header of a checkout. */
export function leftOutOf(header: string | null): LeftOutPaths {
  const [count = '0', ...paths] = (header ?? '').split(' ');
  return { count: Number(count), first: paths.map(decodeURI) };
}

/** The note about it. `where`: how to come by the rest. */
export function leftOutText({ count, first }: LeftOutPaths, where: string): string {
  const named = first.slice(0, MOST_NAMED);
  const more = count > named.length ? ` and ${count - named.length} more` : '';
  return printable(`Left out, as git would run what it says: ${named.join(', ')}${more}. ${where}`);
}
