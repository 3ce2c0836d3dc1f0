/** `git grep`: the search of the shell's `grep`, in tracked files, in the index or in trees. */
import { bytesOfText } from '../../../../../workers/protocol/byte-text.ts';
import { grepMatcher } from '../../grep/grep-matcher.ts';
import { searchContent } from '../../grep/grep-search.ts';
import { GrepError, type GrepSettings } from '../../grep/grep-settings.ts';
import { type CommandLine, parseCommandLine } from '../command-line.ts';
import type { GitContext } from '../git-context.ts';
import { fatal, GitError, unsupported } from '../git-error.ts';
import { isBinaryContent } from '../patch-text.ts';
import { quotedPath, relativePath } from '../quoted-path.ts';
import type { Repository } from '../repository.ts';
import { requireRevision } from '../revisions.ts';
import { untrackedPaths } from '../work-tree.ts';
import { splitArguments } from './diff.ts';

const KIND = 0o170000;
const REGULAR = 0o100000;
const OPTIONS = {
  'e,pattern': 'value',
  'n,line-number': 'flag',
  'i,ignore-case': 'flag',
  'w,word-regexp': 'flag',
  'v,invert-match': 'flag',
  'l,files-with-matches,name-only': 'flag',
  'L,files-without-match': 'flag',
  'c,count': 'flag',
  'h,no-filename': 'flag',
  'H,with-filename': 'flag',
  'q,quiet': 'flag',
  'o,only-matching': 'flag',
  'a,text': 'flag',
  'I,no-binary': 'flag',
  'z,null': 'flag',
  'E,extended-regexp': 'flag',
  'G,basic-regexp': 'flag',
  'F,fixed-strings': 'flag',
  'P,perl-regexp': 'flag',
  'A,after-context': 'value',
  'B,before-context': 'value',
  'C,context': 'value',
  'r,recursive': 'flag',
  'full-name': 'flag',
  cached: 'flag',
  untracked: 'flag',
  color: 'maybe',
  'no-color': 'flag',
} as const;
type Line = ReturnType<typeof parseCommandLine<typeof OPTIONS>>;

interface Searched {
  name: string;
  content: Buffer;
}

export async function grepTracked(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, OPTIONS);
  if (!['', 'never', 'auto'].includes(line.value('color') ?? '')) throw unsupported('colors are');
  const operands = [...line.operands];
  const patterns = line.has('pattern') ? line.values('pattern') : operands.splice(0, 1);
  if (patterns.length === 0) throw fatal('no pattern given');
  const settings = settingsOf(
    line,
    patterns.flatMap((pattern) => pattern.split('\n')),
  );
  const matcher = matcherOf(settings);
  const repository = await context.repository();
  const { names, paths } = await splitArguments(context, repository, operands, line.paths);
  const printed = { any: false };
  let found = false;
  for await (const { name, content } of searched(context, repository, line, { names, paths })) {
    const isBinary = !line.has('text') && isBinaryContent(content);
    if (isBinary && line.has('no-binary')) continue;
    const parts: string[] = [];
    const matches = searchContent(content, {
      name,
      showName: !line.has('no-filename'),
      matcher,
      settings: { ...settings, binary: isBinary ? 'binary' : 'text' },
      print: (text) => parts.push(text),
      tell: () => parts.push(`Binary file ${name} matches\n`),
      requireTime: () => context.files.requireTime(),
      ended: () => {},
      printed,
    });
    if (settings.list === 'other' ? !matches : matches) found = true;
    if (!matches && settings.list !== 'other') continue;
    context.out.bytes(Buffer.from(bytesOfText(parts.join(''))).toString('latin1'));
    if (settings.quiet) break;
  }
  return found ? 0 : 1;
}

function settingsOf(line: Line, patterns: string[]): GrepSettings {
  const lines = (name: 'after-context' | 'before-context') => {
    const text = line.value(name) ?? line.value('context') ?? '0';
    if (!/^\d+$/.test(text)) throw new GitError(`error: option \`${name}' expects a numerical value`, 129);
    return Number(text);
  };
  const [after, before] = [lines('after-context'), lines('before-context')];
  return {
    syntax: syntaxOf(line),
    patterns,
    ignoreCase: line.has('ignore-case'),
    words: line.has('word-regexp'),
    wholeLines: false,
    inverted: line.has('invert-match'),
    after,
    before,
    separator: after + before > 0 ? '--' : null,
    maxCount: Number.POSITIVE_INFINITY,
    count: line.has('count'),
    list: line.has('files-without-match') ? 'other' : line.has('name-only') ? 'matching' : null,
    onlyMatches: line.has('only-matching'),
    quiet: line.has('quiet'),
    silent: false,
    lineNumbers: line.has('line-number'),
    byteOffsets: false,
    names: null,
    nullAfterName: line.has('null'),
    nullLines: false,
    initialTab: false,
    color: false,
    label: null,
    binary: 'text',
    recursive: null,
    directories: 'skip',
    excludedDirectories: [],
    skips: () => false,
  };
}

function syntaxOf(line: CommandLine<'perl-regexp' | 'fixed-strings' | 'extended-regexp'>): GrepSettings['syntax'] {
  if (line.has('perl-regexp')) return 'perl';
  if (line.has('fixed-strings')) return 'fixed';
  return line.has('extended-regexp') ? 'extended' : 'basic';
}

function matcherOf(settings: GrepSettings) {
  try {
    return grepMatcher(settings, () => {});
  } catch (error) {
    throw error instanceof GrepError
      ? fatal(`command line, '${settings.patterns.join('\n')}': ${error.message}`)
      : error;
  }
}

/** The files that are searched, each with the name that it is shown by. */
async function* searched(
  context: GitContext,
  repository: Repository,
  line: Line,
  { names, paths }: { names: readonly string[]; paths: readonly string[] },
): AsyncGenerator<Searched> {
  const prefix = await context.prefix();
  const spec = await context.pathspec(paths.length === 0 && prefix !== '' ? ['.'] : paths);
  const shown = (path: string) => {
    const name = line.has('full-name') ? path : relativePath(path, prefix);
    return line.has('null') ? name : quotedPath(name);
  };
  for (const revision of names) {
    const tree = await requireRevision(repository, revision);
    for (const [path, { mode, oid }] of await repository.treeFiles(tree))
      if ((mode & KIND) === REGULAR && spec.matches(path))
        yield { name: `${revision}:${shown(path)}`, content: await repository.blob(oid) };
  }
  if (names.length > 0) return;
  const entries = await repository.index();
  let last = '';
  const inWorkTree: string[] = [];
  for (const { path, mode, oid } of entries) {
    if (path === last || (mode & KIND) !== REGULAR || !spec.matches(path)) continue;
    last = path;
    if (line.has('cached')) yield { name: shown(path), content: await repository.blob(oid) };
    else inWorkTree.push(path);
  }
  if (line.has('cached')) return;
  if (line.has('untracked'))
    inWorkTree.push(
      ...(await untrackedPaths(repository, entries, { folders: false })).filter((path) => spec.matches(path)),
    );
  for (const path of inWorkTree) {
    const full = `${repository.workTree}/${path}`;
    if ((await context.files.lstatOrNull(full))?.isFile())
      yield { name: shown(path), content: await context.files.read(full) };
  }
}
