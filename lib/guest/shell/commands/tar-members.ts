/**
 * What the patched tar of just-bash does with the members of an archive: their names as `--transform` makes them, and
 * the files that they become, with modes, times and links. Knows of tar's own code what `TarParts` says.
 */
import type { IFileSystem } from 'just-bash';
import { reasonFor } from '../posix-error.ts';
import { substitute } from './sed/sed-regex.ts';
import { parseSed, SedError } from './sed/sed-script.ts';

interface TarMember {
  name: string;
  type: string;
  mode: number;
  mtime: Date;
  linkTarget?: string;
  content: Uint8Array;
}

interface TarOptions {
  toStdout: boolean;
  keepOldFiles: boolean;
  touch: boolean;
  preserve: boolean;
  absoluteNames: boolean;
  strip: number;
  exclude: string[];
  wildcards: boolean;
  verbose: boolean;
  transform?: (name: string) => string;
}

/** tar's own code. */
interface TarParts {
  fs: IFileSystem;
  umask: number;
  isAborted(): boolean;
  isExcluded(name: string, patterns: readonly string[]): boolean;
  matches(name: string, pattern: string): boolean;
  textOf(content: Uint8Array): string;
}

interface TarResult {
  stdout: string;
  stderr: string;
  exitCode: number;
}

const FAILED_EXIT = 2;
const ABORTED: TarResult = { stdout: '', stderr: 'tar: operation aborted\n', exitCode: 126 };
/** What tar does here without being told. */
const AS_EVER = new Set(['--no-same-owner', '--no-same-permissions', '--overwrite', '--no-overwrite-dir']);
const DELAYED = '\ntar: Exiting with failure status due to previous errors';

/** The arguments as just-bash's tar knows them, and what `--transform` says. */
export function tarArguments(
  given: readonly string[],
): { args: string[]; transform?: (name: string) => string } | { problem: string } {
  const args: string[] = [];
  let transform: ((name: string) => string) | undefined;
  const rest = [...given];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, name, value] = /^--(strip-components|transform|xform)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (name === undefined) {
      if (!AS_EVER.has(word)) args.push(word);
      continue;
    }
    const text = value ?? rest.shift();
    if (text === undefined) return { problem: `tar: option '--${name}' requires an argument\n` };
    if (name === 'strip-components') args.push(`--strip-components=${text}`);
    else {
      const one = transformOf(text);
      if (one === null) return { problem: 'tar: Invalid transform expression\n' };
      const before = transform;
      transform = before === undefined ? one : (from) => one(before(from));
    }
  }
  return { args, ...(transform && { transform }) };
}

function transformOf(expression: string): ((name: string) => string) | null {
  try {
    // `x` is tar's word for an extended expression; the others say to which names it applies.
    const flags = /[a-zA-Z]*$/.exec(expression)?.[0] ?? '';
    const script = expression.slice(0, expression.length - flags.length) + flags.replaceAll(/[xrRsShH]/g, '');
    const [command, ...more] = parseSed(script, { extended: flags.includes('x') });
    const { regex = null, replacement = [], first = 1, all = false } = command?.substitution ?? {};
    if (command?.name !== 's' || regex === null || more.length > 0) return null;
    return (name) => substitute(regex, name, replacement, first, all) ?? name;
  } catch (error) {
    if (error instanceof SedError) return null;
    throw error;
  }
}

/** Renames what is put into an archive. */
export function transformMembers(members: readonly { name: string }[], { transform }: TarOptions): void {
  if (transform) for (const member of members) member.name = transform(member.name);
}

/** Extracts the members that are asked for, all without `wanted`, into a folder. */
export async function extractMembers(
  parts: TarParts,
  options: TarOptions,
  { members, wanted, folder }: { members: readonly TarMember[]; wanted: readonly string[]; folder: string },
): Promise<TarResult> {
  const extraction = new Extraction(parts, options, folder);
  const found = new Set<string>();
  for (const member of members) {
    if (parts.isAborted()) return ABORTED;
    const plain = member.name.replace(/\/$/, '');
    const patterns = wanted.filter((name) =>
      options.wildcards && parts.matches(plain, name) ? true : `${plain}/`.startsWith(`${name.replace(/\/$/, '')}/`),
    );
    for (const pattern of patterns) found.add(pattern);
    if (wanted.length > 0 && patterns.length === 0) continue;
    if (!parts.isExcluded(member.name, options.exclude)) await extraction.add(member);
  }
  for (const name of wanted) if (!found.has(name)) extraction.fail(`${name}: Not found in archive`);
  return extraction.end();
}

