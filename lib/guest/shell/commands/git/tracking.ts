/** How a branch stands to the one that it follows. */
import { settingsIn } from './configuration.ts';
import { reachable } from './history.ts';
import type { Repository } from './repository.ts';

export interface Tracking {
  /** As in `origin/main`. */
  upstream: string;
  ahead: number;
  behind: number;
  isGone: boolean;
}

/** Null for a branch that follows none. */
export async function trackingOf(repository: Repository, branch: string): Promise<Tracking | null> {
  const settings = await settingsIn(repository.files, `${repository.gitdir}/config`);
  const value = (name: string) => settings.findLast(({ key }) => key === `branch.${branch}.${name}`)?.value;
  const [remote, merge] = [value('remote'), value('merge')];
  if (remote === undefined || merge === undefined) return null;
  const name = merge.replace(/^refs\/heads\//, '');
  const upstream = remote === '.' ? name : `${remote}/${name}`;
  const [ours, theirs] = [
    await repository.reference(`refs/heads/${branch}`),
    await repository.reference(remote === '.' ? merge : `refs/remotes/${upstream}`),
  ];
  if (theirs === null || ours === null) return { upstream, ahead: 0, behind: 0, isGone: theirs === null };
  if (ours === theirs) return { upstream, ahead: 0, behind: 0, isGone: false };
  const [mine, yours] = [await reachable(repository, [ours]), await reachable(repository, [theirs])];
  return {
    upstream,
    ahead: [...mine].filter((oid) => !yours.has(oid)).length,
    behind: [...yours].filter((oid) => !mine.has(oid)).length,
    isGone: false,
  };
}

/** The lines of `git status`. */
export function trackingText({ upstream, ahead, behind, isGone }: Tracking): string[] {
  const commits = (count: number) => `${count} commit${count === 1 ? '' : 's'}`;
  if (isGone)
    return [
      `Your branch is based on '${upstream}', but the upstream is gone.`,
      '  (use "git branch --unset-upstream" to fixup)',
    ];
  if (ahead === 0 && behind === 0) return [`Your branch is up to date with '${upstream}'.`];
  if (behind === 0)
    return [
      `Your branch is ahead of '${upstream}' by ${commits(ahead)}.`,
      '  (use "git push" to publish your local commits)',
    ];
  if (ahead === 0)
    return [
      `Your branch is behind '${upstream}' by ${commits(behind)}, and can be fast-forwarded.`,
      '  (use "git pull" to update your local branch)',
    ];
  return [
    `Your branch and '${upstream}' have diverged,`,
    `and have ${ahead} and ${behind} different commits each, respectively.`,
    '  (use "git pull" to merge the remote branch into yours)',
  ];
}

/** What follows the branch in `git status -sb`. */
export function trackingShort({ upstream, ahead, behind, isGone }: Tracking): string {
  const parts = isGone
    ? ['gone']
    : [...(ahead > 0 ? [`ahead ${ahead}`] : []), ...(behind > 0 ? [`behind ${behind}`] : [])];
  return `...${upstream}${parts.length > 0 ? ` [${parts.join(', ')}]` : ''}`;
}
