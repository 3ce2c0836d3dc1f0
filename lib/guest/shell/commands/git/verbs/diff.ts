/** `git diff`. */
import { changesBetween, type ReadSide, type TreeChange } from '../changes.ts';
import { combinedText } from '../combined-diff.ts';
import { parseCommandLine } from '../command-line.ts';
import { DIFF_OPTIONS, type DiffStyle, diffStyle, diffText, readObjects, shownChanges } from '../diff-output.ts';
import type { GitContext } from '../git-context.ts';
import { fatal, unsupported } from '../git-error.ts';
import { latin1Of } from '../git-output.ts';
import { mergeBaseOf } from '../history.ts';
import type { IndexEntry } from '../index-file.ts';
import { quotedPath } from '../quoted-path.ts';
import { indexFiles, type Repository } from '../repository.ts';
import { requireCommit, requireRevision, revision } from '../revisions.ts';
import { conflictsOf, readUnstaged } from '../status.ts';
import { trackedStates, workContent, workFiles } from '../work-tree.ts';

interface Compared {
  changes: TreeChange[];
  read: ReadSide;
  /** Paths with a conflict. */
  unmerged: string[];
  /** How the work tree's files of these differ from our side; shown in summaries alone. */
  fromOurs?: TreeChange[];
}

export async function diff(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    ...DIFF_OPTIONS,
    'cached,staged': 'flag',
    quiet: 'flag',
    'exit-code': 'flag',
  });
  const style = diffStyle(line, ['patch']);
  const repository = await context.repository();
  const { names, paths } = await splitArguments(context, repository, line.operands, line.paths);
  const spec = await context.pathspec(paths);
  const { changes, read, unmerged, fromOurs = [] } = await compared(repository, names, line.has('staged'));
  const isPatch = style.kinds.includes('patch');
  const wanted = [...changes, ...(isPatch ? [] : fromOurs)].filter(({ path }) => spec.matches(path));
  const differs = (await shownChanges(wanted, read, style)).length > 0 || unmerged.length > 0;
  if (!line.has('quiet')) {
    for (const path of unmerged) {
      if (spec.matches(path)) context.out.bytes(await unmergedText(repository, path, style, line.has('staged')));
    }
    context.out.bytes(await diffText(wanted, read, style));
  }
  return differs && (line.has('exit-code') || line.has('quiet')) ? 1 : 0;
}

/** What is shown of a path with a conflict: both sides against the work tree where there are two, else its name. */
async function unmergedText(repository: Repository, path: string, style: DiffStyle, staged: boolean): Promise<string> {
  const name = latin1Of(quotedPath(path));
  if (style.kinds.includes('name-status')) return `U\t${name}\n`;
  if (!style.kinds.includes('patch')) return style.kinds.includes('name-only') ? `${name}\n` : ` ${name} | Unmerged\n`;
  const entries = (await repository.index()).filter((entry) => entry.path === path);
  const [ours, theirs] = [2, 3].map((stage) => entries.find((entry) => entry.stage === stage));
  const isThere = (await repository.files.lstatOrNull(`${repository.workTree}/${path}`))?.isFile() ?? false;
  if (staged || !ours || !theirs || !isThere) return `* Unmerged path ${name}\n`;
  const read = async (oid: string) => (await repository.blob(oid)).toString('latin1');
  return combinedText({
    path,
    ours: { content: await read(ours.oid), oid: ours.oid },
    theirs: { content: await read(theirs.oid), oid: theirs.oid },
    result: { content: (await workContent(repository, path)).toString('latin1'), oid: null },
  });
}

/** Revisions come first; the first argument that is none, or what follows `--`, begins the paths. */
export async function splitArguments(
  context: GitContext,
  repository: Repository,
  operands: readonly string[],
  after: readonly string[] | null,
): Promise<{ names: string[]; paths: string[] }> {
  const names: string[] = [];
  for (const [at, operand] of operands.entries()) {
    const range = /^(.*?)\.\.\.?(.*)$/s.exec(operand);
    const parts = range ? [range[1] || 'HEAD', range[2] || 'HEAD'] : [operand.replace(/^\^/, '')];
    const found = await Promise.all(parts.map((part) => revision(repository, part)));
    if (found.every((oid) => oid !== null)) {
      names.push(operand);
      continue;
    }
    const rest = operands.slice(at);
    if (after === null) for (const path of rest) await requirePath(context, repository, path);
    if (after !== null || (rest.length > 0 && range)) for (const part of parts) await requireRevision(repository, part);
    return { names, paths: rest };
  }
  return { names, paths: [...(after ?? [])] };
}

/** Throws git's words for a name that is neither a revision nor a path. */
async function requirePath(context: GitContext, repository: Repository, path: string): Promise<void> {
  if (/[*?[]/.test(path) || path.startsWith(':')) return;
  if ((await context.files.lstatOrNull(context.absolute(path))) !== null) return;
  await requireRevision(repository, path);
}

async function compared(repository: Repository, names: readonly string[], cached: boolean): Promise<Compared> {
  const [first, second] = await sides(repository, names);
  if (second !== null) {
    const changes = changesBetween(await repository.treeFiles(first), await repository.treeFiles(second));
    return { changes, read: readObjects(repository), unmerged: [] };
  }
  const entries = await repository.index();
  const index = indexFiles(entries);
  const unmerged = [...conflictsOf(entries).keys()];
  if (cached) {
    const changes = changesBetween(await repository.treeFiles(first ?? (await repository.headCommit())), index);
    return { changes: changes.filter(({ path }) => !unmerged.includes(path)), read: readObjects(repository), unmerged };
  }
  const states = await trackedStates(repository, entries);
  const work = workFiles(states);
  const before = first === null ? indexFiles(states.map(({ entry }) => entry)) : await repository.treeFiles(first);
  const changes = changesBetween(before, work).filter(({ path }) => !unmerged.includes(path));
  return { changes, read: readUnstaged(repository), unmerged, fromOurs: await changesFromOurs(repository, entries) };
}

async function changesFromOurs(repository: Repository, entries: readonly IndexEntry[]): Promise<TreeChange[]> {
  const ours = entries.filter(({ stage }) => stage === 2).map((entry) => ({ ...entry, stage: 0 }));
  const states = await trackedStates(repository, ours);
  return changesBetween(indexFiles(ours), workFiles(states));
}

/** The trees of `a b`, `a..b` and `a...b`; null where the index or the work tree is meant. */
async function sides(repository: Repository, names: readonly string[]): Promise<[string | null, string | null]> {
  const [first, second, ...more] = names;
  if (more.length > 0) throw unsupported('a comparison of more than two revisions is');
  if (first === undefined) return [null, null];
  const range = /^(.*?)(\.\.\.?)(.*)$/s.exec(first);
  if (range && second === undefined) {
    const [from, to] = [
      await requireCommit(repository, range[1] || 'HEAD'),
      await requireCommit(repository, range[3] || 'HEAD'),
    ];
    if (range[2] === '..') return [from, to];
    const base = await mergeBaseOf(repository, from, to);
    if (base === null) throw fatal(`${first}: no merge base`);
    return [base, to];
  }
  return [await treeish(repository, first), second === undefined ? null : await treeish(repository, second)];
}

async function treeish(repository: Repository, name: string): Promise<string> {
  const oid = await requireRevision(repository, name);
  const { type } = await repository.object(oid);
  if (type === 'blob') throw fatal('blobs are not compared in this sandbox; give revisions and paths');
  return type === 'tree' ? oid : requireCommit(repository, name);
}
