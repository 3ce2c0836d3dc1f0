/** `git init`, `clone`, `config` and `remote`. */
import git from 'isomorphic-git';
import { parseCommandLine } from '../command-line.ts';
import {
  allSettings,
  booleanOf,
  normalKey,
  repositoryFile,
  setting,
  settingsIn,
  userFile,
  writeSetting,
} from '../configuration.ts';
import { GitContext, isGitDirectory } from '../git-context.ts';
import { fatal, GitError, unsupported } from '../git-error.ts';
import { noteHead } from '../reference-log.ts';
import { Repository } from '../repository.ts';
import { checkOutTree } from '../tree-switch.ts';

const DEFAULT_BRANCH = 'master';
const REMOTE_ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/|[\w.-]+@[\w.-]+:)/i;

export async function init(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    'q,quiet': 'flag',
    bare: 'flag',
    'b,initial-branch': 'value',
    'object-format': 'value',
  });
  if ((line.value('object-format') ?? 'sha1') !== 'sha1') throw unsupported('an object format other than sha1 is');
  const root = context.absolute(line.operands[0] ?? '.');
  const bare = line.has('bare');
  const gitdir = bare ? root : root === '/' ? '/.git' : `${root}/.git`;
  const isThere = await isGitDirectory(context.files, gitdir);
  if (!isThere) {
    const branch = line.value('initial-branch') ?? (await setting(context, 'init.defaultbranch')) ?? DEFAULT_BRANCH;
    await create(context, root, gitdir, { bare, branch });
  }
  const what = isThere ? 'Reinitialized existing' : 'Initialized empty';
  if (!line.has('quiet')) context.out.line(`${what} Git repository in ${gitdir}/`);
  return 0;
}

