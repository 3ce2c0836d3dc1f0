/**
 * No hook runs in a sandbox: of each that the real git runs for a command, ours says so, and of no other. A commit that
 * one could forbid is refused, and made with --no-verify.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stage } from '../../../workers/testing/stage.ts';

const at = stage();
const HOOKS =
  'pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit post-checkout post-merge post-rewrite reference-transaction applypatch-msg pre-push pre-rebase'.split(
    ' ',
  );
const PREPARED = `git init -q -b main r; cd r; git config user.name A; git config user.email a@b
echo 1 > f; git add f; git commit -qm one; git branch side; echo 2 > f; git commit -qam two
for h in ${HOOKS.join(' ')}; do printf '#!/bin/sh\\necho %s >> ../log\\n' $h > .git/hooks/$h; chmod +x .git/hooks/$h; done; echo 3 > f`;
/** Each with the files as the one before left them. */
const COMMANDS = [
  'git status',
  'git add f',
  'git commit -m three',
  'git commit -m nothing',
  'git commit -n --allow-empty -m four',
  'git commit --amend -m five',
  'git diff HEAD~1',
  'git log',
  'git checkout side',
  'git checkout -b own',
  'git checkout main -- f',
  'git checkout',
  'git restore --staged f',
  'git restore f',
  'git switch -c other',
  'git switch main',
  'git switch main',
  'git reset --soft HEAD~1',
  'git reset --hard',
  'git branch n1',
  'git branch -m n1 n2',
  'git branch -d n2',
  'git tag t1',
  'git tag -a t2 -m x',
  'git tag -d t1',
  'git checkout other && echo q > q && git add q && git -c core.hooksPath=/nowhere commit -qm q && git switch main',
  'git merge --no-ff --no-verify other -m m',
  'git reset -q --hard HEAD~1',
  'git merge --no-ff other -m m',
  'git reset -q --hard HEAD~1',
  'git branch ahead main~1',
  'git switch ahead',
  'git merge main',
  'git switch main',
  'git cherry-pick other',
  'git revert --no-edit HEAD',
  'git mv f g',
  'git reset -q --hard',
  'echo 9 > f; git stash',
  'git stash pop',
  'git stash list',
  'git grep 9',
  'git describe --always',
  'git for-each-ref',
  'git clean -fd',
  'git -c core.hooksPath=/nowhere commit -am silent',
];

function namesIn(stderr: string): string[] {
  const found = [
    ...stderr.matchAll(/^warning: the hook '\S*\/([\w-]+)' was not run: hooks do not run in this sandbox$/gm),
  ];
  return [...new Set(found.map(([, name]) => name ?? ''))].toSorted();
}

test.runIf(spawnSync('git', ['--version']).status === 0)(
  'the hooks that are said not to run are those that the machine’s git runs',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-hooks-'));
    const env = { ...process.env, HOME: folder, LANG: 'C', TZ: 'UTC', GIT_CONFIG_NOSYSTEM: '1' };
    const real = (command: string, cwd: string) => {
      writeFileSync(join(folder, 'log'), '');
      spawnSync('bash', ['-c', command], { cwd, env });
      return [...new Set(readFileSync(join(folder, 'log'), 'utf8').split('\n').filter(Boolean))].toSorted();
    };
    real(PREPARED, folder);
    const sandbox = at.open('git-hooks');
    await sandbox.exec({ command: PREPARED });
    const different: unknown[] = [];
    for (const command of COMMANDS) {
      const theirs = real(command, join(folder, 'r'));
      const ours = command.replace(/ commit (?=-m|--amend|-am|-qm)/, ' commit --no-verify ');
      const { stderr } = await sandbox.exec({ command: `cd r; ${ours}` });
      const mayForbid = ours === command ? [] : ['pre-commit', 'commit-msg'];
      const expected = theirs.filter((name) => !mayForbid.includes(name));
      if (namesIn(stderr).join() !== expected.join()) different.push({ command, ours: namesIn(stderr), expected });
    }
    rmSync(folder, { recursive: true });
    expect(different).toEqual([]);
    expect(await at.say(sandbox, 'ls')).toBe('r\n');
  },
);

test('a hook counts where the settings have hooks, and when it can be run', async () => {
  const sandbox = at.open('git-hooks-where');
  const said = async (command: string) =>
    namesIn((await sandbox.exec({ command: `cd /workspace/r; ${command}` })).stderr);
  await sandbox.exec({
    command:
      'git init -q r; cd r; git config user.name A; git config user.email a@b; mkdir own sub; echo x > own/commit-msg; chmod +x own/commit-msg; echo x > .git/hooks/pre-commit; mkdir .git/hooks/post-commit; echo x > sub/x; git add .',
  });
  const refused = async (command: string) => {
    const { stderr, exitCode } = await sandbox.exec({ command: `cd /workspace/r; ${command}` });
    return [exitCode, /^fatal: the hook '(\S+)' may forbid this commit, and hooks do not run/.exec(stderr)?.[1]];
  };
  const empty = 'git commit -q --allow-empty -m';
  expect(await said('git commit -qm one')).toEqual([]);
  expect(await refused(`chmod +x .git/hooks/pre-commit; ${empty} two`)).toEqual([1, '.git/hooks/pre-commit']);
  expect(await refused(`git config core.hooksPath own; cd sub; ${empty} three`)).toEqual([1, 'own/commit-msg']);
  expect(await refused(`git -c core.hooksPath=/workspace/r/own commit -q --allow-empty -m four`)).toEqual([
    1,
    '/workspace/r/own/commit-msg',
  ]);
  expect(await refused(`${empty} five --no-verify`)).toEqual([0, undefined]);
  expect(await at.say(sandbox, 'cd r; git log --format=%s')).toBe('five\none\n');
  expect(
    await said('echo y > sub/x; chmod +x own/commit-msg; mv own/commit-msg own/post-index-change; git add .'),
  ).toEqual(['post-index-change']);
});
