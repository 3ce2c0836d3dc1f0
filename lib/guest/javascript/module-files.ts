/**
 * Which file `require` or `import` means, as Node.js finds it: beside the file that asks, or in a node_modules above
 * it. Knows nothing of how it is run.
 */

/** The files that can be required. Paths are absolute. */
export interface ModuleFiles {
  kind(path: string): 'file' | 'dir' | null;
  text(path: string): string;
}

const EXTENSIONS = ['', '.js', '.json', '.cjs'];
/** How a module is asked for: of conditional exports, those with its name hold. */
export type ModuleKind = 'require' | 'import';
/** Of conditional exports, those that hold for either. */
const CONDITIONS = ['node', 'default', 'module-sync'];
/** Why something cannot be required, in Node's words where it has any. */
function missing(specifier: string, from: string, kind: ModuleKind): Error {
  if (kind === 'require')
    return coded(`Cannot find module '${specifier}'\nRequire stack:\n- ${from}`, 'MODULE_NOT_FOUND');
  const what = isPath(specifier) ? 'module' : 'package';
  const name = what === 'module' ? pathOf(specifier, folderOf(from)) : specifier;
  return coded(`Cannot find ${what} '${name}' imported from ${from}`, 'ERR_MODULE_NOT_FOUND');
}

const coded = (message: string, code: string) => Object.assign(new Error(message), { code });
const isPath = (specifier: string) => /^(?:\.{1,2}(?:\/|$)|\/)/.test(specifier);
const pathOf = (specifier: string, folder: string) =>
  specifier.startsWith('/') ? normal(specifier) : joined(folder, specifier);

const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/';
const joined = (folder: string, rest: string) => normal(`${folder}/${rest}`);

function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

type Manifest = Record<string, unknown>;

function manifestIn(files: ModuleFiles, folder: string): Manifest | null {
  const path = joined(folder, 'package.json');
  if (files.kind(path) !== 'file') return null;
  try {
    const parsed: unknown = JSON.parse(files.text(path));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Manifest) : null;
  } catch {
    return null;
  }
}

/** Throws what `require` or `import` throws when there is no such file. */
export function resolveModule(files: ModuleFiles, specifier: string, from: string, kind: ModuleKind): string {
  const folder = folderOf(from);
  const found = isPath(specifier)
    ? asPath(files, pathOf(specifier, folder), kind)
    : specifier.startsWith('#')
      ? ownImport(files, specifier, folder, kind)
      : inNodeModules(files, specifier, folder, kind);
  if (found === null) throw missing(specifier, from, kind);
  return found;
}

/** The nearest package.json above a file. */
function nearestManifest(files: ModuleFiles, path: string): { folder: string; manifest: Manifest } | null {
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    const manifest = manifestIn(files, folder);
    if (manifest !== null) return { folder, manifest };
    if (folder === '/' || folder.endsWith('/node_modules')) return null;
  }
}

/** What a file's name and package.json say it is; null: neither does. */
export function declaredKind(files: ModuleFiles, path: string): 'module' | 'commonjs' | null {
  if (/\.m[jt]s$/.test(path)) return 'module';
  if (/\.c[jt]s$/.test(path)) return 'commonjs';
  const type = nearestManifest(files, path)?.manifest.type;
  return type === 'module' || type === 'commonjs' ? type : null;
}

/** What the package of a file calls by a name of its own. */
function ownImport(files: ModuleFiles, specifier: string, folder: string, kind: ModuleKind): string | null {
  const own = nearestManifest(files, joined(folder, 'x'));
  const target = own === null ? null : exportOf(own.manifest.imports, specifier, kind);
  if (own === null || target === null) return null;
  return target.startsWith('.')
    ? asPath(files, joined(own.folder, target), kind)
    : inNodeModules(files, target, own.folder, kind);
}

/** `import` takes the name as it is written. */
function asPath(files: ModuleFiles, path: string, kind: ModuleKind): string | null {
  if (kind === 'import' && files.kind(path) === 'dir')
    throw coded(`Directory import '${path}' is not supported resolving ES modules`, 'ERR_UNSUPPORTED_DIR_IMPORT');
  if (kind === 'import') return files.kind(path) === 'file' ? path : null;
  return asFile(files, path);
}

function asFile(files: ModuleFiles, path: string): string | null {
  const file = EXTENSIONS.map((extension) => path + extension).find((one) => files.kind(one) === 'file');
  if (file !== undefined) return file;
  if (files.kind(path) !== 'dir') return null;
  const main = manifestIn(files, path)?.main;
  const inside = typeof main === 'string' ? asFile(files, joined(path, main)) : null;
  return (
    inside ??
    EXTENSIONS.slice(1)
      .map((extension) => joined(path, `index${extension}`))
      .find((one) => files.kind(one) === 'file') ??
    null
  );
}

function inNodeModules(files: ModuleFiles, specifier: string, folder: string, kind: ModuleKind): string | null {
  const [, name, rest = ''] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.*))?$/.exec(specifier) ?? [];
  if (name === undefined) return null;
  for (let at = folder; ; at = folderOf(at)) {
    const place = joined(at, `node_modules/${name}`);
    if (!at.endsWith('/node_modules') && files.kind(place) === 'dir') {
      const exported = manifestIn(files, place)?.exports;
      if (exported === undefined || exported === null) return asFile(files, rest === '' ? place : joined(place, rest));
      const target = exportOf(exported, rest === '' ? '.' : `./${rest}`, kind);
      if (target === null)
        throw coded(
          `Package subpath './${rest}' is not defined by "exports" in ${place}/package.json`,
          'ERR_PACKAGE_PATH_NOT_EXPORTED',
        );
      const path = joined(place, target);
      // A package gives its own files alone.
      return path.startsWith(`${place}/`) && files.kind(path) === 'file' ? path : null;
    }
    if (at === '/') return null;
  }
}

/** The file of an entry of "exports"; null when it has none for this kind. */
function exportOf(exported: unknown, entry: string, kind: ModuleKind): string | null {
  if (typeof exported === 'string' || Array.isArray(exported))
    return entry === '.' ? conditionOf(exported, kind) : null;
  if (typeof exported !== 'object' || exported === null) return null;
  const table = exported as Record<string, unknown>;
  if (!Object.keys(table).some((key) => /^[.#]/.test(key))) return entry === '.' ? conditionOf(table, kind) : null;
  if (Object.hasOwn(table, entry)) return conditionOf(table[entry], kind);
  for (const [key, value] of Object.entries(table)) {
    const [begin = '', end = ''] = key.split('*');
    if (!key.includes('*') || !entry.startsWith(begin) || !entry.endsWith(end)) continue;
    const target = conditionOf(value, kind);
    if (target !== null) return target.replaceAll('*', entry.slice(begin.length, entry.length - end.length));
  }
  return null;
}

function conditionOf(value: unknown, kind: ModuleKind): string | null {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((one) => conditionOf(one, kind)).find((one) => one !== null) ?? null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [condition, target] of Object.entries(value)) {
    const found = condition === kind || CONDITIONS.includes(condition) ? conditionOf(target, kind) : null;
    if (found !== null) return found;
  }
  return null;
}
