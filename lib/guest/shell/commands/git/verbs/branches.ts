import { parseCommandLine } from '../command-line.ts';
import type { GitContext } from '../git-context.ts';
import { fatal } from '../git-error.ts';
import { isAncestor } from '../history.ts';
import { noteReference } from '../reference-log.ts';
import { commitOf, revision, short } from '../revisions.ts';

/** Throws git's words for a name that no reference may have. */
export function requireName(name: string, what: 'branch' | 'tag'): void {
  const bad = /^-|^$|\.\.|[\x00-\x20\x7f~^:?*[\\]|^\/|\/$|\/\/|\.$|@\{|(?:^|\/)\.|\.lock(?:\/|$)|^@$|^HEAD$/;
  if (bad.test(name)) throw fatal(`'${name}' is not a valid ${what} name${what === 'tag' ? '.' : ''}`);
}

export async function branch(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    d: 'flag',
    D: 'flag',
    delete: 'flag',
    'm,move': 'flag',
    M: 'flag',
    'a,all': 'flag',
    'r,remotes': 'flag',
    l: 'flag',
    list: 'flag',
    'v,verbose': 'flag',
    vv: 'flag',
    'show-current': 'flag',
    'f,force': 'flag',
    'q,quiet': 'flag',
    format: 'value',
    'no-color': 'flag',
    'no-track': 'flag',
    'no-column': 'flag',
  });
  const repository = await context.repository();
  const current = await repository.currentBranch();
  if (line.has('show-current')) {
    if (current !== null) context.out.line(current);
    return 0;
  }
  if (line.has('d') || line.has('D') || line.has('delete'))
    return deleteBranches(context, line.operands, line.has('D') || line.has('force'), line.has('quiet'));
  if (line.has('move') || line.has('M'))
    return renameBranch(context, line.operands, line.has('M') || line.has('force'));
  const [name, start] = line.operands;
  if (name === undefined || line.has('list') || line.has('l')) return listBranches(context, line, current);
  await createBranch(context, name, start, line.has('force'));
  return 0;
}

async function createBranch(
  context: GitContext,
  name: string,
  start: string | undefined,
  force: boolean,
): Promise<string> {
  const repository = await context.repository();
  requireName(name, 'branch');
  const known = await repository.reference(`refs/heads/${name}`);
  if (known !== null && !force) throw fatal(`a branch named '${name}' already exists`);
  if (known !== null && (await repository.currentBranch()) === name)
    throw fatal(`cannot force update the branch '${name}' used by worktree at '${repository.root}'`);
  const from = start ?? 'HEAD';
  const oid = await revision(repository, from);
  if (oid === null) throw fatal(`not a valid object name: '${start ?? (await repository.currentBranch()) ?? 'HEAD'}'`);
  const commit = await commitOf(repository, oid);
  await repository.setReference(`refs/heads/${name}`, commit);
  await noteReference(context, `refs/heads/${name}`, known, commit, `branch: Created from ${from}`);
  return commit;
}

