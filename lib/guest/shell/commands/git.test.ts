import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stage } from '../../../workers/testing/stage.ts';
import { formatTree, parseTree } from './git/objects.ts';
import { formatOutcome, recordedCases } from './testing/recorded-cases.ts';

const at = stage();
const IDENTITY = 'git config --global user.name A; git config --global user.email a@b';

test.each(recordedCases('git'))('git answers as the real one: $name', async ({ name, script, outcome }) => {
  const { stdout, stderr, exitCode } = await at.open(`git-${name}`).exec({ command: script });
  expect(formatOutcome({ stdout, stderr, exitCode })).toBe(outcome);
});

test.runIf(spawnSync('git', ['--version']).status === 0)(
  'the machine’s git finds no fault in a repository of ours',
  async () => {
    const { stdout } = await at.open('git-fsck').exec({
      command: `${IDENTITY}; git init -q r; cd r; mkdir 'a b'; echo é > 'a b/ü'; echo x > x; chmod +x x; git add .; git commit -qm one; git checkout -q -b side; echo y > y; git add y; git commit -qm two; git checkout -q master; echo z > z; git add z; git commit -qm three; git merge -q side -m four; git tag -a v1 -m v1; echo more >> x; git stash -q; cd ..; tar c r | base64 -w0`,
    });
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-git-'));
    writeFileSync(join(folder, 'r.tar'), Buffer.from(stdout, 'base64'));
    const git = (...args: string[]) =>
      spawnSync('git', ['-c', 'safe.directory=*', ...args], { cwd: join(folder, 'r'), encoding: 'utf8' });
    spawnSync('tar', ['xf', 'r.tar'], { cwd: folder });
    expect(git('fsck', '--strict', '--full')).toMatchObject({ status: 0, stderr: '' });
    expect(git('status', '--porcelain').stdout).toBe('');
    expect(git('log', '--format=%s').stdout.split('\n').sort()).toEqual(['', 'four', 'one', 'three', 'two']);
    rmSync(folder, { recursive: true });
  },
);

test('what needs a network, bundles and other commands say that they are not supported', async () => {
  const sandbox = at.open('git-network');
  const attempts = [
    'git fetch',
    'git push origin main',
    'git pull',
    'git bundle create x HEAD',
    'git rebase main',
    'git clone https://example.com/x.git',
    'git clone git@example.com:x.git',
    'git clone x.bundle',
    'git log --graph',
    'git submodule update',
  ];
  await sandbox.exec({ command: `${IDENTITY}; git init -q .; echo a > a; git add a; git commit -qm a` });
  for (const command of attempts) {
    const { stdout, stderr, exitCode } = await sandbox.exec({ command });
    expect(exitCode, command).not.toBe(0);
    expect(stdout, command).toBe('');
    expect(stderr, command).toMatch(/not supported in this sandbox|reaches no network/);
  }
});

test('names in a tree lead nowhere else', () => {
  for (const name of ['..', '.', '.git', '.GIT', 'a/b', '']) {
    expect(() => parseTree(formatTree([{ mode: 0o100644, name, oid: '0'.repeat(40) }])), name).toThrow(/invalid path/);
  }
});

test('a switch writes through no link, and an index is no way out of the work tree', async () => {
  const sandbox = at.open('git-links');
  const { stdout } = await sandbox.exec({
    command: `${IDENTITY}; git init -q r; cd r; mkdir d; echo inside > d/f; git add .; git commit -qm folder; git checkout -q -b link; git rm -qr d; ln -s /memory d; git add d; git commit -qm link; git checkout -q master; cat d/f; ls /memory
git checkout -q link; echo outside > /memory/f; git status -s; git checkout -q master; cat d/f /memory/f
rm -r d; mkdir -p /memory/f2; mkdir g; mkdir g/f2; echo g > g/f2/x; echo y > g/y; git add g; git commit -qm g; rm -r g; mkdir /memory/g; echo kept > /memory/g/y; mkdir -p /memory/g/f2/x; echo kept > /memory/g/f2/x/z; ln -s /memory/g g; git rm -q --cached -r g; git reset -q --hard HEAD~1; cat /memory/g/y /memory/g/f2/x/z; git reset -q --hard HEAD@{1}; cat g/f2/x g/y /memory/g/f2/x/z; rm -r /memory/f2 /memory/g
cd ..; python3 - <<'P'
import hashlib, struct
name = b'../../memory/planted'
entry = struct.pack('>10I20sH', 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0, bytes.fromhex('587be6b4c3f93f93c489c0111bba5596147a26cb'), len(name)) + name
entry += b'\\0' * (8 - len(entry) % 8)
body = b'DIRC' + struct.pack('>II', 2, 1) + entry
open('r/.git/index', 'wb').write(body + hashlib.sha1(body).digest())
P
cd r; git checkout -- . ; git reset -q --hard; git rm -qf ../../memory/planted; git commit -qam x; ls /memory`,
  });
  expect(stdout).toBe('inside\ninside\noutside\nkept\nkept\ng\ny\nkept\nf\n');
});

