/** A project in a sandbox: its package.json, its lock, and what is in its node_modules. */
import { type CommandCall, CommandEnd, reasonOf } from '../own-command.ts';
import { PackageError } from '../package-source.ts';
import { StagedFiles } from '../staged-files.ts';
import { type Dependencies, isJsonObject, isPackageName, textsOf } from './registry.ts';
import { packageJson } from './tarball.ts';
import type { PlacedPackage } from './tree.ts';

export class Project {
  readonly folder: string;
  readonly #call: CommandCall;
  /** Null where there is none. */
  manifest: Record<string, unknown> | null;

  private constructor(call: CommandCall, folder: string, manifest: Record<string, unknown> | null) {
    this.#call = call;
    this.folder = folder;
    this.manifest = manifest;
  }

  /** The project that the current folder is in, as npm finds it. Throws `PackageError` for a broken package.json. */
  static async find(call: CommandCall): Promise<Project> {
    let folder = call.cwd;
    for (let at = call.cwd; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
      const has = (name: string) => call.files.look(`${at}/${name}`) !== null;
      if (!has('package.json') && !has('node_modules')) continue;
      folder = at;
      break;
    }
    const path = `${folder}/package.json`;
    if (call.files.look(path) === null) return new Project(call, folder, null);
    const manifest = packageJson((await call.input(path)).toString());
    if (manifest === null) throw new PackageError(`${path} is no JSON object`);
    return new Project(call, folder, manifest);
  }

  dependencies(kind: 'dependencies' | 'devDependencies' | 'optionalDependencies'): Dependencies {
    return textsOf(this.manifest?.[kind]);
  }

  /** Sets and removes (null) dependencies, and writes package.json. */
  async save(
    kind: 'dependencies' | 'devDependencies',
    changes: Readonly<Record<string, string | null>>,
  ): Promise<void> {
    const manifest: Record<string, unknown> = { ...this.manifest };
    for (const one of ['dependencies', 'devDependencies', 'optionalDependencies'] as const) {
      const before = textsOf(manifest[one]);
      const after = Object.fromEntries(Object.entries(before).filter(([name]) => !Object.hasOwn(changes, name)));
      if (one === kind)
        for (const [name, version] of Object.entries(changes)) if (version !== null) after[name] = version;
      const names = Object.keys(after).toSorted();
      if (names.length > 0) manifest[one] = Object.fromEntries(names.map((name) => [name, after[name]]));
      else if (one in manifest) manifest[one] = undefined;
    }
    this.manifest = manifest;
    await this.#call.changes.writeFile(`${this.folder}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
  }

  /** The package in a folder of the project; null for none. */
  async present(folder: string): Promise<PlacedPackage | null> {
    const path = `${this.folder}/${folder}/package.json`;
    if (this.#kindOf(path) !== 'file') return null;
    const manifest = packageJson((await this.#call.input(path)).toString());
    if (manifest === null || typeof manifest.name !== 'string' || typeof manifest.version !== 'string') return null;
    const optionalDependencies = textsOf(manifest.optionalDependencies);
    const dependencies = Object.fromEntries(
      Object.entries(textsOf(manifest.dependencies)).filter(([name]) => !Object.hasOwn(optionalDependencies, name)),
    );
    return { name: manifest.name, version: manifest.version, dependencies, optionalDependencies };
  }

  /** The names of the packages directly in its node_modules. */
  async installed(): Promise<string[]> {
    const top = `${this.folder}/node_modules`;
    if (this.#call.files.look(top)?.kind !== 'dir') return [];
    const names: string[] = [];
    for (const name of await this.#call.changes.readdir(top)) {
      if (name.startsWith('.')) continue;
      if (!name.startsWith('@')) names.push(name);
      else for (const inner of await this.#call.changes.readdir(`${top}/${name}`)) names.push(`${name}/${inner}`);
    }
    return names.toSorted();
  }

  /** What the lock says by folder; null without one. Throws `PackageError` for one that cannot be followed. */
  async locked(): Promise<Map<string, LockedPackage> | null> {
    const path = `${this.folder}/package-lock.json`;
    if (this.#call.files.look(path) === null) return null;
    const manifest = packageJson((await this.#call.input(path)).toString());
    if (!isJsonObject(manifest?.packages))
      throw new PackageError('package-lock.json is of a version before 2: write it anew');
    const found = new Map<string, LockedPackage>();
    for (const [folder, fields] of Object.entries(manifest.packages)) {
      if (folder === '') continue;
      found.set(folder, lockedPackage(folder, fields));
    }
    return found;
  }

  /**
   * Puts packages in the place of what is there; `isClean`: of everything. What fails leaves what was there before.
   * Throws `PackageError`.
   */
  async write(
    packages: ReadonlyMap<string, ReadonlyMap<string, Buffer>>,
    { isClean }: { isClean: boolean },
  ): Promise<void> {
    const files = [...packages].flatMap(([folder, content]) =>
      [...content].map(([path, bytes]) => [`${this.folder}/${folder}/${path}`, bytes] as const),
    );
    const folder = `${this.folder}/.npm-staging`;
    const staged = await StagedFiles.write(this.#call, folder, new Map(files)).catch((error: unknown) => {
      if (error instanceof CommandEnd) throw error;
      throw new PackageError(`the packages could not be written: ${reasonOf(error)}`);
    });
    if (isClean) await this.remove('node_modules');
    for (const one of packages.keys()) await this.#clear(one);
    await staged.place();
  }

  async remove(folder: string): Promise<void> {
    const path = `${this.folder}/${folder}`;
    if (this.#call.files.look(path, false) !== null) await this.#call.changes.rm(path, { recursive: true });
  }

  #kindOf(path: string, follow = true): string | null {
    try {
      return this.#call.files.look(path, follow)?.kind ?? null;
    } catch {
      // What would lie in a file is not there.
      return null;
    }
  }

  /** Removes what a package is, and leaves what lies in a node_modules of its own. */
  async #clear(folder: string): Promise<void> {
    const base = `${this.folder}/${folder}`;
    const kind = this.#kindOf(base, false);
    if (kind === null) return;
    if (kind !== 'dir') return this.#call.changes.rm(base);
    for (const name of await this.#call.changes.readdir(base)) {
      if (name !== 'node_modules') await this.#call.changes.rm(`${base}/${name}`, { recursive: true });
    }
  }
}

export interface LockedPackage {
  name: string;
  version: string;
  tarball: string;
  integrity: string | null;
  hasInstallScript: boolean;
  isOptional: boolean;
}

function lockedPackage(folder: string, fields: unknown): LockedPackage {
  const parts = folder.split('node_modules/');
  const name = parts.at(-1) ?? '';
  const isPlace = parts[0] === '' && parts.slice(1).every((part) => isPackageName(part.replace(/\/$/, '')));
  if (!isPlace || !isJsonObject(fields) || fields.link === true) {
    throw new PackageError(`package-lock.json: "${folder}" is no package of the registry`);
  }
  const { version, resolved, integrity } = fields;
  if (typeof version !== 'string' || typeof resolved !== 'string') {
    throw new PackageError(`package-lock.json: "${folder}" has no version or no address`);
  }
  return {
    name: typeof fields.name === 'string' ? fields.name : name,
    version,
    tarball: resolved,
    integrity: typeof integrity === 'string' ? integrity : null,
    hasInstallScript: fields.hasInstallScript === true,
    isOptional: fields.optional === true,
  };
}
