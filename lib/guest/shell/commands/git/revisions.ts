/** Names of revisions: `HEAD~2`, `main^`, `abc1234`, `v1`, `HEAD:path`, `@{-1}`. */
import git from 'isomorphic-git';
import { fatal } from './git-error.ts';
import { parseCommit, parseTag, parseTree } from './objects.ts';
import type { Repository } from './repository.ts';

const MIN_ABBREVIATION = 4;
const SHORT = 7;
const MAX_TAGS = 32;

export function short(oid: string): string {
  return oid.slice(0, SHORT);
}

/** The object that a name stands for; null when there is none. */
export async function revision(repository: Repository, name: string): Promise<string | null> {
  const colon = name.indexOf(':');
  if (colon === 0) return indexObject(repository, name.slice(1));
  if (colon > 0) return pathObject(repository, name.slice(0, colon), name.slice(colon + 1));
  const [, base = '', steps = ''] = /^(.*?)((?:[~^](?:\d+|\{\w*\})?)*)$/s.exec(name) ?? [];
  let oid = await named(repository, base === '' || base === '@' ? 'HEAD' : base);
  for (const [, sign, given] of steps.matchAll(/([~^])(\d+|\{\w*\})?/g)) {
    if (oid === null) return null;
    if (given?.startsWith('{')) {
      oid = await peeled(repository, oid, given === '{}' ? null : given.slice(1, -1));
      continue;
    }
    const count = given === undefined ? 1 : Number(given);
    oid = sign === '~' ? await ancestor(repository, oid, count) : await parent(repository, oid, count);
  }
  return oid;
}

/** Throws git's words for an unknown name. */
export async function requireRevision(repository: Repository, name: string): Promise<string> {
  const oid = await revision(repository, name);
  const [, tree = '', path = ''] = /^([^:]+):(.*)$/s.exec(name) ?? [];
  if (oid === null && tree !== '' && (await revision(repository, tree)) !== null) {
    const isOnDisk = repository.root !== null && (await repository.files.exists(`${repository.root}/${path}`));
    throw fatal(`path '${path}' ${isOnDisk ? 'exists on disk, but not' : 'does not exist'} in '${tree}'`);
  }
  if (oid === null)
    throw fatal(
      `ambiguous argument '${name}': unknown revision or path not in the working tree.\nUse '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'`,
    );
  return oid;
}

/** The commit that a name stands for, through tags. Throws when there is none. */
export async function requireCommit(repository: Repository, name: string): Promise<string> {
  return commitOf(repository, await requireRevision(repository, name));
}

/** The commit of a commit or of a tag. */
export async function commitOf(repository: Repository, oid: string): Promise<string> {
  const found = await peeled(repository, oid, 'commit');
  if (found === null) throw fatal(`${oid} is not a commit`);
  return found;
}

async function named(repository: Repository, name: string): Promise<string | null> {
  const previous = /^@\{-(\d+)\}$/.exec(name);
  if (previous) {
    const branch = await previousBranch(repository, Number(previous[1]));
    return branch === null ? null : named(repository, branch);
  }
  const past = /^(.*)@\{(\d+)\}$/.exec(name);
  if (past) return logged(repository, past[1] === '' ? 'HEAD' : (past[1] ?? ''), Number(past[2]));
  for (const full of [name, `refs/${name}`, `refs/tags/${name}`, `refs/heads/${name}`, `refs/remotes/${name}`]) {
    if (!/^(?:refs\/|[A-Z_]+$)/.test(full)) continue;
    const oid = await repository.reference(full);
    if (oid !== null) return oid;
  }
  const remote = await repository.reference(`refs/remotes/${name}/HEAD`);
  if (remote !== null) return remote;
  if (!/^[0-9a-f]+$/i.test(name) || name.length < MIN_ABBREVIATION || name.length > 40) return null;
  try {
    return await git.expandOid({ ...repository.iso, oid: name.toLowerCase() });
  } catch (error) {
    if (error instanceof Error && error.name === 'AmbiguousError') throw fatal(`ambiguous argument '${name}'`);
    if (error instanceof Error && error.name === 'NotFoundError') return null;
    throw error;
  }
}

/** An object through its tags; of the wanted type, or null. */
async function peeled(repository: Repository, oid: string, type: string | null): Promise<string | null> {
  let current = oid;
  for (let depth = 0; depth < MAX_TAGS; depth += 1) {
    const object = await repository.object(current);
    if (object.type === type) return current;
    if (object.type === 'commit' && type === 'tree') return parseCommit(current, object.content).tree;
    if (object.type !== 'tag') return type === null ? current : null;
    current = parseTag(object.content).object;
  }
  return null;
}

async function ancestor(repository: Repository, oid: string, count: number): Promise<string | null> {
  let current: string | null = await commitOf(repository, oid);
  for (let step = 0; step < count && current !== null; step += 1) {
    current = (await repository.commit(current)).parents[0] ?? null;
  }
  return current;
}

async function parent(repository: Repository, oid: string, number: number): Promise<string | null> {
  const commit = await commitOf(repository, oid);
  return number === 0 ? commit : ((await repository.commit(commit)).parents[number - 1] ?? null);
}

async function pathObject(repository: Repository, name: string, path: string): Promise<string | null> {
  const oid = await revision(repository, name);
  let current = oid === null ? null : await peeled(repository, oid, 'tree');
  for (const segment of path.split('/').filter((part) => part !== '' && part !== '.')) {
    if (current === null) return null;
    const { type, content } = await repository.object(current);
    current = type === 'tree' ? (parseTree(content).find((entry) => entry.name === segment)?.oid ?? null) : null;
  }
  return current;
}

async function indexObject(repository: Repository, path: string): Promise<string | null> {
  const [, stage = '0', name = ''] = /^(?:([0-3]):)?(.*)$/s.exec(path) ?? [];
  const entry = (await repository.index()).find((one) => one.path === name && one.stage === Number(stage));
  return entry?.oid ?? null;
}

async function logged(repository: Repository, name: string, back: number): Promise<string | null> {
  const full =
    name === 'HEAD' ? 'HEAD' : name.startsWith('refs/') ? name : name === 'stash' ? 'refs/stash' : `refs/heads/${name}`;
  const lines = await logLines(repository, full);
  return lines.at(-1 - back)?.split(' ')[1] ?? null;
}

/** The lines of a reference's log, the oldest first. */
export async function logLines(repository: Repository, reference: string): Promise<string[]> {
  return ((await repository.files.text(`${repository.gitdir}/logs/${reference}`)) ?? '').split('\n').filter(Boolean);
}

/** The branch that was left by the n-th last switch; null when there is none. */
export async function previousBranch(repository: Repository, back: number): Promise<string | null> {
  const moves = (await logLines(repository, 'HEAD')).flatMap(
    (line) => /\tcheckout: moving from (\S+) to \S+$/.exec(line)?.[1] ?? [],
  );
  return moves.at(-back) ?? null;
}
