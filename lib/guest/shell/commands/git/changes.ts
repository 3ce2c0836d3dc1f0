/** What differs between two sets of files, with renames found as git finds them. */
import { comparePaths } from './index-file.ts';
import type { FileMap, TreeFile } from './repository.ts';

export interface TreeChange {
  status: 'A' | 'D' | 'M' | 'R' | 'T' | 'U';
  /** The path, of a rename the new one. */
  path: string;
  /** The former path of a rename, otherwise the path. */
  from: string;
  before: TreeFile | null;
  after: TreeFile | null;
  /** Percent, of a rename. */
  similarity: number;
}

/** Reads the content of a side. */
export type ReadSide = (file: TreeFile, path: string, side: 'before' | 'after') => Promise<Buffer>;

const KIND = 0o170000;
const REGULAR = 0o100000;
const MIN_SIMILARITY = 50;
const CHUNK_BYTES = 64;
/** Renames with changes are searched among at most this many pairs of files. */
const MAX_PAIRS = 10_000;

export function changesBetween(before: FileMap, after: FileMap): TreeChange[] {
  const changes: TreeChange[] = [];
  for (const [path, old] of before) {
    const fresh = after.get(path) ?? null;
    if (fresh === null) changes.push({ status: 'D', path, from: path, before: old, after: null, similarity: 0 });
    else if (fresh.oid !== old.oid || fresh.mode !== old.mode) {
      const status = (fresh.mode & KIND) === (old.mode & KIND) ? 'M' : 'T';
      changes.push({ status, path, from: path, before: old, after: fresh, similarity: 0 });
    }
  }
  for (const [path, fresh] of after) {
    if (!before.has(path)) changes.push({ status: 'A', path, from: path, before: null, after: fresh, similarity: 0 });
  }
  return sortChanges(changes);
}

function sortChanges(changes: TreeChange[]): TreeChange[] {
  return changes.sort((a, b) => comparePaths(a.path, b.path));
}

/** Joins removed and added files to renames. */
export async function withRenames(changes: readonly TreeChange[], read: ReadSide): Promise<TreeChange[]> {
  const removed = changes.filter(({ status }) => status === 'D');
  const added = changes.filter(({ status }) => status === 'A');
  if (removed.length === 0 || added.length === 0) return [...changes];
  const renames = new Map<TreeChange, { source: TreeChange; similarity: number }>();
  const taken = new Set<TreeChange>();
  for (const target of added) {
    const candidates = removed.filter(
      (source) => !taken.has(source) && source.before?.oid === target.after?.oid && isSameKind(source, target),
    );
    const source = candidates.find(({ path }) => nameOf(path) === nameOf(target.path)) ?? candidates[0];
    if (source === undefined || (await read(source.before as TreeFile, source.path, 'before')).length === 0) continue;
    renames.set(target, { source, similarity: 100 });
    taken.add(source);
  }
  const [sources, targets] = [removed.filter((one) => !taken.has(one)), added.filter((one) => !renames.has(one))];
  if (sources.length * targets.length <= MAX_PAIRS) {
    for (const { source, target, similarity } of await scored(sources, targets, read)) {
      if (taken.has(source) || renames.has(target)) continue;
      renames.set(target, { source, similarity });
      taken.add(source);
    }
  }
  const joined = changes.flatMap((change): TreeChange[] => {
    if (taken.has(change)) return [];
    const rename = renames.get(change);
    if (rename === undefined) return [change];
    const { source, similarity } = rename;
    return [{ ...change, status: 'R', from: source.path, before: source.before, similarity }];
  });
  return sortChanges(joined);
}

function isSameKind(source: TreeChange, target: TreeChange): boolean {
  return ((source.before?.mode ?? 0) & KIND) === ((target.after?.mode ?? 0) & KIND);
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);

async function scored(sources: TreeChange[], targets: TreeChange[], read: ReadSide) {
  const chunks = new Map<TreeChange, { counts: Map<string, number>; size: number }>();
  for (const [side, list] of [['before', sources] as const, ['after', targets] as const]) {
    for (const change of list) {
      const file = change[side] as TreeFile;
      if ((file.mode & KIND) !== REGULAR) continue;
      const content = await read(file, change.path, side);
      chunks.set(change, { counts: countsOf(content), size: content.length });
    }
  }
  const pairs: { source: TreeChange; target: TreeChange; similarity: number }[] = [];
  for (const target of targets) {
    for (const source of sources) {
      const [old, fresh] = [chunks.get(source), chunks.get(target)];
      if (!old || !fresh || old.size === 0 || fresh.size === 0) continue;
      let copied = 0;
      for (const [chunk, bytes] of old.counts) copied += Math.min(bytes, fresh.counts.get(chunk) ?? 0);
      const similarity = Math.floor((copied * 100) / Math.max(old.size, fresh.size));
      if (similarity >= MIN_SIMILARITY) pairs.push({ source, target, similarity });
    }
  }
  const named = ({ source, target }: (typeof pairs)[number]) => Number(nameOf(source.path) === nameOf(target.path));
  return pairs.sort((a, b) => b.similarity - a.similarity || named(b) - named(a));
}

/** Bytes of a content by line, lines longer than 64 bytes in pieces. */
function countsOf(content: Buffer): Map<string, number> {
  const counts = new Map<string, number>();
  const text = content.toString('latin1');
  for (const [piece] of text.matchAll(new RegExp(`[^\\n]{0,${CHUNK_BYTES - 1}}\\n|[^\\n]{1,${CHUNK_BYTES}}`, 'g'))) {
    counts.set(piece, (counts.get(piece) ?? 0) + piece.length);
  }
  return counts;
}
