/**
 * `git status`, and the commands that scripts ask: `rev-parse`, `rev-list`, `ls-files`, `ls-tree`, `cat-file`,
 * `hash-object`.
 */

import { parseCommandLine } from '../command-line.ts';
import { commitFilter, FILTER_OPTIONS, givenNumber, givenSeconds } from '../commit-filter.ts';
import type { GitContext } from '../git-context.ts';
import { fatal, GitError, unsupported } from '../git-error.ts';
import { commitsFrom } from '../history.ts';
import { parseTree } from '../objects.ts';
import { quotedPath, relativePath } from '../quoted-path.ts';
import { type Repository, TREE_MODE } from '../repository.ts';
import { requireCommit, requireRevision, revision, short } from '../revisions.ts';
import { longStatus, repositoryStatus, shortStatus } from '../status.ts';
import { hashBlob, trackedStates, untrackedPaths } from '../work-tree.ts';

export async function statusVerb(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    's,short': 'flag',
    'b,branch': 'flag',
    porcelain: 'maybe',
    long: 'flag',
    'u,untracked-files': 'maybe',
    ignored: 'maybe',
    z: 'flag',
    'no-renames': 'flag',
    'ahead-behind': 'flag',
  });
  const porcelain = line.value('porcelain');
  if (porcelain !== undefined && !['', 'v1', '1'].includes(porcelain))
    throw unsupported(`porcelain version '${porcelain}' is`);
  const shown = line.has('untracked-files') ? line.value('untracked-files') || 'all' : 'normal';
  if (!['no', 'normal', 'all'].includes(shown)) throw fatal(`Invalid untracked files mode '${shown}'`);
  const repository = await context.repository();
  const spec = await context.pathspec([...line.operands, ...(line.paths ?? [])]);
  const status = await repositoryStatus(repository, {
    untracked: shown as 'no' | 'normal' | 'all',
    ignored: line.has('ignored'),
    matches: (path) => spec.matches(path),
    renames: !line.has('no-renames'),
  });
  const from = await context.prefix();
  const isShort = line.has('short') || porcelain !== undefined || line.has('z');
  context.out.text(
    isShort
      ? shortStatus(status, {
          from: porcelain === undefined ? from : '',
          branch: line.has('branch'),
          nul: line.has('z'),
        })
      : longStatus(status, { from, showsUntracked: shown !== 'no' }),
  );
  return 0;
}

export async function revParse(context: GitContext, args: string[]): Promise<number> {
  const { out } = context;
  let [abbreviates, verifies, isQuiet, names] = [false, false, false, false];
  let length: number | null = null;
  for (const arg of args) {
    if (arg === '--verify') verifies = true;
    else if (arg === '-q' || arg === '--quiet') isQuiet = true;
    else if (arg === '--abbrev-ref') abbreviates = true;
    else if (arg === '--symbolic-full-name') names = true;
    else if (/^--short(?:=\d+)?$/.test(arg)) length = Number(arg.slice(8) || 7);
    else if (arg === '--show-toplevel') out.line((await context.repository()).workTree);
    else if (arg === '--git-dir') {
      const { gitdir } = await context.repository();
      out.line(gitdir === `${context.cwd}/.git` ? '.git' : gitdir === context.cwd ? '.' : gitdir);
    } else if (arg === '--absolute-git-dir') out.line((await context.repository()).gitdir);
    else if (arg === '--show-prefix') out.line((await context.prefix()) === '' ? '' : `${await context.prefix()}/`);
    else if (arg === '--show-cdup') out.line('../'.repeat((await context.prefix()).split('/').filter(Boolean).length));
    else if (arg === '--is-inside-work-tree') out.line(String((await context.repository()).root !== null));
    else if (arg === '--is-inside-git-dir')
      out.line(String(context.cwd.startsWith((await context.repository()).gitdir)));
    else if (arg === '--is-bare-repository') out.line(String((await context.repository()).root === null));
    else if (arg === '--') continue;
    else if (arg.startsWith('--')) throw unsupported(`git rev-parse ${arg} is`);
    else {
      const repository = await context.repository();
      const oid = await revision(repository, arg.replace(/^\^/, ''));
      if (oid === null && verifies)
        throw new GitError(isQuiet ? '' : 'fatal: Needed a single revision', isQuiet ? 1 : 128);
      if (oid === null) {
        out.line(arg);
        await requireRevision(repository, arg);
      } else if (abbreviates || names) {
        const full =
          arg === 'HEAD' || arg === '@'
            ? ((await repository.headReference()) ?? 'HEAD')
            : ((await fullName(context, arg)) ?? '');
        out.line(names ? full : full.replace(/^refs\/(?:heads|tags|remotes)\//, ''));
      } else out.line((arg.startsWith('^') ? '^' : '') + (length === null ? oid : oid.slice(0, Math.max(4, length))));
    }
  }
  if (args.length === 0) await context.repository();
  return 0;
}

async function fullName(context: GitContext, name: string): Promise<string | null> {
  const repository = await context.repository();
  for (const full of [`refs/heads/${name}`, `refs/tags/${name}`, `refs/remotes/${name}`])
    if ((await repository.reference(full)) !== null) return full;
  return null;
}

export async function revList(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    count: 'flag',
    all: 'flag',
    'n,max-count': 'value',
    ...FILTER_OPTIONS,
    'abbrev-commit': 'flag',
    'first-parent': 'flag',
    reverse: 'flag',
    skip: 'value',
  });
  if ((line.paths ?? []).length > 0) throw unsupported('git rev-list of paths is');
  const repository = await context.repository();
  const { from, without } = await revisionRange(context, line.operands, line.has('all'));
  const oids: string[] = [];
  const most = givenNumber(line, 'max-count') ?? Number.POSITIVE_INFINITY;
  const [matches, since] = [commitFilter(line), givenSeconds(line, 'since')];
  let skipped = -(givenNumber(line, 'skip') ?? 0);
  for await (const commit of commitsFrom(repository, from, {
    without,
    since,
    firstParent: line.has('first-parent'),
  })) {
    if (oids.length >= most) break;
    if (!matches(commit)) continue;
    skipped += 1;
    if (skipped > 0) oids.push(commit.oid);
  }
  if (line.has('count')) context.out.line(String(oids.length));
  else
    for (const oid of line.has('reverse') ? oids.reverse() : oids)
      context.out.line(line.has('abbrev-commit') ? short(oid) : oid);
  return 0;
}

