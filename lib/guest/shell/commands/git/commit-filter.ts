/** Which commits `log` and `rev-list` leave out: by who made them, when, and what they say. */
import { approximateSeconds } from './approximate-date.ts';
import type { CommandLine, OptionTable } from './command-line.ts';
import { usageError } from './git-error.ts';
import type { CommitObject } from './objects.ts';

export const FILTER_OPTIONS = {
  merges: 'flag',
  'no-merges': 'flag',
  author: 'value',
  committer: 'value',
  grep: 'value',
  'i,regexp-ignore-case': 'flag',
  'after,since': 'value',
  'before,until': 'value',
} as const satisfies OptionTable;

type FilterLine = CommandLine<
  'merges' | 'no-merges' | 'author' | 'committer' | 'grep' | 'regexp-ignore-case' | 'since' | 'until'
>;

/** A whole number that an option gives. Throws for another text, which git takes for 0. */
export function givenNumber(line: CommandLine<'max-count' | 'skip'>, name: 'max-count' | 'skip'): number | null {
  const text = line.value(name);
  if (text === undefined) return null;
  if (!/^[+-]?\d+$/.test(text)) throw usageError(`option \`${name}' expects a number, not '${text}'`);
  return Number(text) < 0 ? null : Number(text);
}

/** The date that an option gives, in seconds; null without one. */
export function givenSeconds(line: FilterLine, name: 'since' | 'until'): number | null {
  const text = line.value(name);
  return text === undefined ? null : approximateSeconds(text);
}

/** `since` is not among them: it ends the walk. */
export function commitFilter(line: FilterLine): (commit: CommitObject) => boolean {
  const flags = line.has('regexp-ignore-case') ? 'i' : '';
  const patterns = (name: 'author' | 'committer' | 'grep') => line.values(name).map((text) => new RegExp(text, flags));
  const [authors, committers, greps] = [patterns('author'), patterns('committer'), patterns('grep')];
  const until = givenSeconds(line, 'until');
  const some = (list: RegExp[], text: string) => list.length === 0 || list.some((pattern) => pattern.test(text));
  return (commit) =>
    some(authors, `${commit.author.name} <${commit.author.email}>`) &&
    some(committers, `${commit.committer.name} <${commit.committer.email}>`) &&
    some(greps, commit.message) &&
    (until === null || commit.committer.seconds <= until) &&
    !(line.has('merges') && commit.parents.length < 2) &&
    !(line.has('no-merges') && commit.parents.length > 1);
}
