/** The commands of `git`, and those that are known and not supported. */
import type { GitContext } from './git-context.ts';
import { apply } from './verbs/apply.ts';
import { branch } from './verbs/branches.ts';
import { checkout, switchBranch } from './verbs/checkout.ts';
import { clean } from './verbs/clean.ts';
import { commit } from './verbs/commit.ts';
import { describe } from './verbs/describe.ts';
import { diff } from './verbs/diff.ts';
import { grepTracked } from './verbs/grep.ts';
import { catFile, hashObject, lsFiles, lsTree, revList, revParse, statusVerb } from './verbs/inspect.ts';
import { log, reflog, show } from './verbs/log.ts';
import { merge, mergeBase } from './verbs/merge.ts';
import { forEachRef, showRef } from './verbs/references.ts';
import { move, remove } from './verbs/removal.ts';
import { cherryPick, revert } from './verbs/replay.ts';
import { clone, config, init, remote } from './verbs/setup.ts';
import { add, reset, restoreVerb } from './verbs/staging.ts';
import { stash } from './verbs/stash.ts';
import { tag } from './verbs/tags.ts';

/** Runs a command; returns its exit code. */
export type GitVerb = (context: GitContext, args: string[]) => Promise<number>;

export const GIT_VERBS: Readonly<Record<string, GitVerb>> = {
  add,
  apply,
  branch,
  'cat-file': catFile,
  checkout,
  'cherry-pick': cherryPick,
  clean,
  clone,
  commit,
  config,
  describe,
  diff,
  'for-each-ref': forEachRef,
  grep: grepTracked,
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
  revert,
  rm: remove,
  show,
  'show-ref': showRef,
  stash,
  status: statusVerb,
  switch: switchBranch,
  tag,
};

const NETWORK = 'it reaches no network. Clone from a path instead.';
const LOCAL = 'git --help lists the commands that are.';

/** The other commands of git, each with the reason why it does nothing here. */
export const UNSUPPORTED: Readonly<Record<string, string>> = {
  ...reasons(LOCAL, [
    'add--interactive am annotate archive archimport bisect blame bugreport check-attr check-ignore check-mailmap',
    'check-ref-format checkout-index cherry citool column commit-graph commit-tree count-objects credential diagnose',
    'diff-files diff-index diff-tree difftool fast-export fast-import filter-branch fmt-merge-msg for-each-repo',
    'format-patch fsck fsck-objects gc get-tar-commit-id gui help hook index-pack init-db instaweb interpret-trailers',
    'mailinfo mailsplit maintenance merge-file merge-index merge-one-file merge-tree mergetool mktag mktree',
    'multi-pack-index name-rev notes pack-objects pack-redundant pack-refs patch-id prune prune-packed quiltimport',
    'range-diff read-tree rebase repack replace request-pull rerere scalar shortlog show-branch show-index',
    'sparse-checkout stage stripspace subtree symbolic-ref unpack-file unpack-objects update-index update-ref',
    'var verify-commit verify-pack verify-tag whatchanged worktree write-tree gitk',
  ]),
  ...reasons(NETWORK, [
    'cvsexportcommit cvsimport cvsserver daemon fetch fetch-pack http-backend http-fetch http-push imap-send ls-remote',
    'p4 pull push receive-pack remote-http remote-https send-email send-pack shell submodule svn update-server-info',
    'upload-archive upload-pack',
  ]),
  bundle: 'bundles are neither written nor read.',
};

function reasons(why: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((line) => line.split(' ')).map((name) => [name, why]));
}
