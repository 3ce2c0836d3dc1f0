/** `git checkout` and `switch`. */
import { changesBetween } from '../changes.ts';
import { parseCommandLine } from '../command-line.ts';
import { writeSetting } from '../configuration.ts';
import type { GitContext } from '../git-context.ts';
import { fatal, GitError } from '../git-error.ts';
import { quotedPath } from '../quoted-path.ts';
import { noteHead, noteReference } from '../reference-log.ts';
import { indexFiles, type Repository } from '../repository.ts';
import { commitOf, previousBranch, requireCommit, requireRevision, revision, short } from '../revisions.ts';
import { trackingOf, trackingText } from '../tracking.ts';
import { checkOutTree } from '../tree-switch.ts';
import { trackedStates, writeWorkFile } from '../work-tree.ts';
import { requireName } from './branches.ts';
import { restorePaths } from './staging.ts';

const DETACHED = `
You are in 'detached HEAD' state. You can look around, make experimental
changes and commit them, and you can discard any commits you make in this
state without impacting any branches by switching back to a branch.

If you want to create a new branch to retain commits you create, you may
do so (now or later) by using -c with the switch command. Example:

  git switch -c <new-branch-name>

Or undo this operation with:

  git switch -

Turn off this advice by setting config variable advice.detachedHead to false
`;

export async function checkout(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    b: 'value',
    B: 'value',
    'q,quiet': 'flag',
    'f,force': 'flag',
    detach: 'flag',
    d: 'flag',
    'no-track': 'flag',
    ours: 'flag',
    theirs: 'flag',
    orphan: 'value',
    'no-progress': 'flag',
  });
  const repository = await context.repository();
  const fresh = line.value('b') ?? line.value('B');
  const options = { force: line.has('force'), quiet: line.has('quiet') };
  if (line.has('orphan')) {
    requireName(line.value('orphan') ?? '', 'branch');
    repository.hooks.add('post-checkout');
    await repository.setHead(`refs/heads/${line.value('orphan')}`);
    if (!options.quiet) context.out.errorLine(`Switched to a new branch '${line.value('orphan')}'`);
    return 0;
  }
  if (fresh !== undefined) return startBranch(context, fresh, line.operands[0], { ...options, reset: line.has('B') });
  if (line.has('ours') || line.has('theirs'))
    return checkoutSide(context, repository, [...line.operands, ...(line.paths ?? [])], {
      stage: line.has('ours') ? 2 : 3,
      quiet: options.quiet || line.paths !== null,
    });
  const [first, ...rest] = line.operands;
  const target = first === undefined ? null : await branchOrRevision(repository, first);
  if (line.paths !== null || rest.length > 0 || (target === null && first !== undefined)) {
    const source = target === null ? null : (first ?? null);
    const given = [...(source === null ? line.operands : rest), ...(line.paths ?? [])];
    if (given.length > 0)
      return checkoutPaths(context, repository, source, given, options.quiet || line.paths !== null);
  }
  if (first === undefined) {
    repository.hooks.add('post-checkout');
    await reportLocal(context, repository);
    return 0;
  }
  return moveTo(context, first, { ...options, detach: line.has('detach') || line.has('d') });
}

/** The name as it is known here; null for none. A branch of a remote alone is created by `moveTo`. */
async function branchOrRevision(repository: Repository, name: string): Promise<string | null> {
  if (name === '-') return '@{-1}';
  if ((await revision(repository, name)) !== null) return name;
  return (await remoteBranch(repository, name)) === null ? null : name;
}

async function remoteBranch(repository: Repository, name: string): Promise<string | null> {
  const found = (await repository.referencesBelow('refs/remotes')).filter(
    (one) => one.slice(one.indexOf('/') + 1) === name,
  );
  return found.length === 1 ? `refs/remotes/${found[0]}` : null;
}

