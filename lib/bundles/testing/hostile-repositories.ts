/**
 * Trees of files that make git run a command of theirs at the first `git status`, and that command's trace. Real git.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A file's content, or `link → target`. */
export type Tree = Readonly<Record<string, string>>;

const LINK = /^link → (.*)$/;
const HEAD = 'ref: refs/heads/main\n';

/** What git runs: it leaves `marker`. */
const settings = (marker: string, worktree: string | null, version = 0) => `[core]
\trepositoryformatversion = ${version}
\tbare = false
${worktree === null ? '' : `\tworktree = ${worktree}\n`}\tfsmonitor = "touch '${marker}'; false"
`;
const hook = (marker: string) => `#!/bin/sh\ntouch '${marker}'\n`;
const objects = { 'objects/info/packs': '\n', 'refs/heads/none': '' };

const below = (folder: string, tree: Tree): Tree =>
  Object.fromEntries(Object.entries(tree).map(([path, content]) => [`${folder}/${path}`, content]));

/** Repositories that run a command on this file system, by what they are. */
export function hostileTrees(marker: string): Record<string, Tree> {
  const bare = { HEAD, config: settings(marker, '.'), ...objects };
  return {
    'a bare repository at the top': bare,
    'a bare repository in a folder': below('sub/mirror', bare),
    'a .git folder': below('.git', { ...bare, config: settings(marker, null) }),
    'a .git file that leads to a folder of another name': {
      ...below('elsewhere', { ...bare, config: settings(marker, '../work') }),
      'work/.git': 'gitdir: ../elsewhere\n',
    },
    'a work tree whose settings are in its common folder': {
      ...below('tree', {
        HEAD,
        commondir: '../common\n',
        'config.worktree': '[core]\n\tbare = false\n\tworktree = .\n',
      }),
      ...below('common', {
        config: `${settings(marker, null, 1)}[extensions]\n\tworktreeConfig = true\n`,
        ...objects,
      }),
    },
    'a bare repository of links': {
      ...below('store', objects),
      'mirror/HEAD': HEAD,
      'mirror/objects': 'link → ../store/objects',
      'mirror/refs': 'link → ../store/refs',
      'mirror/config': settings(marker, '.'),
    },
    'a bare repository whose settings are a link': {
      ...below('mirror', { HEAD, ...objects }),
      'mirror/config': 'link → ../harmless.txt',
      'harmless.txt': settings(marker, '.'),
    },
    'a bare repository with a hook': below('mirror', {
      HEAD,
      config: '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n',
      'hooks/post-index-change': hook(marker),
      ...objects,
    }),
    'a repository of a submodule': below('.git/modules/part', bare),
    'settings of a work tree': below('mirror', {
      HEAD,
      config: '[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tworktreeConfig = true\n',
      'config.worktree': settings(marker, '.'),
      ...objects,
    }),
  };
}

/** Writes a tree below a folder here, as it is. */
export function writeTree(folder: string, tree: Tree): void {
  for (const [path, content] of Object.entries(tree)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    const target = LINK.exec(content)?.[1];
    if (target === undefined) writeFileSync(file, content, { mode: content.startsWith('#!') ? 0o755 : 0o644 });
    else symlinkSync(target, file);
  }
}

/** The link that an entry of a tree is; null for a file. */
export function linkIn(content: string): string | null {
  return LINK.exec(content)?.[1] ?? null;
}

/**
 * What somebody does who unpacked a tree: `git status` in each of its folders, an index that is to be written among
 * them. True when that ran the tree's command. The marker is removed.
 */
export function runsCommand(folder: string, marker: string): boolean {
  const home = mkdtempSync(join(tmpdir(), 'winterdock-home-'));
  const env = { ...process.env, HOME: home, GIT_CONFIG_NOSYSTEM: '1', GIT_CEILING_DIRECTORIES: dirname(folder) };
  const folders = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const cwd of [folder, ...folders]) {
    for (const args of [['status'], ['add', '-A', '.'], ['status']]) spawnSync('git', args, { cwd, env });
  }
  const ran = existsSync(marker);
  rmSync(marker, { force: true });
  rmSync(home, { recursive: true });
  return ran;
}
