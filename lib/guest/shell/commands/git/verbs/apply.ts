/** `git apply`: all of a patch or nothing, on the work tree, on the index or on both. */
import { type Hunk, placeOf, reversed } from '../../diff/patch-text.ts';
import { parseCommandLine } from '../command-line.ts';
import type { GitContext } from '../git-context.ts';
import { failure, GitError, unsupported } from '../git-error.ts';
import { type GitFilePatch, parseGitPatch } from '../git-patch.ts';
import { type IndexEntry, isForbidden } from '../index-file.ts';
import { linesOf } from '../line-diff.ts';
import { quotedPath } from '../quoted-path.ts';
import { Repository } from '../repository.ts';
import {
  hashBlob,
  holdsOthers,
  indexEntryOf,
  modeOf,
  removeWorkFile,
  workContent,
  writeContent,
} from '../work-tree.ts';

const REGULAR_MODE = 0o100644;
const KIND = 0o170000;

interface Target {
  index: boolean;
  work: boolean;
}

interface Content {
  mode: number;
  content: Buffer;
}

/** Files by path as they will be; null for those that go. */
type Results = Map<string, Content | null>;

export async function apply(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    check: 'flag',
    'R,reverse': 'flag',
    index: 'flag',
    cached: 'flag',
    p: 'value',
    'v,verbose': 'flag',
    'q,quiet': 'flag',
    'allow-empty': 'flag',
    whitespace: 'value',
  });
  if (!['nowarn', 'warn'].includes(line.value('whitespace') ?? 'warn'))
    throw unsupported(`--whitespace=${line.value('whitespace')} is`);
  const strip = Number(line.value('p') ?? 1);
  if (!Number.isInteger(strip) || strip < 0) throw new GitError("error: option `p' expects a numerical value", 129);
  const repository = await repositoryOrFolder(context, line.has('index') || line.has('cached'));
  const target = { index: line.has('index') || line.has('cached'), work: !line.has('cached') };
  const patches = await givenPatches(context, line.operands, strip);
  if (patches.length === 0 && !line.has('allow-empty'))
    throw new GitError('error: No valid patches in input (allow with "--allow-empty")', 128);
  const entries = target.index ? await repository.index() : [];
  const results: Results = new Map();
  const prefix = repository.root === context.cwd ? '' : await context.prefix();
  const applied: string[] = [];
  let failed = false;
  for (const one of patches) {
    const patch = line.has('reverse') ? reversedPatch(one) : one;
    const [from, to] = [patch.from, patch.to].map((path) =>
      path === null || !patch.isPlain || prefix === '' ? path : `${prefix}/${path}`,
    );
    const path = to ?? from ?? '';
    const shown = shownName(from ?? null, to ?? null);
    if (line.has('verbose')) context.out.errorLine(`Checking patch ${shown}...`);
    if (prefix !== '' && !path.startsWith(`${prefix}/`)) {
      context.out.errorLine(`Skipped patch '${path}'.`);
      continue;
    }
    applied.push(shown);
    try {
      await applyOne(repository, { ...patch, from: from ?? null, to: to ?? null }, { results, entries, target });
    } catch (error) {
      if (!(error instanceof GitError) || error.exitCode !== 1) throw error;
      context.out.errorLine(error.message);
      failed = true;
    }
  }
  if (failed) return 1;
  if (line.has('check')) return 0;
  await writeResults(context, repository, { results, entries, target });
  if (line.has('verbose')) for (const name of applied) context.out.errorLine(`Applied patch ${name} cleanly.`);
  return 0;
}

function shownName(from: string | null, to: string | null): string {
  const name = quotedPath(to ?? from ?? '');
  return from === null || to === null || from === to ? name : `${quotedPath(from)} => ${name}`;
}

/** Outside of a repository a patch is applied to the files below the current directory. */
async function repositoryOrFolder(context: GitContext, needsIndex: boolean): Promise<Repository> {
  try {
    return await context.repository();
  } catch (error) {
    if (needsIndex || !(error instanceof GitError) || !error.message.includes('not a git repository')) throw error;
    return new Repository(context.files, context.cwd, `${context.cwd}/.git`);
  }
}

async function givenPatches(context: GitContext, names: readonly string[], strip: number): Promise<GitFilePatch[]> {
  const patches: GitFilePatch[] = [];
  for (const name of names.length > 0 ? names : ['-']) {
    const path = context.absolute(name);
    if (name !== '-' && !(await context.files.exists(path)))
      throw new GitError(`error: can't open patch '${name}': No such file or directory`, 128);
    const text = name === '-' ? context.stdin : (await context.files.read(path)).toString('latin1');
    patches.push(...parseGitPatch(text, strip));
  }
  return patches;
}

function reversedPatch(patch: GitFilePatch): GitFilePatch {
  if (patch.isCopy) throw unsupported('a copy in reverse is');
  const { from, to, oldMode, newMode, hunks } = patch;
  return { ...patch, from: to, to: from, oldMode: newMode, newMode: oldMode, hunks: hunks.map(reversed) };
}

