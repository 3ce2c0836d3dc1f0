/** Hooks of a repository: none runs in a sandbox, and of each that the real git would have run, stderr says so. */
import { setting } from './configuration.ts';
import type { GitContext } from './git-context.ts';

const EXECUTABLE = 0o111;

/** Says which of the hooks that were passed by exist and could have run, each once. */
export async function reportHooks(context: GitContext): Promise<void> {
  if (!context.hasRepository) return;
  const { hooks, gitdir } = await context.repository();
  if (hooks.size === 0) return;
  const given = await setting(context, 'core.hookspath');
  const shown = given ?? `${gitdir === `${context.cwd}/.git` ? '.git' : gitdir}/hooks`;
  const folder = given === undefined ? `${gitdir}/hooks` : await hooksFolder(context, given);
  for (const name of hooks) {
    const path = `${folder}/${name}`;
    if (!(await context.files.exists(path))) continue;
    const stat = await context.files.stat(path);
    if (stat.isFile() && (stat.permissions & EXECUTABLE) !== 0)
      context.out.errorLine(`warning: the hook '${shown}/${name}' was not run: hooks do not run in this sandbox`);
  }
}

/** A path of the settings is one from the root of the work tree, or of the home folder. */
async function hooksFolder(context: GitContext, given: string): Promise<string> {
  if (given.startsWith('~/')) return `${context.home}${given.slice(1)}`;
  if (given.startsWith('/')) return given;
  const { root, gitdir } = await context.repository();
  return `${root ?? gitdir}/${given}`;
}
