/** A three-way merge of trees: the files of the result, and what is in conflict. */
import { changesBetween, type TreeChange, withRenames } from './changes.ts';
import { comparePaths, type IndexEntry } from './index-file.ts';
import { mergedText } from './merged-text.ts';
import { isBinaryContent } from './patch-text.ts';
import type { FileMap, Repository, TreeFile } from './repository.ts';

export interface MergedTrees {
  /** The files of the result; of a conflict, what is to be in the work tree. */
  files: FileMap;
  /** The entries of conflicts, with their stages. */
  conflicts: IndexEntry[];
  /** What git prints about files. */
  messages: string[];
}

const REGULAR = 0o100000;
const KIND = 0o170000;

export async function mergedTrees(
  repository: Repository,
  trees: { base: string | null; ours: string; theirs: string | null },
  labels: { ours: string; theirs: string },
): Promise<MergedTrees> {
  const [base, ours, theirs] = [
    await repository.treeFiles(trees.base),
    await repository.treeFiles(trees.ours),
    await repository.treeFiles(trees.theirs),
  ];
  await followRenames(repository, base, ours, theirs);
  const files: FileMap = new Map();
  const merge: MergedTrees = { files, conflicts: [], messages: [] };
  const paths = [...new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])].sort(comparePaths);
  for (const path of paths) {
    const [old, mine, yours] = [base.get(path) ?? null, ours.get(path) ?? null, theirs.get(path) ?? null];
    const taken = isSame(mine, yours) || isSame(old, yours) ? mine : isSame(old, mine) ? yours : undefined;
    if (taken === undefined) await mergeFile(repository, path, { old, mine, yours }, labels, merge);
    else if (taken !== null) files.set(path, taken);
  }
  return merge;
}

function isSame(a: TreeFile | null, b: TreeFile | null): boolean {
  return a === b || (a !== null && b !== null && a.oid === b.oid && a.mode === b.mode);
}

/** A file that one side renamed and the other changed is merged under its new name. */
async function followRenames(repository: Repository, base: FileMap, ours: FileMap, theirs: FileMap): Promise<void> {
  const read = (file: TreeFile) => repository.blob(file.oid);
  for (const [side, other] of [[ours, theirs] as const, [theirs, ours] as const]) {
    const renames: TreeChange[] = (await withRenames(changesBetween(base, side), read)).filter(
      ({ status }) => status === 'R',
    );
    for (const { from, path } of renames) {
      const [old, theirFile] = [base.get(from), other.get(from)];
      if (old === undefined || theirFile === undefined || base.has(path) || other.has(path)) continue;
      base.delete(from);
      other.delete(from);
      base.set(path, old);
      other.set(path, theirFile);
    }
  }
}

interface Sides {
  old: TreeFile | null;
  mine: TreeFile | null;
  yours: TreeFile | null;
}

async function mergeFile(
  repository: Repository,
  path: string,
  { old, mine, yours }: Sides,
  labels: { ours: string; theirs: string },
  merge: MergedTrees,
): Promise<void> {
  const stages = () => {
    for (const [at, file] of [old, mine, yours].entries())
      if (file !== null) merge.conflicts.push({ path, ...file, stage: at + 1, size: 0, mtimeSeconds: 0 });
  };
  if (mine === null || yours === null) {
    const kept = mine ?? yours;
    const [deletedIn, changedIn] = mine === null ? [labels.ours, labels.theirs] : [labels.theirs, labels.ours];
    merge.messages.push(
      `CONFLICT (modify/delete): ${path} deleted in ${deletedIn} and modified in ${changedIn}.  Version ${changedIn} of ${path} left in tree.`,
    );
    if (kept !== null) merge.files.set(path, kept);
    stages();
    return;
  }
  const [base, left, right] = [
    old === null ? Buffer.alloc(0) : await repository.blob(old.oid),
    await repository.blob(mine.oid),
    await repository.blob(yours.oid),
  ];
  const mode = old !== null && mine.mode === old.mode ? yours.mode : mine.mode;
  const isPlain = [mine, yours].every((file) => (file.mode & KIND) === REGULAR);
  if (mine.oid === yours.oid || old?.oid === yours.oid || old?.oid === mine.oid) {
    merge.files.set(path, { mode, oid: old?.oid === mine.oid ? yours.oid : mine.oid });
    return;
  }
  if (!isPlain || [base, left, right].some(isBinaryContent)) {
    merge.messages.push(
      `warning: Cannot merge binary files: ${path} (${labels.ours} vs. ${labels.theirs})`,
      `Auto-merging ${path}`,
      `CONFLICT (${old === null ? 'add/add' : 'content'}): Merge conflict in ${path}`,
    );
    merge.files.set(path, mine);
    stages();
    return;
  }
  merge.messages.push(`Auto-merging ${path}`);
  const latin1 = (content: Buffer) => content.toString('latin1');
  const { text, conflicts } = mergedText(latin1(base), latin1(left), latin1(right), labels);
  merge.files.set(path, { mode, oid: await repository.writeBlob(Buffer.from(text, 'latin1')) });
  if (conflicts === 0) return;
  merge.messages.push(`CONFLICT (${old === null ? 'add/add' : 'content'}): Merge conflict in ${path}`);
  stages();
}