async function applyOne(
  repository: Repository,
  patch: GitFilePatch,
  { results, entries, target }: { results: Results; entries: readonly IndexEntry[]; target: Target },
): Promise<void> {
  const { from, to } = patch;
  for (const path of [from, to]) if (path !== null) await requireSafe(repository, path, target);
  if (to !== null && target.work) await requireRoom(repository, to, results);
  const read = (path: string) =>
    results.has(path) ? Promise.resolve(results.get(path) ?? null) : contentAt(repository, path, { entries, target });
  const before = from === null ? null : await read(from);
  if (from !== null && before === null) {
    if (target.index && !entries.some(({ path }) => path === from)) throw failure(`${from}: does not exist in index`);
    throw failure(`${from}: No such file or directory`);
  }
  if (to !== null && to !== from && (await read(to)) !== null)
    throw failure(`${to}: already exists in ${target.index ? 'index' : 'working directory'}`);
  if (before !== null && patch.oldMode !== null && (before.mode & KIND) !== (patch.oldMode & KIND))
    throw failure(`${from}: wrong type`);
  const text = appliedText(before?.content.toString('latin1') ?? '', patch.hunks, from ?? to ?? '');
  if (to === null && text !== '')
    throw failure(`removal patch leaves file contents\nerror: ${from}: patch does not apply`);
  if (from !== null && !patch.isCopy) results.set(from, null);
  const isModeChange = patch.oldMode !== patch.newMode || before === null;
  const mode = isModeChange ? (patch.newMode ?? REGULAR_MODE) : before.mode;
  if (to !== null) results.set(to, { mode, content: Buffer.from(text, 'latin1') });
}

/** A patch leads neither out of the work tree, nor into a `.git`, nor through a link. */
async function requireSafe(repository: Repository, path: string, { work }: Target): Promise<void> {
  if (path.startsWith('/') || path.split('/').some(isForbidden))
    throw new GitError(`error: invalid path '${path}'`, 128);
  if (!work) return;
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const above = await repository.files.lstatOrNull(`${repository.workTree}/${path.slice(0, slash)}`);
    if (above?.isSymbolicLink()) throw failure(`affected file '${path}' is beyond a symbolic link`);
  }
}

/** What is in the way of a new file, and does not go by the same patch, stays. */
async function requireRoom(repository: Repository, path: string, results: Results): Promise<void> {
  const { files, workTree } = repository;
  if (
    await holdsOthers(repository, path, new Set([...results].flatMap(([name, file]) => (file === null ? [name] : []))))
  )
    throw unwritable(path, 'Directory not empty');
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const above = path.slice(0, slash);
    const stat = await files.lstatOrNull(`${workTree}/${above}`);
    if (stat !== null && !stat.isDirectory() && results.get(above) !== null) throw unwritable(path, 'Not a directory');
  }
}

function unwritable(path: string, reason: string): GitError {
  return new GitError(`error: unable to write file '${path}': ${reason}`, 128);
}

/** Of the index and of the work tree where both are to change, which must then be equal. */
async function contentAt(
  repository: Repository,
  path: string,
  { entries, target }: { entries: readonly IndexEntry[]; target: Target },
): Promise<Content | null> {
  const entry = entries.find((one) => one.path === path && one.stage === 0);
  if (!target.work) return entry === undefined ? null : { mode: entry.mode, content: await repository.blob(entry.oid) };
  const stat = await repository.files.lstatOrNull(`${repository.workTree}/${path}`);
  if (stat === null || stat.isDirectory() || (target.index && entry === undefined)) return null;
  const [mode, content] = [modeOf(stat), await workContent(repository, path)];
  if (entry !== undefined && entry.oid !== hashBlob(content)) throw failure(`${path}: does not match index`);
  return { mode, content };
}

/** Throws git's words for a hunk that fits nowhere. */
function appliedText(text: string, hunks: readonly Hunk[], name: string): string {
  const lines = linesOf(text);
  let [shift, done] = [0, 0];
  for (const hunk of hunks) {
    const [before, after] = [ended(hunk.before, hunk.beforeOpen), ended(hunk.after, hunk.afterOpen)];
    const at = placeIn(lines, { ...hunk, before }, hunk.start + shift);
    if (at === null || at < done)
      throw failure(
        `patch failed: ${name}:${hunk.start + (before.length > 0 ? 1 : 0)}\nerror: ${name}: patch does not apply`,
      );
    lines.splice(at, before.length, ...after);
    shift = at - hunk.start + after.length - before.length;
    done = at + after.length;
  }
  return lines.join('');
}

function ended(lines: readonly string[], isOpen: boolean): string[] {
  return lines.map((line, at) => (isOpen && at === lines.length - 1 ? line : `${line}\n`));
}

/** A hunk of the first line fits at the start alone, and one without lines behind the change at the end alone. */
function placeIn(lines: readonly string[], hunk: Hunk, expected: number): number | null {
  const end = lines.length - hunk.before.length;
  const fits = (at: number) => at >= 0 && at <= end && hunk.before.every((line, index) => lines[at + index] === line);
  const isFirst = hunk.start === 0;
  if (hunk.trailing === 0) return fits(end) && (!isFirst || end === 0) ? end : null;
  if (isFirst) return fits(0) ? 0 : null;
  return placeOf(lines, hunk, expected, 0)?.at ?? null;
}

async function writeResults(
  context: GitContext,
  repository: Repository,
  { results, entries, target }: { results: Results; entries: readonly IndexEntry[]; target: Target },
): Promise<void> {
  const index = new Map(entries.map((entry) => [`${entry.stage}:${entry.path}`, entry]));
  for (const [path, result] of results) {
    if (result !== null) continue;
    index.delete(`0:${path}`);
    if (target.work) await removeWorkFile(repository, path, context.cwd);
  }
  for (const [path, result] of results) {
    if (result === null) continue;
    if (target.work) await writeContent(repository, path, result);
    if (!target.index) continue;
    const file = { mode: result.mode, oid: await repository.writeBlob(result.content) };
    const entry = target.work
      ? await indexEntryOf(repository, path, file)
      : { path, ...file, stage: 0, size: 0, mtimeSeconds: 0 };
    index.set(`0:${path}`, entry);
  }
  if (target.index) await repository.saveIndex([...index.values()]);
}