class Extraction {
  readonly #parts: TarParts;
  readonly #options: TarOptions;
  readonly #folder: string;
  /** Attributes of directories, which are set when nothing more is put into them. */
  readonly #directories: { path: string; member: TarMember }[] = [];
  /**
   * Links that may lead out of the folder, by path. They are made when everything else is there, so that no member is
   * written through one; an empty file holds their place.
   */
  readonly #links = new Map<string, string>();
  #names = '';
  #content = '';
  #errors = '';

  constructor(parts: TarParts, options: TarOptions, folder: string) {
    this.#parts = parts;
    this.#options = options;
    this.#folder = folder;
  }

  fail(sentence: string): void {
    this.#errors += `tar: ${sentence}\n`;
  }

  async add(member: TarMember): Promise<void> {
    const name = this.#nameOf(member.name);
    if (name === null) return;
    if (this.#options.toStdout) {
      if (member.type === 'file') this.#content += this.#parts.textOf(member.content);
      if (this.#options.verbose && member.type === 'file') this.#names += `${member.name}\n`;
      return;
    }
    if (this.#options.verbose) this.#names += `${member.name}\n`;
    try {
      await this.#make(member, this.#parts.fs.resolvePath(this.#folder, name));
    } catch (error) {
      const reason = reasonFor(error);
      if (reason === undefined) throw error;
      this.fail(`${name}: Cannot ${member.type === 'directory' ? 'mkdir' : 'open'}: ${reason}`);
    }
  }

  async end(): Promise<TarResult> {
    for (const [path, target] of this.#links) {
      await this.#parts.fs.rm(path);
      await this.#parts.fs.symlink(target, path);
    }
    for (const { path, member } of this.#directories.reverse()) await this.#dress(path, member);
    const { toStdout } = this.#options;
    return {
      stdout: toStdout ? this.#content : this.#names,
      stderr: `${toStdout ? this.#names : ''}${this.#errors === '' ? '' : `${this.#errors.trimEnd()}${DELAYED}\n`}`,
      exitCode: this.#errors === '' ? 0 : FAILED_EXIT,
    };
  }

  /** The path that a member becomes; null for none. */
  #nameOf(given: string): string | null {
    const { absoluteNames, strip, transform } = this.#options;
    const segments = given.split('/').filter((segment) => segment !== '');
    if (!absoluteNames && segments.includes('..')) {
      this.fail(`${given}: Member name contains '..'`);
      return null;
    }
    if (strip >= segments.length && strip > 0) return null;
    const root = absoluteNames && given.startsWith('/') && strip === 0 ? '/' : '';
    const name = `${root}${segments.slice(strip).join('/')}`;
    return (transform ? transform(name) : name) || null;
  }

  async #make(member: TarMember, path: string): Promise<void> {
    const { fs } = this.#parts;
    const there = await fs.lstat(path).catch(() => null);
    if (member.type === 'directory') {
      if (there === null || !(await fs.stat(path)).isDirectory) await fs.mkdir(path, { recursive: true });
      this.#directories.push({ path, member });
      return;
    }
    if (there !== null && this.#options.keepOldFiles) return this.fail(`${member.name}: Cannot open: File exists`);
    await fs.mkdir(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true });
    // What is there gives way: a link is not written through.
    if (there !== null && !there.isDirectory) await fs.rm(path);
    this.#links.delete(path);
    if (member.type === 'symlink') return this.#link(member.linkTarget ?? '', path);
    if (member.type === 'hardlink') {
      const source = this.#nameOf(member.linkTarget ?? '');
      // Two paths cannot share one content: the second one is a copy.
      if (source === null) return;
      const from = fs.resolvePath(this.#folder, source);
      const target = this.#links.get(from);
      return target === undefined ? fs.cp(from, path) : this.#link(target, path);
    }
    if (member.type !== 'file') return this.fail(`${member.name}: Cannot mknod: Operation not permitted`);
    await fs.writeFile(path, member.content);
    await this.#dress(path, member);
  }

  async #link(target: string, path: string): Promise<void> {
    const { fs } = this.#parts;
    const mayLeaveFolder = target.startsWith('/') || target.split('/').includes('..');
    if (this.#options.absoluteNames || !mayLeaveFolder) return fs.symlink(target, path);
    await fs.writeFile(path, new Uint8Array(0));
    this.#links.set(path, target);
  }

  /** Gives a file or directory the mode and the time of its member. */
  async #dress(path: string, { mode, mtime }: TarMember): Promise<void> {
    const { fs, umask } = this.#parts;
    await fs.chmod(path, this.#options.preserve ? mode & 0o7777 : mode & 0o777 & ~umask);
    if (!this.#options.touch) await fs.utimes(path, mtime, mtime);
  }
}