async function listBranches(
  context: GitContext,
  line: ReturnType<typeof parseCommandLine>,
  current: string | null,
): Promise<number> {
  const repository = await context.repository();
  const rows: { mark: string; name: string; oid: string | null; target: string | null }[] = [];
  const patterns = line.operands;
  if (!line.has('remotes')) {
    if (current === null)
      rows.push({
        mark: '*',
        name: `(HEAD detached at ${short((await repository.headCommit()) ?? '')})`,
        oid: await repository.headCommit(),
        target: null,
      });
    for (const name of await repository.referencesBelow('refs/heads')) {
      const oid = await repository.reference(`refs/heads/${name}`);
      rows.push({ mark: name === current ? '*' : ' ', name, oid, target: null });
    }
  }
  if (line.has('remotes') || line.has('all')) {
    for (const name of await repository.referencesBelow('refs/remotes')) {
      const text = (await context.files.text(`${repository.gitdir}/refs/remotes/${name}`))?.trim() ?? '';
      const target = text.startsWith('ref: ') ? text.replace('ref: refs/remotes/', '') : null;
      rows.push({
        mark: ' ',
        name: `${line.has('all') ? 'remotes/' : ''}${name}`,
        oid: await repository.reference(`refs/remotes/${name}`),
        target,
      });
    }
  }
  const shown = rows.filter(
    ({ name }) => patterns.length === 0 || patterns.some((pattern) => globOf(pattern).test(name)),
  );
  const width = Math.max(0, ...shown.map(({ name }) => name.length));
  const format = line.value('format');
  for (const { mark, name, oid, target } of shown) {
    if (format !== undefined) {
      context.out.line(format.replaceAll(/%\(([^)]*)\)/g, (_, field: string) => formatField(field, name, oid, mark)));
      continue;
    }
    const subject =
      oid === null || !(line.has('verbose') || line.has('vv'))
        ? ''
        : `${' '.repeat(width - name.length)} ${short(oid)} ${(await repository.commit(oid)).message.split('\n')[0]}`;
    context.out.line(`${mark} ${name}${target === null ? subject : ` -> ${target}`}`);
  }
  return 0;
}

function formatField(field: string, name: string, oid: string | null, mark: string): string {
  if (field === 'refname') return `refs/heads/${name}`;
  if (field === 'refname:short') return name;
  if (field === 'objectname') return oid ?? '';
  if (field === 'objectname:short') return short(oid ?? '');
  if (field === 'HEAD') return mark;
  throw fatal(`unknown field name: ${field}`);
}

export function globOf(pattern: string): RegExp {
  return new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  );
}

async function deleteBranches(
  context: GitContext,
  names: readonly string[],
  force: boolean,
  quiet: boolean,
): Promise<number> {
  const repository = await context.repository();
  const head = await repository.headCommit();
  if (names.length === 0) throw fatal('branch name required');
  let exitCode = 0;
  for (const name of names) {
    const oid = await repository.reference(`refs/heads/${name}`);
    if (oid === null) context.out.errorLine(`error: branch '${name}' not found.`);
    else if (name === (await repository.currentBranch()))
      context.out.errorLine(`error: Cannot delete branch '${name}' checked out at '${repository.root}'`);
    else if (!force && (head === null || !(await isAncestor(repository, oid, head)))) {
      context.out.errorLine(
        `error: The branch '${name}' is not fully merged.\nIf you are sure you want to delete it, run 'git branch -D ${name}'.`,
      );
    } else {
      await repository.deleteReference(`refs/heads/${name}`);
      await context.files.remove(`${repository.gitdir}/logs/refs/heads/${name}`);
      if (!quiet) context.out.line(`Deleted branch ${name} (was ${short(oid)}).`);
      continue;
    }
    exitCode = 1;
  }
  return exitCode;
}

async function renameBranch(context: GitContext, names: readonly string[], force: boolean): Promise<number> {
  const repository = await context.repository();
  const current = await repository.currentBranch();
  const [from, to] = names.length > 1 ? [names[0], names[1]] : [current, names[0]];
  if (from === null || from === undefined || to === undefined) throw fatal('branch name required');
  requireName(to, 'branch');
  const oid = await repository.reference(`refs/heads/${from}`);
  if (oid === null && from !== current) throw fatal(`No branch named '${from}'.`);
  if (!force && from !== to && (await repository.reference(`refs/heads/${to}`)) !== null)
    throw fatal(`a branch named '${to}' already exists`);
  if (oid !== null && from !== to) {
    await repository.deleteReference(`refs/heads/${from}`);
    await repository.setReference(`refs/heads/${to}`, oid);
    await noteReference(
      context,
      `refs/heads/${to}`,
      oid,
      oid,
      `Branch: renamed refs/heads/${from} to refs/heads/${to}`,
    );
  }
  if (from === current) await repository.setHead(`refs/heads/${to}`);
  return 0;
}
