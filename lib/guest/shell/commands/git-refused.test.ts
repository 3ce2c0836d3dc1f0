/** What the sandbox’s git does not do: each command and option of it says so, fails, and leaves all as it was. */
import { expect, test } from 'vitest';
import { stage } from '../../../workers/testing/stage.ts';

const at = stage();
const SENTENCE = /^(?:fatal|error): .+(?:not supported in this sandbox|reaches no network)/;
const PREPARED = `git init -q -b main r; cd r; git config user.name A; git config user.email a@b
echo 1 > f; git add f; git commit -qm one; git branch side; echo 2 > f; echo new > new`;
const STATE =
  'git log --all --format=%H; git reflog; git status -s; git stash list; git for-each-ref; git config --list --local; ls -AR . | grep -v "^total"; cat f new .git/HEAD; md5sum .git/index';

const VERBS =
  'am archive bisect blame bundle check-ignore commit-tree count-objects diff-files diff-index diff-tree fast-export fast-import fetch filter-branch format-patch fsck gc ls-remote maintenance merge-file mktree name-rev notes pack-refs prune pull push range-diff read-tree rebase repack replace rerere shortlog show-branch sparse-checkout stage submodule symbolic-ref update-index update-ref var whatchanged worktree write-tree'.split(
    ' ',
  );
/** Options of the real git 2.39 that are not built here. */
const OPTIONS = [
  'add -p',
  'add -N new',
  'add --chmod=+x f',
  'apply --stat',
  'apply --3way',
  'apply --whitespace=fix',
  'apply --reject',
  'branch --contains side',
  'branch --merged',
  'branch --sort=-committerdate',
  'branch --track other side',
  'branch -u side',
  'branch -c copy',
  'checkout -p',
  'checkout -m side',
  'checkout -t side',
  'checkout --no-guess side',
  'cherry-pick --ff side',
  'cherry-pick -e side',
  'cherry-pick -X ours side',
  'clean -i',
  'clean -e x -f',
  'clone --depth 1 . ../copy',
  'clone --recursive . ../copy',
  'clone --no-tags . ../copy',
  'commit --dry-run -am x',
  'commit --fixup HEAD -a',
  'commit --cleanup=verbatim -am x',
  'commit -p -m x',
  'commit -S -am x',
  'config --edit',
  'config --show-origin --list',
  'config --rename-section user person',
  'config --type=color a.b red',
  'describe --contains',
  'diff --check',
  'diff --word-diff=color',
  'diff -M90%',
  'diff --no-index f new',
  'diff -w',
  'diff --color=always',
  'diff -C',
  'for-each-ref --shell',
  "for-each-ref --format='%(align:10)%(refname)%(end)'",
  'grep --heading 1',
  'grep --and -e 1',
  'grep --color=always 1',
  'init --template=/tmp ../other',
  'log --graph',
  'log -S1',
  'log -G1',
  'log -L1,1:f',
  'log --topo-order',
  'log --no-walk',
  'log --cherry-pick side...main',
  'log -i --all-match --grep=x',
  'ls-files -x f -o',
  'ls-files --eol',
  'ls-tree -d HEAD',
  'merge --squash side',
  'merge -X ours side',
  'merge -s octopus side',
  'merge side main',
  'mv --sparse f g',
  'reflog expire --all',
  'remote add -f origin ..',
  'remote rename a b',
  'reset --merge',
  'reset --keep',
  'reset -p',
  'restore -p',
  'restore --ours f',
  'rev-list --objects HEAD',
  'rev-list HEAD -- f',
  'rev-list --topo-order HEAD',
  'rev-parse --parseopt',
  'revert -e HEAD',
  'revert -x HEAD',
  'rm --pathspec-from-file=f',
  'show --graph',
  'show -2',
  'show --since=yesterday',
  'show-ref --exclude-existing',
  'stash push f',
  'stash -k',
  'stash push -p',
  'stash branch x',
  'status -v',
  'status --porcelain=v2',
  'switch --orphan fresh',
  'switch -m side',
  'tag --sort=refname',
  'tag -s v1 -m x',
  'tag --contains HEAD',
  '--exec-path',
  '--literal-pathspecs add f',
];

test('a command or an option that is not built fails with a sentence and does nothing', async () => {
  const sandbox = at.open('git-refused');
  await sandbox.exec({ command: PREPARED });
  const state = async () => (await sandbox.exec({ command: `cd r; ${STATE}; ls -A ..` })).stdout;
  const before = await state();
  expect(before).toContain(' M f\n?? new\n');
  const wrong: unknown[] = [];
  for (const command of [...VERBS, ...OPTIONS]) {
    const { stdout, stderr, exitCode } = await sandbox.exec({ command: `cd r; git ${command}` });
    if (![1, 129].includes(exitCode) || stdout !== '' || !SENTENCE.test(stderr.split('\n')[0] ?? ''))
      wrong.push({ command, stdout, stderr, exitCode });
  }
  expect(wrong).toEqual([]);
  expect(await state()).toBe(before);
});

test('every command that is listed as supported runs, and each that is not known is named', async () => {
  const sandbox = at.open('git-known');
  const { stdout } = await sandbox.exec({ command: 'git --help' });
  const listed = stdout.split('\n').findLast((line) => line.startsWith('   ')) ?? '';
  expect(listed.split(' ').filter(Boolean)).toEqual(expect.arrayContaining(['cherry-pick', 'revert', 'apply', 'grep']));
  const { stderr, exitCode } = await sandbox.exec({ command: 'git constructor' });
  expect([stderr, exitCode]).toEqual(["git: 'constructor' is not a git command. See 'git --help'.\n", 1]);
});
