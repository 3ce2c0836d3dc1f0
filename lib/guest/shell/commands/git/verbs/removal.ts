/** `git rm` and `mv`. */
import { parseCommandLine } from '../command-line.ts';
import type { GitContext } from '../git-context.ts';
import { fatal, GitError } from '../git-error.ts';
import type { IndexEntry } from '../index-file.ts';
import type { Repository } from '../repository.ts';
import { removeWorkFile, trackedStates } from '../work-tree.ts';

export async function remove(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    r: 'flag',
    cached: 'flag',
    'f,force': 'flag',
    'q,quiet': 'flag',
    'n,dry-run': 'flag',
    'ignore-unmatch': 'flag',
  });
  const repository = await context.repository();
  const given = [...line.operands, ...(line.paths ?? [])];
  if (given.length === 0) throw fatal('No pathspec was given. Which files should I remove?');
  const spec = await context.pathspec(given);
  const entries = await repository.index();
  const missing = spec.unmatched(entries.map(({ path }) => path));
  if (missing !== null && !line.has('ignore-unmatch')) throw fatal(`pathspec '${missing}' did not match any files`);
  const chosen = entries.filter(({ path }) => spec.matches(path));
  for (const { given: name, path } of spec.plain) {
    if (!line.has('r') && chosen.some((entry) => path === '' || entry.path.startsWith(`${path}/`)))
      throw fatal(`not removing '${name}' recursively without -r`);
  }
  if (!line.has('force')) await requireUnchanged(repository, chosen, line.has('cached'));
  const paths = [...new Set(chosen.map(({ path }) => path))];
  for (const path of paths) if (!line.has('quiet')) context.out.line(`rm '${path}'`);
  if (line.has('dry-run')) return 0;
  if (!line.has('cached')) for (const path of paths) await removeWorkFile(repository, path, context.cwd);
  await repository.saveIndex(entries.filter(({ path }) => !paths.includes(path)));
  return 0;
}

async function requireUnchanged(repository: Repository, chosen: readonly IndexEntry[], cached: boolean): Promise<void> {
  const head = await repository.treeFiles(await repository.headCommit());
  const [both, staged, local]: [string[], string[], string[]] = [[], [], []];
  for (const { entry, file } of await trackedStates(repository, chosen)) {
    const isStaged = head.get(entry.path)?.oid !== entry.oid;
    const isLocal = file !== null && file.oid !== entry.oid;
    if (isStaged && isLocal) both.push(entry.path);
    else if (isStaged && !cached) staged.push(entry.path);
    else if (isLocal && !cached) local.push(entry.path);
  }
  const words: [string[], string, string][] = [
    [both, 'staged content different from both the\nfile and the HEAD', 'use -f to force removal'],
    [staged, 'changes staged in the index', 'use --cached to keep the file, or -f to force removal'],
    [local, 'local modifications', 'use --cached to keep the file, or -f to force removal'],
  ];
  const errors = words.flatMap(([paths, what, hint]) =>
    paths.length === 0
      ? []
      : [
          `error: the following file${paths.length > 1 ? 's have' : ' has'} ${what}:\n${paths.map((path) => `    ${path}\n`).join('')}(${hint})`,
        ],
  );
  if (errors.length > 0) throw new GitError(errors.join('\n'), 1);
}

export async function move(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, { 'f,force': 'flag', 'v,verbose': 'flag', 'n,dry-run': 'flag', k: 'flag' });
  const repository = await context.repository();
  const given = [...line.operands, ...(line.paths ?? [])];
  const last = given.pop();
  if (last === undefined || given.length === 0)
    throw new GitError('usage: git mv [<options>] <source>... <destination>', 129);
  const entries = await repository.index();
  const [target] = (await context.pathspec([last])).plain;
  if (target === undefined) throw fatal(`destination '${last}' is a pattern`);
  const isFolder = await context.files.isDirectory(`${repository.workTree}/${target.path}`);
  if (given.length > 1 && !isFolder) throw fatal(`destination '${last}' is not a directory`);
  let index = entries;
  for (const source of (await context.pathspec(given)).plain) {
    const name = source.path.split('/').at(-1) ?? '';
    const to = isFolder ? (target.path === '' ? name : `${target.path}/${name}`) : target.path;
    const stat = await context.files.lstatOrNull(`${repository.workTree}/${source.path}`);
    const why = `source=${source.path}, destination=${to}`;
    if (stat === null) throw fatal(`bad source, ${why}`);
    if (!index.some(({ path }) => path === source.path || path.startsWith(`${source.path}/`)))
      throw fatal(stat.isDirectory() ? `source directory is empty, ${why}` : `not under version control, ${why}`);
    if ((await context.files.lstatOrNull(`${repository.workTree}/${to}`)) !== null && !line.has('force'))
      throw fatal(`destination exists, ${why}`);
    if (line.has('verbose') || line.has('dry-run')) context.out.line(`Renaming ${source.path} to ${to}`);
    if (line.has('dry-run')) continue;
    await context.files.move(`${repository.workTree}/${source.path}`, `${repository.workTree}/${to}`);
    index = index
      .filter(({ path }) => path !== to)
      .map((entry) =>
        entry.path === source.path || entry.path.startsWith(`${source.path}/`)
          ? { ...entry, path: to + entry.path.slice(source.path.length) }
          : entry,
      );
  }
  if (!line.has('dry-run')) await repository.saveIndex(index);
  return 0;
}