async function create(
  context: GitContext,
  root: string,
  gitdir: string,
  { bare, branch }: { bare: boolean; branch: string },
): Promise<Repository> {
  const { files } = context;
  await files.makeDirectory(gitdir);
  const repository = new Repository(files, bare ? null : root, gitdir);
  await git.init({ ...repository.iso, dir: root, bare, defaultBranch: branch });
  for (const folder of ['branches', 'info', 'objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
    await files.makeDirectory(`${gitdir}/${folder}`);
  await files.write(
    `${gitdir}/config`,
    `[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = ${bare}\n${bare ? '' : '\tlogallrefupdates = true\n'}`,
  );
  await files.write(
    `${gitdir}/description`,
    "Unnamed repository; edit this file 'description' to name the repository.\n",
  );
  await files.write(`${gitdir}/info/exclude`, '# git ls-files --others --exclude-from=.git/info/exclude\n');
  return repository;
}

export async function clone(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    'q,quiet': 'flag',
    bare: 'flag',
    'n,no-checkout': 'flag',
    'b,branch': 'value',
    'o,origin': 'value',
    'l,local': 'flag',
    'no-hardlinks': 'flag',
    'v,verbose': 'flag',
    progress: 'flag',
  });
  const [source, target] = line.operands;
  if (source === undefined) throw fatal('You must specify a repository to clone.');
  if (REMOTE_ADDRESS.test(source) && !source.startsWith('file://'))
    throw fatal(`unable to access '${source}': this sandbox reaches no network. Clone from a path instead.`);
  if (source.endsWith('.bundle')) throw unsupported('bundles are');
  const from = await sourceOf(context, source.replace(/^file:\/\//, ''));
  const bare = line.has('bare');
  const name = target ?? nameOf(source) + (bare ? '.git' : '');
  const root = context.absolute(name);
  if (
    (await context.files.exists(root)) &&
    (!(await context.files.isDirectory(root)) || (await context.files.names(root)).length > 0)
  ) {
    throw fatal(`destination path '${name}' already exists and is not an empty directory.`);
  }
  if (!line.has('quiet')) context.out.errorLine(`Cloning into ${bare ? 'bare repository ' : ''}'${name}'...`);
  const gitdir = bare ? root : `${root}/.git`;
  const current = await from.currentBranch();
  const branch = line.value('branch') ?? current ?? DEFAULT_BRANCH;
  const repository = await create(context, root, gitdir, { bare, branch });
  await copyTree(context, `${from.gitdir}/objects`, `${gitdir}/objects`);
  const remote = line.value('origin') ?? 'origin';
  const head = await copyReferences(from, repository, { bare, remote, branch, isGiven: line.has('branch') });
  const config = `${gitdir}/config`;
  const url = from.root ?? from.gitdir;
  await writeSetting(context.files, config, `remote.${remote}.url`, url);
  if (!bare)
    await writeSetting(context.files, config, `remote.${remote}.fetch`, `+refs/heads/*:refs/remotes/${remote}/*`);
  if (head === null) context.out.errorLine('warning: You appear to have cloned an empty repository.');
  else if (!bare) {
    if (current !== null)
      await context.files.write(`${gitdir}/refs/remotes/${remote}/HEAD`, `ref: refs/remotes/${remote}/${current}\n`);
    await writeSetting(context.files, config, `branch.${branch}.remote`, remote);
    await writeSetting(context.files, config, `branch.${branch}.merge`, `refs/heads/${branch}`);
    const inside = new GitContext({
      files: context.files,
      out: context.out,
      cwd: root,
      env: context.env,
      stdin: '',
      settings: context.settings,
    });
    await noteHead(inside, null, head, `clone: from ${url}`);
    if (!line.has('no-checkout')) await checkOutTree(inside, null, head, { force: true });
  }
  if (!line.has('quiet')) context.out.errorLine('done.');
  return 0;
}

const nameOf = (source: string) =>
  source
    .replace(/\/+$/, '')
    .replace(/\/?\.git$/, '')
    .split('/')
    .at(-1) || 'repository';

async function sourceOf(context: GitContext, path: string): Promise<Repository> {
  const root = context.absolute(path);
  for (const [gitdir, tree] of [
    [`${root}/.git`, root],
    [root, null],
    [`${root}.git`, null],
  ] as const) {
    if (await isGitDirectory(context.files, gitdir)) return new Repository(context.files, tree, gitdir);
  }
  throw fatal(`repository '${path}' does not exist`);
}

async function copyTree(context: GitContext, from: string, to: string): Promise<void> {
  await context.files.makeDirectory(to);
  for (const name of await context.files.names(from)) {
    if (await context.files.isDirectory(`${from}/${name}`)) await copyTree(context, `${from}/${name}`, `${to}/${name}`);
    else await context.files.write(`${to}/${name}`, await context.files.read(`${from}/${name}`));
  }
}

/** Returns the commit that is to be checked out; null for an empty repository. */
async function copyReferences(
  from: Repository,
  to: Repository,
  { bare, remote, branch, isGiven }: { bare: boolean; remote: string; branch: string; isGiven: boolean },
): Promise<string | null> {
  const heads = bare ? 'refs/heads' : `refs/remotes/${remote}`;
  for (const name of await from.referencesBelow('refs/heads')) {
    const oid = await from.reference(`refs/heads/${name}`);
    if (oid !== null) await to.setReference(`${heads}/${name}`, oid);
  }
  for (const name of await from.referencesBelow('refs/tags')) {
    const oid = await from.reference(`refs/tags/${name}`);
    if (oid !== null) await to.setReference(`refs/tags/${name}`, oid);
  }
  const head =
    (await from.reference(`refs/heads/${branch}`)) ??
    (isGiven ? await from.reference(`refs/tags/${branch}`) : await from.headCommit());
  if (head === null && isGiven) throw fatal(`Remote branch ${branch} not found in upstream ${remote}`);
  if (head !== null) await to.setReference(`refs/heads/${branch}`, head);
  return head;
}

export async function config(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    global: 'flag',
    local: 'flag',
    system: 'flag',
    'l,list': 'flag',
    get: 'flag',
    'get-all': 'flag',
    'get-regexp': 'flag',
    unset: 'flag',
    'unset-all': 'flag',
    add: 'flag',
    'replace-all': 'flag',
    'f,file': 'value',
    bool: 'flag',
    int: 'flag',
    type: 'value',
    default: 'value',
  });
  const [key, value] = line.operands;
  const type = line.has('bool') ? 'bool' : line.has('int') ? 'int' : (line.value('type') ?? null);
  if (type !== null && type !== 'bool' && type !== 'int') throw unsupported(`the type '${type}' of a setting is`);
  const own = await repositoryFile(context);
  const given = line.value('file');
  const file = given !== undefined ? context.absolute(given) : line.has('global') ? userFile(context) : own;
  const isLimited = line.has('global') || line.has('local') || given !== undefined;
  if (line.has('system')) throw new GitError('error: there are no system settings in this sandbox', 1);
  const settings = isLimited && file !== null ? await settingsIn(context.files, file) : await allSettings(context);
  if (line.has('list')) {
    for (const one of settings) context.out.line(`${one.key}=${one.value}`);
    return 0;
  }
  if (key === undefined) throw new GitError('usage: git config [<options>] [<name> [<value>]]', 129);
  if (line.has('get-regexp')) {
    const found = settings.filter((one) => new RegExp(key).test(one.key));
    for (const one of found) context.out.line(`${one.key} ${one.value}`);
    return found.length > 0 ? 0 : 1;
  }
  const normal = normalKey(key);
  const removes = line.has('unset') || line.has('unset-all');
  if (!removes && (value === undefined || line.has('get') || line.has('get-all'))) {
    const found = settings.filter((one) => one.key === normal);
    const shown = (line.has('get-all') ? found : found.slice(-1)).map((one) => ({
      ...one,
      value: typedValue(normal, one.value, type),
    }));
    for (const one of shown) context.out.line(one.value);
    const otherwise = line.value('default');
    if (found.length === 0 && otherwise !== undefined) context.out.line(otherwise);
    return found.length > 0 || otherwise !== undefined ? 0 : 1;
  }
  if (file === null) throw fatal('not in a git directory');
  if (removes && !settings.some((one) => one.key === normal)) return 5;
  if (line.has('replace-all')) await writeSetting(context.files, file, key, null, { all: true });
  await writeSetting(context.files, file, key, removes ? null : typedValue(normal, value ?? '', type), {
    add: line.has('add'),
    all: line.has('unset-all'),
  });
  return 0;
}

