/** `git describe`: a commit by the nearest tag. */
import { parseCommandLine } from '../command-line.ts';
import type { GitContext } from '../git-context.ts';
import { fatal, GitError } from '../git-error.ts';
import { commitsFrom } from '../history.ts';
import { parseTag } from '../objects.ts';
import type { Repository } from '../repository.ts';
import { commitOf, requireCommit } from '../revisions.ts';
import { trackedStates } from '../work-tree.ts';
import { globOf } from './branches.ts';
import { fullNames } from './references.ts';

/** As many names as git tries by default. */
const CANDIDATES = 10;
const SHORTEST = 4;

interface Name {
  text: string;
  /** Annotated tags go before others, and tags before branches. */
  rank: number;
  seconds: number;
}

export async function describe(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    tags: 'flag',
    all: 'flag',
    always: 'flag',
    long: 'flag',
    abbrev: 'maybe',
    dirty: 'maybe',
    'exact-match': 'flag',
    match: 'value',
    exclude: 'value',
    'first-parent': 'flag',
    candidates: 'value',
  });
  const repository = await context.repository();
  if (line.has('dirty') && line.operands.length > 0)
    throw fatal("option '--dirty' and commit-ishes cannot be used together");
  const dirty = line.has('dirty') && (await isDirty(repository)) ? line.value('dirty') || '-dirty' : '';
  const length = line.value('abbrev') === undefined ? 7 : Number(line.value('abbrev') || 7);
  if (!Number.isInteger(length) || length < 0)
    throw new GitError("error: option `abbrev' expects a numerical value", 129);
  const abbreviated = (oid: string) => oid.slice(0, length === 0 ? 7 : Math.max(SHORTEST, length));
  const names = await describedNames(repository, {
    rank: line.has('all') ? 0 : line.has('tags') ? 1 : 2,
    match: line.values('match'),
    exclude: line.values('exclude'),
  });
  const most = line.has('exact-match') ? 0 : Number(line.value('candidates') ?? CANDIDATES);
  for (const name of line.operands.length > 0 ? line.operands : ['HEAD']) {
    const oid = await requireCommit(repository, name).catch(() => {
      throw fatal(`Not a valid object name ${name}`);
    });
    const found = await nearest(repository, oid, names, { most, firstParent: line.has('first-parent') });
    if (found === null) {
      if (!line.has('always'))
        throw undescribed(oid, { names, exact: most === 0, all: line.has('tags') || line.has('all') });
      context.out.line(abbreviated(oid) + dirty);
    } else if ((found.depth === 0 && !line.has('long')) || length === 0) context.out.line(found.name + dirty);
    else context.out.line(`${found.name}-${found.depth}-g${abbreviated(oid)}${dirty}`);
  }
  return 0;
}

function undescribed(
  oid: string,
  { names, exact, all }: { names: ReadonlyMap<string, Name>; exact: boolean; all: boolean },
): GitError {
  if (exact) return fatal(`no tag exactly matches '${oid}'`);
  if (names.size === 0) return fatal('No names found, cannot describe anything.');
  return all
    ? fatal(`No tags can describe '${oid}'.\nTry --always, or create some tags.`)
    : fatal(`No annotated tags can describe '${oid}'.\nHowever, there were unannotated tags: try --tags.`);
}

/** The best name of each commit that has one. `rank`: the least that counts. */
async function describedNames(
  repository: Repository,
  { rank: least, match, exclude }: { rank: number; match: string[]; exclude: string[] },
): Promise<Map<string, Name>> {
  const names = new Map<string, Name>();
  for (const full of await fullNames(repository)) {
    const isTag = full.startsWith('refs/tags/');
    const short = full.replace(/^refs\/(?:tags|heads|remotes)\//, '');
    if ((!isTag && least > 0) || (!isTag && match.length > 0)) continue;
    if (match.length > 0 && !match.some((pattern) => globOf(pattern).test(short))) continue;
    if (exclude.some((pattern) => globOf(pattern).test(short))) continue;
    const oid = await repository.reference(full);
    if (oid === null) continue;
    const { type, content } = await repository.object(oid);
    const tag = type === 'tag' ? parseTag(content) : null;
    if (type !== 'commit' && tag?.type !== 'commit') continue;
    const rank = tag !== null ? 2 : isTag ? 1 : 0;
    if (rank < least) continue;
    const commit = await commitOf(repository, oid);
    const known = names.get(commit);
    const seconds = tag?.tagger.seconds ?? 0;
    const isBetter =
      known === undefined || rank > known.rank || (rank === 2 && known.rank === 2 && seconds > known.seconds);
    const text = least === 0 ? full.replace(/^refs\//, '') : short;
    if (isBetter) names.set(commit, { text, rank, seconds });
  }
  return names;
}

/** The name with the fewest commits between it and this one; null without one. */
async function nearest(
  repository: Repository,
  oid: string,
  names: ReadonlyMap<string, Name>,
  { most, firstParent }: { most: number; firstParent: boolean },
): Promise<{ name: string; depth: number } | null> {
  const own = names.get(oid);
  if (own !== undefined) return { name: own.text, depth: 0 };
  const candidates: { commit: string; name: Name }[] = [];
  if (most === 0) return null;
  const parents = new Map<string, readonly string[]>();
  for await (const commit of commitsFrom(repository, [oid], { firstParent })) {
    parents.set(commit.oid, commit.parents);
    const name = names.get(commit.oid);
    if (name !== undefined && candidates.length < most) candidates.push({ commit: commit.oid, name });
  }
  let best: { name: string; depth: number } | null = null;
  for (const { commit, name } of candidates) {
    const depth = parents.size - countFrom(parents, commit);
    if (best === null || depth < best.depth) best = { name: name.text, depth };
  }
  return best;
}

/** How many commits can be reached from one, itself among them. */
function countFrom(parents: ReadonlyMap<string, readonly string[]>, from: string): number {
  const seen = new Set([from]);
  for (const oid of seen) for (const parent of parents.get(oid) ?? []) if (parents.has(parent)) seen.add(parent);
  return seen.size;
}

async function isDirty(repository: Repository): Promise<boolean> {
  const entries = await repository.index();
  const head = await repository.treeFiles(await repository.headCommit());
  if (entries.length !== head.size) return true;
  return (await trackedStates(repository, entries)).some(({ entry, file }) => {
    const committed = head.get(entry.path);
    return committed?.oid !== entry.oid || file?.oid !== entry.oid || file.mode !== committed.mode;
  });
}
