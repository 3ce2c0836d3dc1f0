/**
 * What git takes commands from in a tree that is unpacked somewhere: a repository's settings and hooks run what they
 * say at the first `git status`. Knows names, on every file system; never contents, and no git.
 *
 * A folder is a repository for git when it has a `HEAD` and, in it or in the folder that its `commondir` names,
 * `objects` and `refs`: also under another name than `.git`, and at the top of a tree.
 */

/** What HFS+ ignores in a name, by the list of git's own protection. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** A name that every file system takes as it is, but for the case of its letters. */
const PLAIN = /^[\w~!#$%&'()+,;=@[\]^`{}.-]*[\w~]$/;
/** A path that has a part of a repository, or a name that has to be looked at. */
const MAY_MATTER = /(?:^|[/\\])(?:head|objects|refs|commondir|\.git|git~)|[^\x20-\x7e]/i;
/** `.git`, and its short name on NTFS. */
const DOT_GIT = /^(?:\.git|git~\d)$/;
const COMMANDS: ReadonlySet<string> = new Set(['config', 'config.worktree', 'hooks']);

const [HEAD, OBJECTS, REFS, COMMON] = [1, 2, 4, 8];
const PARTS: ReadonlyMap<string, number> = new Map([
  ['head', HEAD],
  ['objects', OBJECTS],
  ['refs', REFS],
  ['commondir', COMMON],
]);

/** `all`: a `.git` stays out with all that is in it. `commands`: of a `.git` only what git takes commands from. */
export type RepositoryRule = 'all' | 'commands';

export class RepositoryFinder {
  readonly #rule: RepositoryRule;
  /** Parts of a repository by folder, whose name is as file systems compare it. */
  readonly #parts = new Map<string, number>();
  #hasDotGit = false;

  constructor(rule: RepositoryRule) {
    this.#rule = rule;
  }

  /** Notes a path of the tree, relative and with slashes. Every path has to be noted before the first question. */
  see(path: string): void {
    if (!MAY_MATTER.test(path)) return;
    const names = path.split(DIVIDERS).map(compared);
    for (const [at, name] of names.entries()) {
      if (DOT_GIT.test(name)) this.#hasDotGit = true;
      const part = PARTS.get(name);
      if (part === undefined) continue;
      const folder = names.slice(0, at).join('/');
      this.#parts.set(folder, (this.#parts.get(folder) ?? 0) | part);
    }
  }

  /** Whether nothing of the tree stays out, so that no path has to be asked about. */
  get isClean(): boolean {
    return !this.#hasDotGit && ![...this.#parts.values()].some(isRepository);
  }

  /** The path, or the folder above it, that stays out; null when the path does not. */
  leftOut(path: string, isFolder: boolean): string | null {
    const names = path.split('/');
    let folder: string[] = [];
    for (const [at, name] of names.entries()) {
      const isLast = at === names.length - 1;
      const below = folder.length;
      folder = [...folder, ...name.split('\\').map(compared)];
      if (!this.#staysOut(folder, below, !isLast || isFolder)) continue;
      return `${names.slice(0, at + 1).join('/')}${isLast && !isFolder ? '' : '/'}`;
    }
    return null;
  }

  /** Whether one of the names from `from` on stays out of the folder that the names before it lead to. */
  #staysOut(names: readonly string[], from: number, isFolder: boolean): boolean {
    for (let at = from; at < names.length; at += 1) {
      const name = names[at] ?? '';
      if (DOT_GIT.test(name) && (this.#rule === 'all' || (at === names.length - 1 && !isFolder))) return true;
      if (!COMMANDS.has(name)) continue;
      const above = names.slice(0, at);
      if (DOT_GIT.test(above.at(-1) ?? '') || isRepository(this.#parts.get(above.join('/')) ?? 0)) return true;
    }
    return false;
  }
}

/** On Windows a backslash divides too. */
const DIVIDERS = /[/\\]/;

/** A name as the least particular of file systems compares it: without case, streams, last dots and ignored letters. */
function compared(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase();
  // Letters of another form count as the usual ones: a file system that ignores case takes `ſ` for `s`.
  const [plain = ''] = name.replace(IGNORED_BY_HFS, '').normalize('NFKC').split(':', 1);
  return plain.replace(/[. ]+$/, '').toLowerCase();
}

function isRepository(parts: number): boolean {
  const has = (wanted: number) => (parts & wanted) === wanted;
  return has(OBJECTS | REFS) || has(HEAD | COMMON);
}