/** A value as `--bool` and `--int` write it. Throws git's words for another. */
function typedValue(key: string, value: string, type: 'bool' | 'int' | null): string {
  if (type === null) return value;
  if (type === 'bool') return String(booleanOf(key, value));
  const [, digits, unit = ''] = /^([+-]?\d+)([kmg]?)$/i.exec(value) ?? [];
  if (digits === undefined) throw fatal(`bad numeric config value '${value}' for '${key}': invalid unit`);
  return String(Number(digits) * 1024 ** ' kmg'.indexOf(unit.toLowerCase() || ' '));
}

export async function remote(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, { 'v,verbose': 'flag' });
  const repository = await context.repository();
  const path = `${repository.gitdir}/config`;
  const urls = new Map(
    (await settingsIn(context.files, path)).flatMap(({ key, value }) => {
      const name = /^remote\.(.+)\.url$/.exec(key)?.[1];
      return name === undefined ? [] : [[name, value] as const];
    }),
  );
  const [verb, name, url] = line.operands;
  if (verb === undefined) {
    for (const [known, address] of [...urls].sort()) {
      if (!line.has('verbose')) context.out.line(known);
      else for (const way of ['fetch', 'push']) context.out.line(`${known}\t${address} (${way})`);
    }
    return 0;
  }
  if (!['add', 'get-url', 'set-url', 'remove', 'rm'].includes(verb)) throw unsupported(`git remote ${verb} is`);
  if (name === undefined) throw new GitError(`usage: git remote ${verb} <name>`, 129);
  if (verb === 'add') {
    if (urls.has(name)) throw new GitError(`error: remote ${name} already exists.`, 3);
    await writeSetting(context.files, path, `remote.${name}.url`, url ?? '');
    await writeSetting(context.files, path, `remote.${name}.fetch`, `+refs/heads/*:refs/remotes/${name}/*`);
    return 0;
  }
  if (!urls.has(name)) throw new GitError(`error: No such remote '${name}'`, 2);
  if (verb === 'get-url') context.out.line(urls.get(name));
  else if (verb === 'set-url') await writeSetting(context.files, path, `remote.${name}.url`, url ?? '');
  else {
    await writeSetting(context.files, path, `remote.${name}.url`, null, { all: true });
    await writeSetting(context.files, path, `remote.${name}.fetch`, null, { all: true });
  }
  return 0;
}
