/** Copies files and trees, as `cp` and `install` do. Owns what is said of each failure. */
import type { Answers } from './answers.ts';
import type { FileStatus } from './command-files.ts';
import { type CommandCall, inQuotes, reasonOf } from './own-command.ts';
import { replaceFile } from './replaced-file.ts';

export interface CopySettings {
  recursive: boolean;
  /** Links are copied as links: never, those found in a tree, or always. */
  links: 'follow' | 'below' | 'keep';
  preserveTime: boolean;
  preserveMode: boolean;
  noClobber: boolean;
  update: boolean;
  asks: boolean;
  verbose: boolean;
  removeFirst: boolean;
  /** What may not be written gives way. */
  force: boolean;
  /** What stands behind the name of a file that is kept when another takes its place. */
  backup: string | null;
  makes: 'copy' | 'symbolic' | 'hard';
  onlyAttributes: boolean;
  answers: Answers;
}

/** Copies one source to exactly this target. `top`: it was an operand. */
export async function copyTo(
  call: CommandCall,
  source: string,
  target: string,
  settings: CopySettings,
  top = true,
): Promise<void> {
  await call.turn();
  const keepsLink = settings.links === 'keep' || (settings.links === 'below' && !top);
  let info: FileStatus;
  try {
    info = call.files.info(call.path(source), !keepsLink);
  } catch (error) {
    call.fail(`cannot stat ${inQuotes(source)}: ${reasonOf(error)}`);
    return;
  }
  try {
    if (info.kind === 'dir') await copyDirectory(call, source, info, target, settings);
    else await copyFile(call, source, info, target, settings);
  } catch (error) {
    const what = info.kind === 'dir' ? 'directory' : info.kind === 'link' ? 'symbolic link' : 'regular file';
    call.fail(`cannot create ${what} ${inQuotes(target)}: ${reasonOf(error)}`);
  }
}

async function copyDirectory(
  call: CommandCall,
  source: string,
  info: FileStatus,
  target: string,
  settings: CopySettings,
): Promise<void> {
  if (!settings.recursive) {
    call.fail(`-r not specified; omitting directory ${inQuotes(source)}`);
    return;
  }
  const path = call.path(target).replace(/(?<=.)\/+$/, '');
  const there = call.files.look(path);
  const to = there?.path ?? call.files.canonical(path);
  if (to === info.path && there !== null) {
    call.fail(`${inQuotes(source)} and ${inQuotes(target)} are the same file`);
    return;
  }
  if (`${to}/`.startsWith(`${info.path}/`)) {
    call.fail(`cannot copy a directory, ${inQuotes(source)}, into itself, ${inQuotes(target)}`);
    return;
  }
  if (there !== null && there.kind !== 'dir') {
    call.fail(`cannot overwrite non-directory ${inQuotes(target)} with directory ${inQuotes(source)}`);
    return;
  }
  const told = (error: unknown) => call.fail(`cannot access ${inQuotes(source)}: ${reasonOf(error)}`);
  const children = call.files.childrenOr(info.path, told);
  if (children === null) return;
  if (there === null) {
    await call.changes.mkdir(path);
    if (settings.verbose) call.print(`${inQuotes(source)} -> ${inQuotes(target)}\n`);
  }
  for (const { name } of children)
    await copyTo(call, `${withoutSlash(source)}/${name}`, `${withoutSlash(target)}/${name}`, settings, false);
  if (there === null || settings.preserveMode)
    await call.changes.chmod(path, settings.preserveMode ? info.mode : info.mode & ~call.files.umask);
  if (settings.preserveTime) call.files.setTime(call.files.info(path), info.mtime);
}

