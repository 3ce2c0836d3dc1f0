/** The commands of `git`, and those that are known and not supported. */
import type { GitContext } from './git-context.ts';
import { branch } from './verbs/branches.ts';
import { checkout, switchBranch } from './verbs/checkout.ts';
import { clean } from './verbs/clean.ts';
import { commit } from './verbs/commit.ts';
import { diff } from './verbs/diff.ts';
import { catFile, hashObject, lsFiles, lsTree, revList, revParse, statusVerb } from './verbs/inspect.ts';
import { log, reflog, show, showRef } from './verbs/log.ts';
import { merge, mergeBase } from './verbs/merge.ts';
import { move, remove } from './verbs/removal.ts';
import { clone, config, init, remote } from './verbs/setup.ts';
import { add, reset, restoreVerb } from './verbs/staging.ts';
import { stash } from './verbs/stash.ts';
import { tag } from './verbs/tags.ts';

/** Runs a command; returns its exit code. */
export type GitVerb = (context: GitContext, args: string[]) => Promise<number>;

export const GIT_VERBS: Readonly<Record<string, GitVerb>> = {
  add,
  branch,
  'cat-file': catFile,
  checkout,
  clean,
  clone,
  commit,
  config,
  diff,
  'hash-object': hashObject,
  init,
  log,
  'ls-files': lsFiles,
  'ls-tree': lsTree,
  merge,
  'merge-base': mergeBase,
  mv: move,
  reflog,
  remote,
  reset,
  restore: restoreVerb,
  'rev-list': revList,
  'rev-parse': revParse,
  rm: remove,
  show,
  'show-ref': showRef,
  stash,
  status: statusVerb,
  switch: switchBranch,
  tag,
};

const NETWORK = 'it reaches no network. Clone from a path instead.';
const LOCAL =
  'it has local work alone – init, add, commit, log, diff, status, branch, merge, stash, tag, clone from a path.';

export const UNSUPPORTED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['fetch', 'pull', 'push', 'ls-remote', 'submodule', 'send-email', 'daemon'].map((name) => [name, NETWORK]),
  ),
  bundle: 'bundles are neither written nor read.',
  apply: 'patch -p1 < FILE applies what git diff prints.',
  ...Object.fromEntries(
    [
      'am',
      'archive',
      'bisect',
      'blame',
      'cherry-pick',
      'describe',
      'fast-import',
      'filter-branch',
      'format-patch',
      'fsck',
      'gc',
      'grep',
      'notes',
      'rebase',
      'revert',
      'shortlog',
      'sparse-checkout',
      'worktree',
    ].map((name) => [name, LOCAL]),
  ),
};
