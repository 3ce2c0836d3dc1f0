/** Random operations on a tree, made by fast-check, and the resulting contents: for tests that compare two trees. */
import fc from 'fast-check';
import type { Tree } from '../tree.ts';
import type { Vfs } from '../vfs.ts';
import { VOLUMES, type Volume } from '../volumes.ts';
import { codeOf, vfsPath } from './tmp-files.ts';

type Act = (tree: Tree) => unknown;
export interface TreeOperation {
  say: string;
  act: Act;
}

const NAMES = ['a', 'b', 'ä', 'b-', 'b0'];
const path = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((names) => `/${names.join('/')}`);
const volume = fc.constantFrom<Volume>('workspace', 'workspace', 'workspace', 'memory');
/** Small, larger than a page's row, and larger than a page. */
const size = fc.constantFrom(0, 3, 3000, 9000);
const flag = fc.boolean();

function move(say: string, act: Act): TreeOperation {
  return { say, act };
}

export const anyOperation: fc.Arbitrary<TreeOperation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(path, volume, size)
      .map(([p, v, n]) =>
        move(`put ${v}${p} ${n}`, (t) => t.put(vfsPath(p), new Uint8Array(n).fill(n + p.length), v).created),
      ),
  },
  fc
    .tuple(path, volume, flag)
    .map(([p, v, recursive]) => move(`mkdir ${v}${p} ${recursive}`, (t) => t.mkdir(vfsPath(p), v, { recursive }))),
  fc.tuple(path, volume).map(([p, v]) => move(`rmdir ${v}${p}`, (t) => t.rmdir(vfsPath(p), v))),
  fc.tuple(path, volume).map(([p, v]) => move(`link ${v}${p}`, (t) => t.link(vfsPath(p), '/a', v))),
  fc
    .tuple(path, volume, fc.integer({ min: 0, max: 0o777 }))
    .map(([p, v, mode]) => move(`chmod ${v}${p} ${mode}`, (t) => t.chmod(vfsPath(p), mode, v))),
  fc
    .tuple(path, volume, fc.integer({ min: 1, max: 1000 }))
    .map(([p, v, time]) => move(`utimes ${v}${p} ${time}`, (t) => t.utimes(vfsPath(p), time, v))),
  {
    weight: 2,
    arbitrary: fc
      .tuple(path, volume, flag)
      .map(([p, v, recursive]) => move(`delete ${v}${p} ${recursive}`, (t) => t.delete(vfsPath(p), v, { recursive }))),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(path, volume, path, volume, flag)
      .map(([p, v, to, w, replace]) =>
        move(`move ${v}${p} ${w}${to} ${replace}`, (t) =>
          t.move({ volume: v, path: vfsPath(p) }, { volume: w, path: vfsPath(to) }, { replace }),
        ),
      ),
  },
);

/** The outcome of an operation: its result, or the code of its error. */
export function outcomeOf(tree: Tree, { act }: TreeOperation): unknown {
  let answer: unknown;
  const code = codeOf(() => {
    answer = act(tree);
  });
  return code ?? answer ?? null;
}

/** Everything in the tree, except versions and the times of implicit directories. */
export function everything(tree: Tree): unknown[] {
  return VOLUMES.flatMap((name) => below(tree, name, '/'));
}

function below(tree: Tree, name: Volume, directory: string): unknown[] {
  return tree.readdir(vfsPath(directory), name).flatMap((listed) => {
    const entry = tree.entry(vfsPath(listed.path), name);
    const { path: at, kind, size: bytes, mode, mtime, target } = listed;
    const time = kind === 'dir' ? null : mtime;
    const content =
      kind === 'file'
        ? Buffer.from(tree.get(vfsPath(at), name) ?? [])
            .toString('base64')
            .slice(0, 8)
        : null;
    const same =
      entry?.kind === kind && entry.size === bytes && entry.mode === mode && (kind === 'dir' || entry.mtime === mtime);
    return [
      { name, at, kind, bytes, mode, time, target, content, same },
      ...(kind === 'dir' ? below(tree, name, at) : []),
    ];
  });
}

/** Paths and versions of all files. */
export function versions(vfs: Vfs): Map<string, number> {
  return new Map(
    VOLUMES.flatMap((name) =>
      vfs
        .list(name, { limit: 10_000 })
        .files.map(({ path: at }) => [`${name}${at}`, vfs.stat(vfsPath(at), name)?.version ?? -1] as const),
    ),
  );
}
