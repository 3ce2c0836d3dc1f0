/** Which paths the arguments of a command mean. Pure. */
import { normalizePath } from '../../guest-paths.ts';
import { fatal } from './git-error.ts';

/** Arguments of a command as paths from the root of the work tree. */
export class Pathspec {
  readonly #specs: { given: string; path: string; pattern: RegExp | null; excludes: boolean }[];

  /** `cwd` and `root` are absolute. Throws for a path outside the work tree. */
  constructor(given: readonly string[], cwd: string, root: string) {
    this.#specs = given.map((text) => {
      const [, magic = '', rest = ''] = /^(:\((?:[^)]*)\)|:[!^/]+|:(?=$))?(.*)$/s.exec(text) ?? [];
      const words = magic.startsWith(':(') ? magic.slice(2, -1).split(',') : [];
      const excludes = /^:[!^/]*[!^]/.test(magic) || words.includes('exclude');
      const isTop = magic === ':' || /^:[!^]*\//.test(magic) || words.includes('top');
      if (words.some((word) => !['exclude', 'top', 'glob', 'literal', ''].includes(word)))
        throw fatal(`Unimplemented pathspec magic '${words.join(',')}' in '${text}'`);
      const whole = normalizePath(rest, isTop ? root : cwd);
      if (whole !== root && !whole.startsWith(`${root === '/' ? '' : root}/`))
        throw fatal(`${text}: '${text}' is outside repository at '${root}'`);
      const path = whole === root ? '' : whole.slice(root === '/' ? 1 : root.length + 1);
      const isPattern = /[*?[]/.test(path) && !words.includes('literal');
      return { given: text, path, pattern: isPattern ? wildcard(path) : null, excludes };
    });
  }

  get isEmpty(): boolean {
    return this.#specs.length === 0;
  }

  /** All paths match when nothing but exclusions was given. */
  matches(path: string): boolean {
    const included = this.#specs.filter(({ excludes }) => !excludes);
    if (this.#specs.some((spec) => spec.excludes && hits(spec, path))) return false;
    return included.length === 0 || included.some((spec) => hits(spec, path));
  }

  /** The first argument that matches none of the paths, as given. */
  unmatched(paths: Iterable<string>): string | null {
    const open = new Set(this.#specs.filter(({ excludes, path }) => !excludes && path !== ''));
    for (const path of paths) {
      for (const spec of open) if (hits(spec, path)) open.delete(spec);
      if (open.size === 0) return null;
    }
    return [...open][0]?.given ?? null;
  }

  /** Paths that were given without a wildcard, from the root. */
  get plain(): { given: string; path: string }[] {
    return this.#specs.filter(({ pattern, excludes }) => pattern === null && !excludes);
  }

  /** Whether something below this folder could match. */
  mayMatchBelow(folder: string): boolean {
    const included = this.#specs.filter(({ excludes }) => !excludes);
    if (included.length === 0) return true;
    return included.some(
      ({ path, pattern }) =>
        pattern !== null ||
        path === '' ||
        path === folder ||
        path.startsWith(`${folder}/`) ||
        folder.startsWith(`${path}/`),
    );
  }
}

function hits({ path, pattern }: { path: string; pattern: RegExp | null }, candidate: string): boolean {
  if (path === '' || candidate === path || candidate.startsWith(`${path}/`)) return true;
  return pattern?.test(candidate) ?? false;
}

/** In a pathspec `*` matches slashes too, and a match of a folder takes what is below it. */
function wildcard(pattern: string): RegExp {
  let source = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? '';
    if (character === '*') {
      source += '.*';
      while (pattern[at + 1] === '*') at += 1;
    } else if (character === '?') source += '.';
    else if (character === '[' && pattern.includes(']', at + 2)) {
      const end = pattern.indexOf(']', at + 2);
      const set = pattern
        .slice(at + 1, end)
        .replace(/^!/, '^')
        .replaceAll('\\', '\\\\');
      source += `[${set}]`;
      at = end;
    } else source += character.replace(/[\\^$.|+(){}[\]]/, '\\$&');
  }
  return new RegExp(`^${source}(?:/|$)`, 's');
}
