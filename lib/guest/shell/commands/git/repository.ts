/**
 * One repository: its objects, references, index and configuration. Objects and references are isomorphic-git's; names
 * of revisions are resolved in revisions.ts.
 */
import git from 'isomorphic-git';
import type { FileAccess } from './file-access.ts';
import { fatal } from './git-error.ts';
import { formatIndex, type IndexEntry, parseIndex, sortEntries } from './index-file.ts';
import { type CommitObject, formatTree, parseCommit, parseTree } from './objects.ts';

/** A file of a tree or of the index. */
export interface TreeFile {
  mode: number;
  oid: string;
}

/** Files by path from the root of the work tree. */
export type FileMap = Map<string, TreeFile>;

export const TREE_MODE = 0o040000;
export const GIT_LINK_MODE = 0o120000;
export const SUBMODULE_MODE = 0o160000;
const MAX_TREE_DEPTH = 500;

interface Iso {
  fs: { promises: FileAccess['promises'] };
  gitdir: string;
  cache: object;
}

export class Repository {
  readonly files: FileAccess;
  /** Root of the work tree; null for a bare repository. */
  readonly root: string | null;
  readonly gitdir: string;
  /** What isomorphic-git's functions take. */
  readonly iso: Iso;

  /** Names of the hooks that the real git would have run by now. */
  readonly hooks = new Set<string>();

  constructor(files: FileAccess, root: string | null, gitdir: string) {
    this.files = files;
    this.root = root;
    this.gitdir = gitdir;
    this.iso = { fs: { promises: files.promises }, gitdir, cache: {} };
  }

  /** The root of the work tree. Throws in a bare repository. */
  get workTree(): string {
    if (this.root === null) throw fatal('this operation must be run in a work tree');
    return this.root;
  }

  async object(oid: string): Promise<{ type: string; content: Buffer }> {
    try {
      const { type, object } = await git.readObject({ ...this.iso, oid, format: 'content' });
      return { type: type ?? '', content: Buffer.from(object as Uint8Array) };
    } catch (error) {
      throw error instanceof Error && error.name === 'NotFoundError' ? fatal(`bad object ${oid}`) : error;
    }
  }

  async blob(oid: string): Promise<Buffer> {
    return (await this.object(oid)).content;
  }

  async writeBlob(content: Uint8Array): Promise<string> {
    return git.writeBlob({ ...this.iso, blob: content });
  }

  async writeRaw(type: 'commit' | 'tag' | 'tree', content: Buffer): Promise<string> {
    return git.writeObject({ ...this.iso, type, object: content, format: 'content' });
  }

  async commit(oid: string): Promise<CommitObject> {
    const { type, content } = await this.object(oid);
    if (type !== 'commit') throw fatal(`${oid} is a ${type}, not a commit`);
    return parseCommit(oid, content);
  }

  /** Every file of a tree or of the tree of a commit; none for null. */
  async treeFiles(oid: string | null): Promise<FileMap> {
    const found: FileMap = new Map();
    if (oid === null) return found;
    const { type, content } = await this.object(oid);
    await this.#collect(type === 'commit' ? parseCommit(oid, content).tree : oid, '', found, 0);
    return found;
  }

  async #collect(oid: string, prefix: string, found: FileMap, depth: number): Promise<void> {
    if (depth > MAX_TREE_DEPTH) throw fatal('the tree is nested too deeply');
    for (const { mode, name, oid: child } of parseTree((await this.object(oid)).content)) {
      if (mode === TREE_MODE) await this.#collect(child, `${prefix}${name}/`, found, depth + 1);
      else found.set(prefix + name, { mode, oid: child });
    }
  }

  /** Writes the trees of these files; returns the root's. */
  async writeTree(files: FileMap): Promise<string> {
    const folders = new Map<string, FileMap>();
    const children: { mode: number; name: string; oid: string }[] = [];
    for (const [path, file] of files) {
      const slash = path.indexOf('/');
      if (slash < 0) children.push({ ...file, name: path });
      else {
        const folder = path.slice(0, slash);
        const inner = folders.get(folder) ?? new Map();
        inner.set(path.slice(slash + 1), file);
        folders.set(folder, inner);
      }
    }
    for (const [name, inner] of folders) children.push({ mode: TREE_MODE, name, oid: await this.writeTree(inner) });
    return this.writeRaw('tree', formatTree(children));
  }

  async index(): Promise<IndexEntry[]> {
    const path = `${this.gitdir}/index`;
    return (await this.files.exists(path)) ? parseIndex(await this.files.read(path)) : [];
  }

  /** When the index was written, in seconds; files as young as this may have changed unseen. */
  async indexSeconds(): Promise<number> {
    return (await this.files.lstatOrNull(`${this.gitdir}/index`))?.mtimeSeconds ?? 0;
  }

  async saveIndex(entries: IndexEntry[]): Promise<void> {
    this.hooks.add('post-index-change');
    await this.files.write(`${this.gitdir}/index`, formatIndex(sortEntries(entries)));
  }

  /** The branch that HEAD names, as `refs/heads/x`; null when HEAD is detached. */
  async headReference(): Promise<string | null> {
    const head = (await this.files.text(`${this.gitdir}/HEAD`))?.trim() ?? '';
    return head.startsWith('ref: ') ? head.slice(5) : null;
  }

  /** The branch's short name; null when HEAD is detached. */
  async currentBranch(): Promise<string | null> {
    const reference = await this.headReference();
    return reference?.replace(/^refs\/heads\//, '') ?? null;
  }

  /** The commit of HEAD; null before the first one. */
  async headCommit(): Promise<string | null> {
    return this.reference('HEAD');
  }

  /** What a full reference name points to; null when there is none. */
  async reference(name: string): Promise<string | null> {
    try {
      return await git.resolveRef({ ...this.iso, ref: name });
    } catch (error) {
      if (error instanceof Error && error.name === 'NotFoundError') return null;
      throw error;
    }
  }

  async setReference(name: string, oid: string): Promise<void> {
    this.hooks.add('reference-transaction');
    await git.writeRef({ ...this.iso, ref: name, value: oid, force: true });
  }

  async deleteReference(name: string): Promise<void> {
    this.hooks.add('reference-transaction');
    await git.deleteRef({ ...this.iso, ref: name });
  }

  /** Points HEAD at a branch (`refs/heads/x`), or at a commit. */
  async setHead(target: string): Promise<void> {
    await this.files.write(`${this.gitdir}/HEAD`, target.startsWith('refs/') ? `ref: ${target}\n` : `${target}\n`);
  }

  /** Names below a folder of references, such as `refs/heads`, sorted. */
  async referencesBelow(folder: string): Promise<string[]> {
    const names = await git.listRefs({ ...this.iso, filepath: folder });
    // A packed tag has a second line, for what it points to.
    return names.filter((name) => !name.endsWith('^{}')).toSorted((a, b) => (a < b ? -1 : 1));
  }
}

/** The stage 0 files of an index. */
export function indexFiles(entries: readonly IndexEntry[]): FileMap {
  return new Map(entries.filter(({ stage }) => stage === 0).map(({ path, mode, oid }) => [path, { mode, oid }]));
}