async function checkoutPaths(
  context: GitContext,
  repository: Repository,
  source: string | null,
  given: readonly string[],
  quiet: boolean,
): Promise<number> {
  const tree = source === null ? null : await requireRevision(repository, source);
  const count = await restorePaths(context, given, {
    tree,
    fromIndex: source === null,
    index: source !== null,
    work: true,
    overlay: true,
  });
  if (!quiet)
    context.out.errorLine(
      `Updated ${count} path${count === 1 ? '' : 's'} from ${tree === null ? 'the index' : short(await commitOf(repository, tree))}`,
    );
  return 0;
}

/** The version of one side of a conflict: stage 2 is ours, 3 theirs. A path without a conflict is that of the index. */
async function checkoutSide(
  context: GitContext,
  repository: Repository,
  given: readonly string[],
  { stage, quiet }: { stage: 2 | 3; quiet: boolean },
): Promise<number> {
  if (given.length === 0) throw fatal("'--ours/--theirs' cannot be used with switching branches");
  const spec = await context.pathspec(given);
  const entries = await repository.index();
  const missing = spec.unmatched(entries.map(({ path }) => path));
  if (missing !== null) throw new GitError(`error: pathspec '${missing}' did not match any file(s) known to git`, 1);
  const paths = [...new Set(entries.filter(({ path }) => spec.matches(path)).map(({ path }) => path))];
  const chosen = paths.map((path) => ({
    path,
    entry: entries.find((entry) => entry.path === path && (entry.stage === stage || entry.stage === 0)),
  }));
  const lacking = chosen.filter(({ entry }) => entry === undefined).map(({ path }) => path);
  if (lacking.length > 0) {
    const side = stage === 2 ? 'our' : 'their';
    throw new GitError(lacking.map((path) => `error: path '${path}' does not have ${side} version`).join('\n'), 1);
  }
  repository.hooks.add('post-checkout');
  for (const { path, entry } of chosen) if (entry !== undefined) await writeWorkFile(repository, path, entry);
  if (!quiet) context.out.errorLine(`Updated ${paths.length} path${paths.length === 1 ? '' : 's'} from the index`);
  return 0;
}

export async function switchBranch(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    'c,create': 'value',
    'C,force-create': 'value',
    'd,detach': 'flag',
    'q,quiet': 'flag',
    'f,force': 'flag',
    'discard-changes': 'flag',
    'no-track': 'flag',
    guess: 'flag',
  });
  const options = { force: line.has('force') || line.has('discard-changes'), quiet: line.has('quiet') };
  const fresh = line.value('create') ?? line.value('force-create');
  const [name] = line.operands;
  if (fresh !== undefined) return startBranch(context, fresh, name, { ...options, reset: line.has('force-create') });
  if (name === undefined) throw fatal('missing branch or commit argument');
  const repository = await context.repository();
  const isBranch =
    name === '-' ||
    name.startsWith('@{-') ||
    (await repository.reference(`refs/heads/${name}`)) !== null ||
    (await remoteBranch(repository, name)) !== null;
  if (!line.has('detach') && !isBranch) {
    const oid = await revision(repository, name);
    if (oid === null) throw fatal(`invalid reference: ${name}`);
    throw fatal(
      `a branch is expected, got ${(await repository.reference(`refs/tags/${name}`)) === null ? 'commit' : 'tag'} '${name}'\nhint: If you want to detach HEAD at the commit, try again with the --detach option.`,
    );
  }
  return moveTo(context, name, { ...options, detach: line.has('detach') });
}

async function startBranch(
  context: GitContext,
  name: string,
  start: string | undefined,
  { force, quiet, reset }: { force: boolean; quiet: boolean; reset: boolean },
): Promise<number> {
  const repository = await context.repository();
  requireName(name, 'branch');
  const before = await repository.headCommit();
  const left = (await repository.currentBranch()) ?? before ?? '';
  const isKnown = (await repository.reference(`refs/heads/${name}`)) !== null;
  if (isKnown && !reset) throw fatal(`a branch named '${name}' already exists`);
  repository.hooks.add('post-checkout');
  if (start !== undefined || before !== null) {
    const target = await requireCommit(repository, start ?? 'HEAD');
    if (target !== before) await checkOutTree(context, before, target, { force });
    await repository.setReference(`refs/heads/${name}`, target);
    await noteReference(context, `refs/heads/${name}`, null, target, `branch: Created from ${start ?? 'HEAD'}`);
    await repository.setHead(`refs/heads/${name}`);
    await noteHead(context, before, target, `checkout: moving from ${left} to ${name}`, { branch: false });
  } else await repository.setHead(`refs/heads/${name}`);
  if (!quiet)
    context.out.errorLine(isKnown ? `Switched to and reset branch '${name}'` : `Switched to a new branch '${name}'`);
  return 0;
}