/** The ends of `a`, `^a`, `a..b` and `a...b`. */
export async function revisionRange(
  context: GitContext,
  names: readonly string[],
  all = false,
): Promise<{ from: string[]; without: string[] }> {
  const repository = await context.repository();
  const [from, without]: [string[], string[]] = [[], []];
  if (all) {
    for (const name of await repository.referencesBelow('refs')) {
      const oid = await repository.reference(`refs/${name}`);
      if (oid !== null && name !== 'stash') from.push(await requireCommit(repository, oid));
    }
    const head = await repository.headCommit();
    if (head !== null) from.push(head);
  }
  for (const name of names) {
    const [, left, dots, right] = /^(.*?)(\.\.\.?)(.*)$/s.exec(name) ?? [];
    if (dots === '...') throw unsupported(`symmetric differences ('${name}') are`);
    if (dots !== undefined) {
      without.push(await requireCommit(repository, left || 'HEAD'));
      from.push(await requireCommit(repository, right || 'HEAD'));
    } else if (name.startsWith('^')) without.push(await requireCommit(repository, name.slice(1)));
    else from.push(await requireCommit(repository, name));
  }
  return { from, without };
}

export async function lsFiles(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    'c,cached': 'flag',
    'o,others': 'flag',
    'm,modified': 'flag',
    'd,deleted': 'flag',
    's,stage': 'flag',
    'u,unmerged': 'flag',
    'i,ignored': 'flag',
    'exclude-standard': 'flag',
    z: 'flag',
    'error-unmatch': 'flag',
    'full-name': 'flag',
    directory: 'flag',
  });
  const repository = await context.repository();
  const prefix = await context.prefix();
  const given = [...line.operands, ...(line.paths ?? [])];
  const spec = await context.pathspec(given.length === 0 && prefix !== '' ? ['.'] : given);
  const entries = (await repository.index()).filter(({ path }) => spec.matches(path));
  const missing = spec.unmatched(entries.map(({ path }) => path));
  if (line.has('error-unmatch') && missing !== null)
    throw new GitError(
      `error: pathspec '${missing}' did not match any file(s) known to git\nDid you forget to 'git add'?`,
      1,
    );
  const end = line.has('z') ? '\0' : '\n';
  const shown = (path: string) => {
    const name = line.has('full-name') ? path : relativePath(path, prefix);
    return line.has('z') ? name : quotedPath(name);
  };
  const [others, modified, deleted, unmerged] = (['others', 'modified', 'deleted', 'unmerged'] as const).map((name) =>
    line.has(name),
  );
  if (others) {
    const paths = await untrackedPaths(repository, await repository.index(), {
      folders: line.has('directory'),
      ignored: line.has('ignored'),
      everything: !line.has('exclude-standard'),
    });
    for (const path of paths) if (spec.matches(path)) context.out.text(shown(path) + end);
  }
  if (modified || deleted) {
    for (const { entry, file } of await trackedStates(repository, entries)) {
      const isChanged =
        file === null ? modified || deleted : modified && (file.oid !== entry.oid || file.mode !== entry.mode);
      if (isChanged) context.out.text(shown(entry.path) + end);
    }
  }
  if (line.has('stage') || unmerged || line.has('cached') || !(others || modified || deleted)) {
    for (const { path, mode, oid, stage } of entries) {
      if (unmerged && stage === 0) continue;
      const detail = line.has('stage') || unmerged ? `${mode.toString(8).padStart(6, '0')} ${oid} ${stage}\t` : '';
      context.out.text(detail + shown(path) + end);
    }
  }
  return 0;
}

