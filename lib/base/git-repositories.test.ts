import { describe, expect, test } from 'vitest';
import { RepositoryFinder, type RepositoryRule } from './git-repositories.ts';
import { DOT_GITS } from './testing/dot-gits.ts';

/** What stays out of a tree of files. */
function leftOut(rule: RepositoryRule, ...paths: string[]): string[] {
  const finder = new RepositoryFinder(rule);
  for (const path of paths) finder.see(path);
  const out = paths.map((path) => finder.leftOut(path, false)).filter((path) => path !== null);
  expect(finder.isClean && out.length > 0).toBe(false);
  return [...new Set(out)];
}

const BARE = ['HEAD', 'objects/x', 'refs/x'];
const inFolder = (folder: string, ...paths: string[]) => paths.map((path) => `${folder}/${path}`);

describe.each(['all', 'commands'] as const)('of a repository (%s)', (rule) => {
  test.each([
    ['settings', ['config'], ['config']],
    ['settings of a work tree', ['config.worktree'], ['config.worktree']],
    ['hooks', ['hooks/pre-commit', 'hooks/deep/x'], ['hooks/']],
    ['a file called hooks, which may be a link', ['hooks'], ['hooks']],
    ['settings in other letters', ['CONFIG', 'Config.Worktree', 'HOOKS/x'], ['CONFIG', 'Config.Worktree', 'HOOKS/']],
    [
      'settings of a stream',
      ['config::$DATA', 'config.', 'con\u200cfig'],
      ['config::$DATA', 'config.', 'con\u200cfig'],
    ],
  ])('%s stay out, at the top and in a folder', (_what, paths, out) => {
    expect(leftOut(rule, ...BARE, ...paths)).toEqual(out);
    expect(leftOut(rule, ...inFolder('a/b', ...BARE, ...paths))).toEqual(inFolder('a/b', ...out));
  });

  test.each([
    ['in other letters', ['head', 'Objects/x', 'REFS/x', 'config']],
    ['in letters of another form', ['ｈead', 'objectſ/x', 'refſ/x', 'config']],
    ['whose folders are links', ['HEAD', 'objects', 'refs', 'config']],
    ['whose objects are elsewhere', ['HEAD', 'commondir', 'config']],
    ['that others have as their common folder', ['objects/x', 'refs/x', 'config']],
    ['whose parts lie in folders that some file systems take for one', ['x', 'config']],
  ])('one %s is one', (what, paths) => {
    const tree = inFolder('r', ...paths);
    const other = what.includes('take for one') ? ['R/HEAD', 'r /objects/x', 'r./refs/x'] : [];
    expect(leftOut(rule, ...tree, ...other)).toEqual(['r/config']);
  });

  test('what is none keeps its settings and hooks', () => {
    expect(
      leftOut(
        rule,
        'config',
        'hooks/x',
        'src/config',
        'src/objects/a',
        'src/HEAD',
        'a/refs/x',
        'b/commondir',
        'b/config',
      ),
    ).toEqual([]);
    expect(leftOut(rule, '.github/x', '.gitignore', '.gitattributes', 'x.git/config', 'git/config', 'git~/x')).toEqual(
      [],
    );
  });
});

test.each(['.git', ...DOT_GITS])('a folder %j stays out whole, or loses what git takes commands from', (name) => {
  const paths = inFolder(name, 'config', 'hooks/x', 'config.worktree', 'modules/m/config', 'objects/x');
  const module = inFolder(`${name}/modules/m`, ...BARE);
  expect(leftOut('all', ...paths, ...module, 'work')).toEqual([`${name}/`]);
  expect(leftOut('commands', ...paths, ...module, 'work')).toEqual(
    inFolder(name, 'config', 'hooks/', 'config.worktree', 'modules/m/config'),
  );
  // A file of that name leads to a repository anywhere.
  expect(leftOut('all', `sub/${name}`)).toEqual([`sub/${name}`]);
  expect(leftOut('commands', `sub/${name}`)).toEqual([`sub/${name}`]);
});

test('letters of another form are the usual ones for a file system that ignores case', () => {
  expect(leftOut('all', ...BARE, 'hookſ/x', 'ｃonfig')).toEqual(['hookſ/', 'ｃonfig']);
});

test('a backslash divides folders on Windows', () => {
  expect(leftOut('all', 'a\\.git\\config', 'b\\.git')).toEqual(['a\\.git\\config', 'b\\.git']);
  expect(leftOut('commands', 'a\\.git\\config', 'a\\.git\\index')).toEqual(['a\\.git\\config']);
  expect(leftOut('all', 'r\\HEAD', 'r\\objects\\x', 'r/refs/x', 'r\\config')).toEqual(['r\\config']);
});

test('a hundred thousand paths are looked at in linear time', () => {
  const finder = new RepositoryFinder('all');
  const paths = Array.from({ length: 100_000 }, (_, n) => `a/${n}/objects/b/c/${n}`);
  const begun = process.cpuUsage();
  for (const path of paths) finder.see(path);
  expect(finder.isClean).toBe(true);
  for (const path of paths) expect(finder.leftOut(path, false) === null).toBe(true);
  const { user, system } = process.cpuUsage(begun);
  expect((user + system) / 1e6).toBeLessThan(10);
});
