/** `git merge` and `merge-base`. */
import { changesBetween, withRenames } from '../changes.ts';
import { parseCommandLine } from '../command-line.ts';
import { identity } from '../configuration.ts';
import { contentsOf, readObjects } from '../diff-output.ts';
import { statText, summaryText } from '../diffstat.ts';
import type { GitContext } from '../git-context.ts';
import { fatal, GitError, unsupported } from '../git-error.ts';
import { isAncestor, mergeBaseOf } from '../history.ts';
import { type MergedTrees, mergedTrees } from '../merged-trees.ts';
import { formatCommit } from '../objects.ts';
import type { Repository } from '../repository.ts';
import { commitOf, requireCommit, revision, short } from '../revisions.ts';
import { checkOutTree } from '../tree-switch.ts';
import { moveHead } from './staging.ts';

const UP_TO_DATE = 'Already up to date.';

export async function merge(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    'm,message': 'value',
    'no-ff': 'flag',
    ff: 'flag',
    'ff-only': 'flag',
    abort: 'flag',
    'q,quiet': 'flag',
    'no-edit': 'flag',
    'no-commit': 'flag',
    continue: 'flag',
    's,strategy': 'value',
    'allow-unrelated-histories': 'flag',
    'n,no-stat': 'flag',
    stat: 'flag',
    'no-verify': 'flag',
  });
  if (!['ort', 'recursive', 'resolve'].includes(line.value('strategy') ?? 'ort'))
    throw unsupported(`the merge strategy '${line.value('strategy')}' is`);
  const repository = await context.repository();
  const head = await repository.headCommit();
  const merging = await context.files.exists(`${repository.gitdir}/MERGE_HEAD`);
  if (line.has('abort')) return abort(context, repository, head, merging);
  if (line.has('continue')) {
    if (!merging) throw fatal('There is no merge in progress (MERGE_HEAD missing).');
    const { commit } = await import('./commit.ts');
    return commit(context, []);
  }
  if (merging)
    throw fatal(
      'You have not concluded your merge (MERGE_HEAD exists).\nPlease, commit your changes before you merge.',
    );
  const [name, ...more] = line.operands;
  if (name === undefined) throw fatal('No remote for the current branch.');
  if (more.length > 0) throw unsupported('merges of more than one branch at a time are');
  const oid = await revision(repository, name);
  if (oid === null) throw new GitError(`merge: ${name} - not something we can merge`, 1);
  const theirs = await commitOf(repository, oid);
  if (head === null) {
    await checkOutTree(context, null, theirs);
    await moveHead(context, theirs, `initial pull`);
    return 0;
  }
  const base = await mergeBaseOf(repository, head, theirs);
  const say = (text: string) => {
    if (!line.has('quiet')) context.out.text(text);
  };
  if (base === theirs) {
    say(`${UP_TO_DATE}\n`);
    return 0;
  }
  if (base === head && !line.has('no-ff')) {
    say(`Updating ${short(head)}..${short(theirs)}\n`);
    await checkOutTree(context, head, theirs, { what: 'merge' });
    await moveHead(context, theirs, `merge ${name}: Fast-forward`);
    repository.hooks.add('post-merge');
    say('Fast-forward\n');
    if (!line.has('no-stat')) say(await processStat(repository, head, theirs));
    return 0;
  }
  if (line.has('ff-only')) throw fatal('Not possible to fast-forward, aborting.');
  if (base === null && !line.has('allow-unrelated-histories')) throw fatal('refusing to merge unrelated histories');
  const message = line.has('message')
    ? `${line.values('message').join('\n\n').trim()}\n`
    : await defaultMessage(repository, name);
  const merged = await mergedTrees(repository, { base, ours: head, theirs }, { ours: 'HEAD', theirs: name });
  return conclude(context, repository, {
    head,
    theirs,
    merged,
    message,
    name,
    say,
    commits: !line.has('no-commit'),
    verifies: !line.has('no-verify'),
    stat: !line.has('no-stat'),
  });
}

