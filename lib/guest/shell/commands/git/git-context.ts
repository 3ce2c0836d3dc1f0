/** What every `git` command is given: where it runs, and what it prints to. */
import { normalizePath } from '../../guest-paths.ts';
import type { FileAccess } from './file-access.ts';
import { fatal } from './git-error.ts';
import type { GitOutput } from './git-output.ts';
import { Pathspec } from './pathspec.ts';
import { Repository } from './repository.ts';

const OUTSIDE = 'not a git repository (or any of the parent directories): .git';

export class GitContext {
  readonly files: FileAccess;
  readonly out: GitOutput;
  readonly cwd: string;
  readonly env: ReadonlyMap<string, string>;
  /** Bytes from stdin, one char each. */
  readonly stdin: string;
  /** Settings of `-c name=value`. */
  readonly settings: ReadonlyMap<string, string>;
  #repository: Repository | null = null;

  constructor(options: {
    files: FileAccess;
    out: GitOutput;
    cwd: string;
    env: ReadonlyMap<string, string>;
    stdin: string;
    settings: ReadonlyMap<string, string>;
  }) {
    this.files = options.files;
    this.out = options.out;
    this.cwd = options.cwd;
    this.env = options.env;
    this.stdin = options.stdin;
    this.settings = options.settings;
  }

  get home(): string {
    return this.env.get('HOME') ?? '/workspace';
  }

  absolute(path: string): string {
    return normalizePath(path, this.cwd);
  }

  /** Whether the command has found a repository. */
  get hasRepository(): boolean {
    return this.#repository !== null;
  }

  /** The repository that the current directory is in. Throws outside of one. */
  async repository(): Promise<Repository> {
    this.#repository ??= await this.#find();
    return this.#repository;
  }

  async #find(): Promise<Repository> {
    const given = this.env.get('GIT_DIR');
    if (given !== undefined && given !== '') {
      const gitdir = this.absolute(given);
      if (!(await isGitDirectory(this.files, gitdir))) throw fatal(`not a git repository: '${given}'`);
      return new Repository(this.files, this.absolute(this.env.get('GIT_WORK_TREE') ?? '.'), gitdir);
    }
    for (let folder = this.cwd; ; folder = parentOf(folder)) {
      const inner = folder === '/' ? '/.git' : `${folder}/.git`;
      if (await isGitDirectory(this.files, inner)) return new Repository(this.files, folder, inner);
      if (await isGitDirectory(this.files, folder)) return new Repository(this.files, null, folder);
      if (folder === '/') throw fatal(OUTSIDE);
    }
  }

  /** Arguments of the command as paths of this repository. */
  async pathspec(given: readonly string[]): Promise<Pathspec> {
    const repository = await this.repository();
    return new Pathspec(given, this.cwd, repository.root ?? this.cwd);
  }

  /** The current directory from the root of the work tree; '' for the root. */
  async prefix(): Promise<string> {
    const { root } = await this.repository();
    if (root === null || !this.cwd.startsWith(`${root}/`)) return '';
    return this.cwd.slice(root.length + 1);
  }
}

export async function isGitDirectory(files: FileAccess, path: string): Promise<boolean> {
  return (
    (await files.exists(`${path}/HEAD`)) &&
    (await files.isDirectory(`${path}/objects`)) &&
    (await files.isDirectory(`${path}/refs`))
  );
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
