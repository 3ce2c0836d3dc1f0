/**
 * Hooks of a repository: none runs in a sandbox. A commit that one could forbid is refused, and of each other one that
 * the real git would have run, stderr says that it was not.
 */
import { setting } from './configuration.ts';
import type { GitContext } from './git-context.ts';
import { GitError } from './git-error.ts';

const EXECUTABLE = 0o111;

/** Says which of the hooks that were passed by exist and could have run, each once. */
export async function reportHooks(context: GitContext): Promise<void> {
  if (!context.hasRepository) return;
  const { hooks } = await context.repository();
  for (const hook of await runnable(context, hooks))
    context.out.errorLine(`warning: the hook '${hook}' was not run: hooks do not run in this sandbox`);
}

/** Throws when one of the hooks exists and could have run: it may forbid what follows, and does not run. */
export async function requireNoHook(context: GitContext, names: readonly string[]): Promise<void> {
  const [hook] = await runnable(context, names);
  if (hook === undefined) return;
  throw new GitError(
    `fatal: the hook '${hook}' may forbid this commit, and hooks do not run in this sandbox\nhint: Run it yourself and look at its exit code, then commit with --no-verify.`,
    1,
  );
}

/** Those of the hooks that exist and can be run, as paths to show. */
async function runnable(context: GitContext, names: Iterable<string>): Promise<string[]> {
  const { gitdir } = await context.repository();
  const given = await setting(context, 'core.hookspath');
  const shown = given ?? `${gitdir === `${context.cwd}/.git` ? '.git' : gitdir}/hooks`;
  const folder = given === undefined ? `${gitdir}/hooks` : await hooksFolder(context, given);
  const found: string[] = [];
  for (const name of names) {
    const path = `${folder}/${name}`;
    if (!(await context.files.exists(path))) continue;
    const stat = await context.files.stat(path);
    if (stat.isFile() && (stat.permissions & EXECUTABLE) !== 0) found.push(`${shown}/${name}`);
  }
  return found;
}

/** A path of the settings is one from the root of the work tree, or of the home folder. */
async function hooksFolder(context: GitContext, given: string): Promise<string> {
  if (given.startsWith('~/')) return `${context.home}${given.slice(1)}`;
  if (given.startsWith('/')) return given;
  const { root, gitdir } = await context.repository();
  return `${root ?? gitdir}/${given}`;
}