async function moveTo(
  context: GitContext,
  given: string,
  { force, quiet, detach }: { force: boolean; quiet: boolean; detach: boolean },
): Promise<number> {
  const repository = await context.repository();
  const back = given === '-' ? 1 : Number(/^@\{-(\d+)\}$/.exec(given)?.[1] ?? 0);
  const name = back > 0 ? await previousBranch(repository, back) : given;
  if (name === null) throw fatal(`invalid reference: ${given}`);
  const before = await repository.headCommit();
  const current = await repository.currentBranch();
  const remote = (await revision(repository, name)) === null ? await remoteBranch(repository, name) : null;
  if (remote !== null) {
    await startBranch(context, name, remote, { force, quiet: true, reset: false });
    const [, from = '', to = ''] = /^refs\/remotes\/([^/]+)\/(.*)$/.exec(remote) ?? [];
    await writeSetting(context.files, `${repository.gitdir}/config`, `branch.${name}.remote`, from);
    await writeSetting(context.files, `${repository.gitdir}/config`, `branch.${name}.merge`, `refs/heads/${to}`);
    if (!quiet) {
      context.out.line(`branch '${name}' set up to track '${remote.replace('refs/remotes/', '')}'.`);
      context.out.errorLine(`Switched to a new branch '${name}'`);
    }
    return 0;
  }
  const isBranch = !detach && (await repository.reference(`refs/heads/${name}`)) !== null;
  if (isBranch && name === current) {
    repository.hooks.add('post-checkout');
    if (force) await checkOutTree(context, before, before, { force });
    if (!quiet) {
      await reportLocal(context, repository);
      context.out.errorLine(`Already on '${name}'`);
      await reportTracking(context, repository, name);
    }
    return 0;
  }
  const target = await requireCommit(repository, isBranch ? `refs/heads/${name}` : name);
  await checkOutTree(context, before, target, { force });
  repository.hooks.add('post-checkout');
  await repository.setHead(isBranch ? `refs/heads/${name}` : target);
  await noteHead(context, before, target, `checkout: moving from ${current ?? before ?? ''} to ${name}`, {
    branch: false,
  });
  if (quiet) return 0;
  await reportLocal(context, repository);
  const subject = async (oid: string) => `${short(oid)} ${(await repository.commit(oid)).message.split('\n')[0]}`;
  if (current === null && before !== null && before !== target)
    context.out.errorLine(`Previous HEAD position was ${await subject(before)}`);
  if (isBranch) {
    context.out.errorLine(`Switched to branch '${name}'`);
    await reportTracking(context, repository, name);
  } else {
    if (current !== null && !detach) context.out.errorLine(`Note: switching to '${name}'.\n${DETACHED}`);
    context.out.errorLine(`HEAD is now at ${await subject(target)}`);
  }
  return 0;
}

async function reportTracking(context: GitContext, repository: Repository, name: string): Promise<void> {
  const tracking = await trackingOf(repository, name);
  for (const text of tracking === null ? [] : trackingText(tracking)) context.out.line(text);
}

/** The files that stay changed across a switch. */
async function reportLocal(context: GitContext, repository: Repository): Promise<void> {
  const entries = await repository.index();
  const head = await repository.treeFiles(await repository.headCommit());
  const work = new Map(
    (await trackedStates(repository, entries)).flatMap(({ entry, file }) =>
      file === null ? [] : [[entry.path, file] as const],
    ),
  );
  const index = indexFiles(entries);
  for (const [path, file] of index) if (!work.has(path) && !head.has(path)) work.set(path, file);
  for (const { status, path } of changesBetween(head, work)) context.out.line(`${status}\t${quotedPath(path)}`);
}
