/** Walks of the commits of a repository. */
import type { CommitObject } from './objects.ts';
import type { Repository } from './repository.ts';

/**
 * Commits that can be reached from `from` and not from `without`, the latest first as git orders them by default. With
 * `since` (seconds), a commit made before is left out, and so is what can be reached through it alone.
 */
export async function* commitsFrom(
  repository: Repository,
  from: readonly string[],
  {
    without = [],
    since = null,
    firstParent = false,
  }: { without?: readonly string[]; since?: number | null; firstParent?: boolean } = {},
): AsyncGenerator<CommitObject> {
  const hidden = without.length === 0 ? new Set<string>() : await reachable(repository, without);
  const seen = new Set<string>();
  const queue: CommitObject[] = [];
  const push = async (oid: string) => {
    if (seen.has(oid) || hidden.has(oid)) return;
    seen.add(oid);
    const commit = await repository.commit(oid);
    if (since !== null && commit.committer.seconds < since) return;
    const at = queue.findIndex((one) => one.committer.seconds < commit.committer.seconds);
    queue.splice(at < 0 ? queue.length : at, 0, commit);
  };
  for (const oid of from) await push(oid);
  for (let commit = queue.shift(); commit !== undefined; commit = queue.shift()) {
    yield commit;
    for (const parent of firstParent ? commit.parents.slice(0, 1) : commit.parents) await push(parent);
  }
}

export async function reachable(repository: Repository, from: readonly string[]): Promise<Set<string>> {
  const seen = new Set<string>();
  const open = [...from];
  for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
    if (seen.has(oid)) continue;
    seen.add(oid);
    open.push(...(await repository.commit(oid)).parents);
  }
  return seen;
}

/** The best common ancestor: one that no other common ancestor can reach; null without one. */
export async function mergeBaseOf(repository: Repository, ours: string, theirs: string): Promise<string | null> {
  const known = await reachable(repository, [ours]);
  if (known.has(theirs)) return theirs;
  for await (const commit of commitsFrom(repository, [theirs])) if (known.has(commit.oid)) return commit.oid;
  return null;
}

export async function isAncestor(repository: Repository, ancestor: string, of: string): Promise<boolean> {
  return (await reachable(repository, [of])).has(ancestor);
}