test('settings, hooks and attributes of a repository run nothing, and its references lead nowhere else', async () => {
  const { stdout, stderr } = await at.open('git-hostile').exec({
    command: `${IDENTITY}; git init -q r; cd r
cat >> .git/config <<'C'
[core]
	fsmonitor = echo ran > /memory/fsmonitor
	hooksPath = .git/hooks
	sshCommand = echo ran > /memory/ssh
	editor = echo ran > /memory/editor
	pager = echo ran > /memory/pager
[alias]
	st = "!echo ran > /memory/alias"
[filter "f"]
	clean = echo ran > /memory/clean
	smudge = echo ran > /memory/smudge
[diff "f"]
	textconv = echo ran > /memory/textconv
	external = echo ran > /memory/external
C
mkdir -p .git/hooks
for hook in pre-commit commit-msg post-commit post-checkout post-merge reference-transaction; do
  printf '#!/bin/sh\\necho ran > /memory/%s\\n' $hook > .git/hooks/$hook; chmod +x .git/hooks/$hook
done
echo '* filter=f diff=f' > .gitattributes; echo x > x; git add .; git commit -qm one; echo y > x
git status > /tmp/said; git diff >> /tmp/said; git checkout -q -f -b side; git log >> /tmp/said; git clone -q . ../copy; git fetch ssh://x/y; git st
git branch ../../../memory/branch; git tag ../../../memory/tag
echo 'ref: ../../../memory/head' > .git/HEAD; git add .; git commit -qm two; ls -A /memory; echo end`,
  });
  expect(stdout).toBe('end\n');
  expect(stderr).toContain("git: 'st' is not a git command");
});

test('objects and references that are made to be endless end a command, and the sandbox goes on', async () => {
  const sandbox = at.open('git-bombs');
  const { exitCode } = await sandbox.exec({
    command: `git init -q .; python3 - <<'P'
import zlib, hashlib, os
def put(kind, body):
    content = b'%s %d\\0' % (kind, len(body)) + body
    name = hashlib.sha1(content).hexdigest()
    os.makedirs('.git/objects/' + name[:2], exist_ok=True)
    open('.git/objects/%s/%s' % (name[:2], name[2:]), 'wb').write(zlib.compress(content))
    return name
def branch(called, tree):
    by = b'a <a> 1 +0000\\n'
    commit = put(b'commit', b'tree ' + tree.encode() + b'\\nauthor ' + by + b'committer ' + by + b'\\nx\\n')
    open('.git/refs/heads/' + called, 'w').write(commit + '\\n')
wide = deep = put(b'blob', b'x')
mode = b'100644'
for level in range(10):
    wide = put(b'tree', b''.join(mode + b' f%d\\0' % n + bytes.fromhex(wide) for n in range(10)))
    mode = b'40000'
branch('wide', wide)
mode = b'100644'
for level in range(600):
    deep = put(b'tree', mode + b' d\\0' + bytes.fromhex(deep))
    mode = b'40000'
branch('deep', deep)
P
echo 'ref: refs/heads/b' > .git/refs/heads/a; echo 'ref: refs/heads/a' > .git/refs/heads/b; echo kept > kept`,
    timeoutMs: 40_000,
  });
  expect(exitCode).toBe(0);
  const deep = await sandbox.exec({ command: 'git checkout -q deep' });
  expect([deep.exitCode, deep.stderr]).toEqual([128, 'fatal: the tree is nested too deeply\n']);
  const circle = await sandbox.exec({ command: 'git log a' });
  expect(circle.exitCode).toBe(128);
  expect(circle.stderr).toMatch(/^fatal: Circular reference/);
  // It rarely waits, so that often no timer fires in time.
  for (const timeoutMs of [300, 500, 700, 900, 1100]) {
    const wide = await sandbox.exec({ command: 'git checkout -q wide; echo never', timeoutMs });
    expect(wide).toMatchObject({ exitCode: 124, timedOut: true, stdout: '' });
  }
  expect(await at.say(sandbox, 'timeout 0.5 git checkout -q wide; echo $?')).toBe('124\n');
  expect(await at.say(at.open('git-bombs', { mustExist: true }), 'cat kept')).toBe('kept\n');
});

test('a damaged repository ends with an error, not with silence', async () => {
  const sandbox = at.open('git-damaged');
  const made = `${IDENTITY}; git init -q r; cd r; echo a > a; git add a; git commit -qm a`;
  await sandbox.exec({ command: made });
  for (const damage of [
    'echo junk > .git/index',
    'for f in .git/objects/??/*; do echo junk > $f; done',
    'rm -r .git/objects/??',
  ]) {
    const { stderr, exitCode } = await sandbox.exec({ command: `cd r; ${damage}; git status` });
    expect(exitCode, damage).toBe(128);
    expect(stderr, damage).toMatch(/^fatal: /);
    expect(stderr, damage).not.toContain('isomorphic-git');
  }
});