async function copyFile(
  call: CommandCall,
  source: string,
  info: FileStatus,
  target: string,
  settings: CopySettings,
): Promise<void> {
  const path = call.path(target);
  const device = path.startsWith('/dev/');
  const there = device ? null : call.files.look(path, settings.makes === 'copy' && info.kind !== 'link');
  if (there !== null && !(await givesWay(call, source, info, target, there, settings))) return;
  if (settings.makes === 'symbolic') await call.changes.symlink(source, path);
  else if (settings.makes === 'hard') await call.changes.link(call.path(source), path);
  else if (info.kind === 'link') await call.changes.symlink(info.target ?? '', path);
  else if (settings.onlyAttributes) {
    if (there === null) await call.changes.writeFile(path, new Uint8Array(0));
  } else {
    const content = await readSource(call, source);
    if (content === null) return;
    if (settings.force) await replaceFile(call.changes, path, content);
    else await call.changes.writeFile(path, content);
  }
  if (settings.verbose) call.print(`${inQuotes(source)} -> ${inQuotes(target)}\n`);
  if (device || settings.makes !== 'copy') return;
  const made = call.files.info(path, info.kind !== 'link');
  if (info.kind !== 'link' && (there === null || settings.preserveMode))
    await call.changes.chmod(path, settings.preserveMode ? info.mode : info.mode & ~call.files.umask);
  if (settings.preserveTime) call.files.setTime(made, info.mtime);
}

async function readSource(call: CommandCall, source: string): Promise<Buffer | null> {
  try {
    return await call.input(source === '-' ? './-' : source);
  } catch (error) {
    call.fail(`cannot open ${inQuotes(source)} for reading: ${reasonOf(error)}`);
    return null;
  }
}

/** Whether what is at the target may be replaced; it is then out of the way where it must be. */
async function givesWay(
  call: CommandCall,
  source: string,
  info: FileStatus,
  target: string,
  there: FileStatus,
  settings: CopySettings,
): Promise<boolean> {
  if (there.kind === 'dir') {
    call.fail(`cannot overwrite directory ${inQuotes(target)} with non-directory`);
    return false;
  }
  if (settings.noClobber) return false;
  if (there.path === info.path) {
    call.fail(`${inQuotes(source)} and ${inQuotes(target)} are the same file`);
    return false;
  }
  if (settings.update && there.mtime >= info.mtime) return false;
  if (settings.asks && !settings.answers.yes(`cp: overwrite ${inQuotes(target)}? `)) {
    call.exitCode = 1;
    return false;
  }
  if (settings.backup !== null) await call.changes.mv(there.path, there.path + settings.backup);
  else if (settings.removeFirst || info.kind === 'link') await call.changes.rm(there.path);
  else if (settings.makes !== 'copy') throw Object.assign(new Error(target), { code: 'EEXIST' });
  return true;
}

/** A name without slashes at its end. */
export function withoutSlash(name: string): string {
  return name.replace(/(?<=.)\/+$/, '');
}

/** The last part of a name. */
function lastPart(name: string): string {
  const bare = withoutSlash(name);
  return bare.slice(bare.lastIndexOf('/') + 1);
}

/**
 * The targets of a command that puts sources into a directory, or one source at a name. Ends the command where its
 * operands are too few or its directory is none.
 */
export function copyTargets(
  call: CommandCall,
  operands: readonly string[],
  options: { directory: string | null; plain: boolean },
): [source: string, target: string][] {
  const [first, second] = operands;
  if (first === undefined) call.usage('missing file operand');
  const into = (directory: string, sources: readonly string[]): [string, string][] =>
    sources.map((source) => [source, `${withoutSlash(directory)}/${lastPart(source)}`]);
  if (options.directory !== null) {
    requireDirectory(call, options.directory, 'target directory ');
    return into(options.directory, operands);
  }
  if (second === undefined) call.usage(`missing destination file operand after ${inQuotes(first)}`);
  const last = operands.at(-1) ?? '';
  if (options.plain) {
    if (operands.length > 2) call.usage(`extra operand ${inQuotes(operands[2] ?? '')}`);
    return [[first, second]];
  }
  if (operands.length > 2) requireDirectory(call, last, 'target ');
  return call.files.isDirectory(call.path(last)) ? into(last, operands.slice(0, -1)) : [[first, second]];
}

function requireDirectory(call: CommandCall, name: string, what: string): void {
  let reason = 'Not a directory';
  try {
    if (call.files.info(call.path(name)).kind === 'dir') return;
  } catch (error) {
    reason = reasonOf(error);
  }
  call.end(`${what}${inQuotes(name)}: ${reason}`);
}