async function defaultMessage(repository: Repository, name: string): Promise<string> {
  const current = await repository.currentBranch();
  const into = current === 'master' || current === 'main' || current === null ? '' : ` into ${current}`;
  if ((await repository.reference(`refs/heads/${name}`)) !== null) return `Merge branch '${name}'${into}\n`;
  if ((await repository.reference(`refs/tags/${name}`)) !== null) return `Merge tag '${name}'${into}\n`;
  if ((await repository.reference(`refs/remotes/${name}`)) !== null)
    return `Merge remote-tracking branch '${name}'${into}\n`;
  return `Merge commit '${name}'${into}\n`;
}

interface Conclusion {
  head: string;
  theirs: string;
  merged: MergedTrees;
  message: string;
  name: string;
  say: (text: string) => void;
  commits: boolean;
  verifies: boolean;
  stat: boolean;
}

async function conclude(
  context: GitContext,
  repository: Repository,
  { head, theirs, merged, message, name, say, commits, verifies, stat }: Conclusion,
): Promise<number> {
  const tree = await repository.writeTree(merged.files);
  await checkOutTree(context, head, tree, { what: 'merge' });
  for (const text of merged.messages) context.out.line(text);
  await repository.setReference('ORIG_HEAD', head);
  if (merged.conflicts.length > 0 || !commits) {
    const paths = new Set(merged.conflicts.map(({ path }) => path));
    const kept = (await repository.index()).filter(({ path }) => !paths.has(path));
    await repository.saveIndex([...kept, ...merged.conflicts]);
    await context.files.write(`${repository.gitdir}/MERGE_HEAD`, `${theirs}\n`);
    const listed = [...paths].map((path) => `#\t${path}\n`).join('');
    await context.files.write(
      `${repository.gitdir}/MERGE_MSG`,
      paths.size === 0 ? message : `${message}\n# Conflicts:\n${listed}`,
    );
    await context.files.write(`${repository.gitdir}/MERGE_MODE`, '');
    if (paths.size === 0) {
      say('Automatic merge went well; stopped before committing as requested\n');
      return 0;
    }
    say('Automatic merge failed; fix conflicts and then commit the result.\n');
    return 1;
  }
  for (const hook of ['prepare-commit-msg', 'post-merge', ...(verifies ? ['pre-merge-commit', 'commit-msg'] : [])])
    repository.hooks.add(hook);
  const [author, committer] = [await identity(context, 'AUTHOR'), await identity(context, 'COMMITTER')];
  const oid = await repository.writeRaw(
    'commit',
    formatCommit({ tree, parents: [head, theirs], author, committer, message }),
  );
  await moveHead(context, oid, `merge ${name}: Merge made by the 'ort' strategy.`);
  say("Merge made by the 'ort' strategy.\n");
  if (stat) say(await processStat(repository, head, oid));
  return 0;
}

async function processStat(repository: Repository, from: string, to: string): Promise<string> {
  const plain = changesBetween(await repository.treeFiles(from), await repository.treeFiles(to));
  const changes = await withRenames(plain, readObjects(repository));
  return statText(await contentsOf(changes, readObjects(repository))) + summaryText(changes);
}

async function abort(
  context: GitContext,
  repository: Repository,
  head: string | null,
  merging: boolean,
): Promise<number> {
  if (!merging) throw fatal('There is no merge to abort (MERGE_HEAD missing).');
  await checkOutTree(context, head, head, { force: true });
  for (const name of ['MERGE_HEAD', 'MERGE_MSG', 'MERGE_MODE'])
    await context.files.remove(`${repository.gitdir}/${name}`);
  return 0;
}

export async function mergeBase(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, { 'is-ancestor': 'flag', 'a,all': 'flag' });
  const repository = await context.repository();
  const [first, second] = line.operands;
  if (first === undefined || second === undefined)
    throw new GitError('usage: git merge-base [-a | --all] <commit> <commit>', 129);
  const [ours, theirs] = [await requireCommit(repository, first), await requireCommit(repository, second)];
  if (line.has('is-ancestor')) return (await isAncestor(repository, ours, theirs)) ? 0 : 1;
  const base = await mergeBaseOf(repository, ours, theirs);
  if (base === null) return 1;
  context.out.line(base);
  return 0;
}
