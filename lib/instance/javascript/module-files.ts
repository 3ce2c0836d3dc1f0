/**
 * Which file `require` means, as Node.js finds it: beside the file that asks, or in a node_modules above it. Knows
 * nothing of how it is run.
 */

/** The files that can be required. Paths are absolute. */
export interface ModuleFiles {
  kind(path: string): 'file' | 'dir' | null;
  text(path: string): string;
}

const EXTENSIONS = ['', '.js', '.json', '.cjs'];
/** Of conditional exports, those that hold here; `import` is not here, as there are no ES modules. */
const CONDITIONS = ['require', 'node', 'default'];
const BUILTIN =
  /^(?:node:|(?:assert|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|diagnostics_channel|dns|domain|events|fs|http2?|https|inspector|module|net|os|path|perf_hooks|process|punycode|querystring|readline|repl|stream|string_decoder|sys|timers|tls|tty|url|util|v8|vm|wasi|worker_threads|zlib)(?:\/|$))/;

/** Why something cannot be required, in Node's words where it has any. */
function missing(specifier: string, from: string): Error {
  return Object.assign(new Error(`Cannot find module '${specifier}'\nRequire stack:\n- ${from}`), {
    code: 'MODULE_NOT_FOUND',
  });
}

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

function manifestIn(files: ModuleFiles, folder: string): Record<string, unknown> | null {
  const path = joined(folder, 'package.json');
  if (files.kind(path) !== 'file') return null;
  try {
    const parsed: unknown = JSON.parse(files.text(path));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Throws what `require` throws when there is no such file, or one that is no script for it. */
export function resolveModule(files: ModuleFiles, specifier: string, from: string): string {
  const folder = folderOf(from);
  const isPath = /^(?:\.{1,2}(?:\/|$)|\/)/.test(specifier);
  const found = isPath
    ? asPath(files, specifier.startsWith('/') ? normal(specifier) : joined(folder, specifier))
    : inNodeModules(files, specifier, folder);
  if (found === null) {
    if (!isPath && BUILTIN.test(specifier)) throw new Error(`'${specifier}' is a module of Node.js, which is not here`);
    throw missing(specifier, from);
  }
  if (isEsModule(files, found)) {
    throw new Error(`${found} is an ES module: require takes CommonJS and JSON alone`);
  }
  return found;
}

function isEsModule(files: ModuleFiles, path: string): boolean {
  if (path.endsWith('.mjs')) return true;
  if (!path.endsWith('.js')) return false;
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    const manifest = manifestIn(files, folder);
    if (manifest !== null) return manifest.type === 'module';
    if (folder === '/' || folder.endsWith('/node_modules')) return false;
  }
}

function asPath(files: ModuleFiles, path: string): string | null {
  const file = EXTENSIONS.map((extension) => path + extension).find((one) => files.kind(one) === 'file');
  if (file !== undefined) return file;
  if (files.kind(path) !== 'dir') return null;
  const main = manifestIn(files, path)?.main;
  const inside = typeof main === 'string' ? asPath(files, joined(path, main)) : null;
  return (
    inside ??
    EXTENSIONS.slice(1)
      .map((extension) => joined(path, `index${extension}`))
      .find((one) => files.kind(one) === 'file') ??
    null
  );
}

function inNodeModules(files: ModuleFiles, specifier: string, folder: string): string | null {
  const [, name, rest = ''] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.*))?$/.exec(specifier) ?? [];
  if (name === undefined) return null;
  for (let at = folder; ; at = folderOf(at)) {
    const place = joined(at, `node_modules/${name}`);
    if (!at.endsWith('/node_modules') && files.kind(place) === 'dir') {
      const exported = manifestIn(files, place)?.exports;
      if (exported === undefined || exported === null) return asPath(files, rest === '' ? place : joined(place, rest));
      const target = exportOf(exported, rest === '' ? '.' : `./${rest}`);
      if (target === null)
        throw new Error(`'./${rest}' is not defined by "exports" in ${place}/package.json for require`);
      const path = joined(place, target);
      // A package gives its own files alone.
      return path.startsWith(`${place}/`) && files.kind(path) === 'file' ? path : null;
    }
    if (at === '/') return null;
  }
}

/** The file of an entry of "exports"; null when it has none for `require`. */
function exportOf(exported: unknown, entry: string): string | null {
  if (typeof exported === 'string' || Array.isArray(exported)) return entry === '.' ? conditionOf(exported) : null;
  if (typeof exported !== 'object' || exported === null) return null;
  const table = exported as Record<string, unknown>;
  if (!Object.keys(table).some((key) => key.startsWith('.'))) return entry === '.' ? conditionOf(table) : null;
  if (Object.hasOwn(table, entry)) return conditionOf(table[entry]);
  for (const [key, value] of Object.entries(table)) {
    const [begin = '', end = ''] = key.split('*');
    if (!key.includes('*') || !entry.startsWith(begin) || !entry.endsWith(end)) continue;
    const target = conditionOf(value);
    if (target !== null) return target.replaceAll('*', entry.slice(begin.length, entry.length - end.length));
  }
  return null;
}

function conditionOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(conditionOf).find((one) => one !== null) ?? null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [condition, target] of Object.entries(value)) {
    const found = CONDITIONS.includes(condition) ? conditionOf(target) : null;
    if (found !== null) return found;
  }
  return null;
}