export async function lsTree(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    r: 'flag',
    t: 'flag',
    'name-only': 'flag',
    'name-status': 'flag',
    'l,long': 'flag',
    z: 'flag',
    'full-tree': 'flag',
    'full-name': 'flag',
  });
  const repository = await context.repository();
  const [name, ...paths] = line.operands;
  if (name === undefined) throw new GitError('usage: git ls-tree [<options>] <tree-ish> [<path>...]', 129);
  const only = [...paths, ...(line.paths ?? [])];
  // In a folder it is that one's entries, unless it says otherwise.
  const here = line.has('full-tree') ? '' : await context.prefix();
  const spec = await context.pathspec(line.has('full-tree') ? only.map((path) => `:/${path}`) : only);
  const named = (path: string) => (line.has('full-name') ? path : relativePath(path, here));
  const end = line.has('z') ? '\0' : '\n';
  const walk = async (oid: string, prefix: string): Promise<void> => {
    for (const entry of parseTree((await repository.object(oid)).content)) {
      const path = prefix + entry.name;
      const isTree = entry.mode === TREE_MODE;
      const inner = isTree && (line.has('r') || (spec.mayMatchBelow(path) && !spec.matches(path)));
      if (spec.matches(path) && !(isTree && line.has('r'))) {
        const type = isTree ? 'tree' : entry.mode === 0o160000 ? 'commit' : 'blob';
        const size = line.has('long')
          ? ` ${(type === 'blob' ? String((await repository.blob(entry.oid)).length) : '-').padStart(7)}`
          : '';
        const names = line.has('name-only') || line.has('name-status');
        const detail = names ? '' : `${entry.mode.toString(8).padStart(6, '0')} ${type} ${entry.oid}${size}\t`;
        context.out.text(detail + (line.has('z') ? named(path) : quotedPath(named(path))) + end);
      }
      if (inner && spec.mayMatchBelow(path)) await walk(entry.oid, `${path}/`);
    }
  };
  const oid = await requireRevision(repository, name);
  const tree =
    (await repository.object(oid)).type === 'tree'
      ? oid
      : (await repository.commit(await requireCommit(repository, name))).tree;
  if (only.length > 0 || here === '') await walk(tree, '');
  else {
    const folder = await folderIn(repository, tree, here);
    if (folder !== null) await walk(folder, `${here}/`);
  }
  return 0;
}

/** The tree of a folder in a tree; null when there is none. */
async function folderIn(repository: Repository, tree: string, folder: string): Promise<string | null> {
  let oid = tree;
  for (const name of folder.split('/')) {
    const entry = parseTree((await repository.object(oid)).content).find((one) => one.name === name);
    if (entry?.mode !== TREE_MODE) return null;
    oid = entry.oid;
  }
  return oid;
}

export async function catFile(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, { p: 'flag', t: 'flag', s: 'flag', e: 'flag' });
  const repository = await context.repository();
  const name = line.operands.at(-1);
  if (name === undefined) throw new GitError('usage: git cat-file (-e | -p | -t | -s | <type>) <object>', 129);
  const oid = await revision(repository, name);
  if (oid === null) throw fatal(`Not a valid object name ${name}`);
  const { type, content } = await repository.object(oid);
  if (line.has('e')) return 0;
  if (line.has('t')) context.out.line(type);
  else if (line.has('s')) context.out.line(String(content.length));
  else if (type === 'tree' && line.has('p')) {
    for (const entry of parseTree(content))
      context.out.line(
        `${entry.mode.toString(8).padStart(6, '0')} ${entry.mode === TREE_MODE ? 'tree' : entry.mode === 0o160000 ? 'commit' : 'blob'} ${entry.oid}\t${quotedPath(entry.name)}`,
      );
  } else context.out.bytes(content.toString('latin1'));
  return 0;
}

export async function hashObject(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, { w: 'flag', stdin: 'flag', t: 'value', 'stdin-paths': 'flag' });
  if ((line.value('t') ?? 'blob') !== 'blob' || line.has('stdin-paths'))
    throw unsupported('git hash-object of other than blobs from files and stdin is');
  const contents: Buffer[] = line.has('stdin') ? [Buffer.from(context.stdin, 'latin1')] : [];
  for (const path of line.operands) {
    const full = context.absolute(path);
    if (!(await context.files.exists(full)))
      throw fatal(`could not open '${path}' for reading: No such file or directory`);
    contents.push(await context.files.read(full));
  }
  for (const content of contents)
    context.out.line(line.has('w') ? await (await context.repository()).writeBlob(content) : hashBlob(content));
  return 0;
}
