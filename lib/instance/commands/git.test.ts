import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stage } from '../testing/stage.ts';
import { formatTree, parseTree } from './git/objects.ts';
import { formatOutcome, recordedCases } from './testing/recorded-cases.ts';

const at = stage();
const IDENTITY = 'git config --global user.name A; git config --global user.email a@b';

test.each(recordedCases('git'))(
  'git answers as the real one: $name',
  async ({ name, script, outcome }) => {
    const { stdout, stderr, exitCode } = await at.open(`git-${name}`).exec({ command: script });
    expect(formatOutcome({ stdout, stderr, exitCode })).toBe(outcome);
  },
  120_000,
);

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
  60_000,
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
}, 60_000);

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
  expect(stdout).toBe('inside\ninside\noutside\nf\n');
}, 60_000);

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
  }
}, 60_000);
