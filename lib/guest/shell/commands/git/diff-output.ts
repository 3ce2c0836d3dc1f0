/** What a list of changes looks like: as a patch, a summary or names, as the options of diff, show and log say. */
import { type ReadSide, type TreeChange, withRenames } from './changes.ts';
import type { CommandLine, OptionTable } from './command-line.ts';
import { numStatText, shortStatText, statText, summaryText } from './diffstat.ts';
import { fatal, unsupported } from './git-error.ts';
import { latin1Of } from './git-output.ts';
import { type ChangeContents, isSubmodule, patchText, submoduleText } from './patch-text.ts';
import { quotedPath } from './quoted-path.ts';
import type { Repository, TreeFile } from './repository.ts';
import { type WordDiff, wordDiffOf } from './word-diff.ts';

export const DIFF_OPTIONS = {
  'u,p,patch': 'flag',
  's,no-patch': 'flag',
  'U,unified': 'value',
  stat: 'maybe',
  shortstat: 'flag',
  numstat: 'flag',
  summary: 'flag',
  'name-only': 'flag',
  'name-status': 'flag',
  'patch-with-stat': 'flag',
  'full-index': 'flag',
  'M,find-renames': 'maybe',
  'no-renames': 'flag',
  'no-color': 'flag',
  color: 'maybe',
  'no-ext-diff': 'flag',
  z: 'flag',
  'diff-filter': 'value',
  minimal: 'flag',
  'word-diff': 'maybe',
  'word-diff-regex': 'value',
  'color-words': 'maybe',
} as const satisfies OptionTable;

const DEFAULT_CONTEXT = 3;
const KINDS = ['patch', 'stat', 'shortstat', 'numstat', 'summary', 'name-only', 'name-status'] as const;
type Kind = (typeof KINDS)[number];

export interface DiffStyle {
  /** Empty: nothing is shown. */
  kinds: Kind[];
  context: number;
  renames: boolean;
  fullIndex: boolean;
  nul: boolean;
  /** Letters of the kinds of change that are shown; null for all. */
  filter: string | null;
  /** Null: whole lines are shown. */
  words: WordDiff | null;
}

/** `otherwise`: what is shown when no option says it. */
export function diffStyle(line: CommandLine, otherwise: Kind[]): DiffStyle {
  if ((line.value('find-renames') ?? '') !== '') throw unsupported('a threshold for renames is');
  if (line.has('color') && !['', 'never', 'auto'].includes(line.value('color') ?? '')) throw unsupported('colors are');
  if (line.has('color-words')) throw unsupported('colors are');
  const kinds = KINDS.filter(
    (kind) => line.has(kind) || (line.has('patch-with-stat') && ['patch', 'stat'].includes(kind)),
  );
  if (line.has('unified') && kinds.length === 0) kinds.push('patch');
  const context = line.value('unified');
  if (context !== undefined && !/^\d{1,6}$/.test(context)) throw fatal(`invalid number of context lines: '${context}'`);
  return {
    kinds: line.has('no-patch') ? [] : kinds.length > 0 ? kinds : otherwise,
    context: context === undefined ? DEFAULT_CONTEXT : Number(context),
    renames: !line.has('no-renames'),
    fullIndex: line.has('full-index'),
    nul: line.has('z'),
    filter: line.value('diff-filter') ?? null,
    words: wordDiffOf(line.value('word-diff'), line.value('word-diff-regex')),
  };
}

/** Reads both sides from the objects of a repository. */
export function readObjects(repository: Repository): ReadSide {
  return (file) => repository.blob(file.oid);
}

export async function shownChanges(
  changes: readonly TreeChange[],
  read: ReadSide,
  style: DiffStyle,
): Promise<TreeChange[]> {
  const found = style.renames ? await withRenames(changes, read) : [...changes];
  const { filter } = style;
  if (filter === null) return found;
  const excluded = filter.replaceAll(/[^a-z]/g, '').toUpperCase();
  const wanted = filter.replaceAll(/[^A-Z]/g, '');
  return found.filter(({ status }) => !excluded.includes(status) && (wanted === '' || wanted.includes(status)));
}

/** The text of changes, as bytes (one char each). */
export async function diffText(changes: readonly TreeChange[], read: ReadSide, style: DiffStyle): Promise<string> {
  const shown = await shownChanges(changes, read, style);
  const end = style.nul ? '\0' : '\n';
  const name = (path: string) => latin1Of(style.nul ? path : quotedPath(path));
  if (style.kinds.includes('name-only')) return shown.map(({ path }) => name(path) + end).join('');
  if (style.kinds.includes('name-status')) {
    const tab = style.nul ? '\0' : '\t';
    return shown
      .map(({ status, path, from, similarity }) =>
        status === 'R'
          ? `R${String(similarity).padStart(3, '0')}${tab}${name(from)}${tab}${name(path)}${end}`
          : `${status}${tab}${name(path)}${end}`,
      )
      .join('');
  }
  if (style.kinds.length === 0) return '';
  const contents = await contentsOf(shown, read);
  const parts: string[] = [];
  if (style.kinds.includes('numstat')) parts.push(latin1Of(numStatText(contents)));
  if (style.kinds.includes('stat')) parts.push(latin1Of(statText(contents)));
  if (style.kinds.includes('shortstat')) parts.push(shortStatText(contents));
  if (style.kinds.includes('summary')) parts.push(latin1Of(summaryText(shown)));
  if (style.kinds.includes('patch')) {
    const patch = contents.map((one) => patchText(one, style)).join('');
    if (parts.join('') !== '' && patch !== '') parts.push('\n');
    parts.push(patch);
  }
  return parts.join('');
}

export async function contentsOf(changes: readonly TreeChange[], read: ReadSide): Promise<ChangeContents[]> {
  const contents: ChangeContents[] = [];
  const side = async (file: TreeFile | null, path: string, which: 'before' | 'after') => {
    if (file === null) return Buffer.alloc(0);
    return isSubmodule(file.mode) ? submoduleText(file.oid) : read(file, path, which);
  };
  for (const change of changes) {
    const before = await side(change.before, change.from, 'before');
    const isSame = change.before?.oid === change.after?.oid;
    contents.push({ change, before, after: isSame ? before : await side(change.after, change.path, 'after') });
  }
  return contents;
}
