/**
 * Bundles the code of the processes that the server starts again and again – workers and readers – into `dist/workers`:
 * few files instead of hundreds, of which a process loads what it uses. Starting a worker takes a third of the
 * processor time (docs/performance.md). Knows the two entries; lib/base/bundled.ts says whether a bundle is current.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { BUNDLE_LIST, BUNDLES, type BundleList, sourceHash } from '../lib/base/bundled.ts';
import { patchedSource } from '../lib/instance/bash-patches.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const ENTRIES = { worker: 'lib/instance/worker.ts', reader: 'lib/vfs/reader.ts' };
const BASH = join(ROOT, 'lib/instance/bash.ts');
const BASH_BUNDLE = '/node_modules/just-bash/dist/bundle/';
const NAME_LENGTH = 16;
/** How long a bundle is kept after a newer one took its place, in milliseconds: a week. */
const KEEP_MS = 7 * 86_400_000;
/** Loaded from node_modules when a guest uses them: WebAssembly and the code around it. */
const EXTERNAL = /^(?:node:|quickjs-emscripten$|sql\.js$|seek-bzip$|@mongodb-js\/zstd$|node-liblzma$)/;

/** What bash.ts does with a loader hook while a process loads, done once here. */
function patchBash(): Plugin {
  return {
    name: 'patched-bash',
    transform(code, id) {
      if (id === BASH) return exportsOf(code);
      const at = id.indexOf(BASH_BUNDLE);
      return at < 0 ? null : patchedSource(id.slice(at + BASH_BUNDLE.length), () => code);
    },
  };
}

/** `export const { names } = await import('just-bash')` as a static export. */
function exportsOf(code: string): string {
  const names = /export const (\{[^}]+\}) = await import\(['"]just-bash['"]\)/.exec(code)?.[1];
  if (names === undefined) throw new Error('lib/instance/bash.ts no longer exports what it imports from just-bash.');
  return `export ${names} from ${JSON.stringify(join(ROOT, BASH_BUNDLE, 'index.js'))};`;
}

/**
 * Parts of Node that few calls use. A process loads one when one of its functions is called for the first time, which
 * saves a start several milliseconds of processor time each.
 */
const LATE = new Set(['node:crypto', 'node:dns', 'node:fs/promises', 'node:timers/promises', 'node:worker_threads']);

/** The name of a module that is loaded with the entry, before the shell's defences take `getBuiltinModule` away. */
const HOST = '\0host';
const HOST_SOURCE = `
const load = process.getBuiltinModule.bind(process);
const { pathToFileURL } = load('node:url');
export const urlOf = (path) => pathToFileURL(__dirname + path).href;
export const call = (module, name, args, isNew) => {
  const f = load(module)[name];
  return isNew ? new f(...args) : f(...args);
};`;

/** Functions of a late part of Node, each of which loads it. Constants of one cannot be imported. */
function lateModule(name: string): string {
  const builtin = Object.entries(process.getBuiltinModule(name) ?? {});
  const functions = builtin.filter(([, value]) => typeof value === 'function').map(([key]) => key);
  return `import { call } from '${HOST}';${functions
    .map((key) => `export function ${key}(...args) { return call('${name}', '${key}', args, new.target); }`)
    .join('')}`;
}

/** Replaces late parts of Node, and the addresses of modules: files that one finds beside itself are still there. */
function hostModules(): Plugin {
  const entries = new Set(Object.values(ENTRIES).map((path) => join(ROOT, path)));
  return {
    name: 'host-modules',
    resolveId(id) {
      if (id === HOST) return HOST;
      return LATE.has(id) ? `\0${id}` : null;
    },
    load(id) {
      if (id === HOST) return HOST_SOURCE;
      return LATE.has(id.slice(1)) ? lateModule(id.slice(1)) : null;
    },
    transform(code, id) {
      const first = entries.has(id) ? `import '${HOST}';` : '';
      if (!code.includes('import.meta.url')) return `${first}${code}`;
      const url = `$urlOf(${JSON.stringify(`/${relative(join(ROOT, BUNDLES, 'version'), id)}`)})`;
      return `${first}import { urlOf as $urlOf } from '${HOST}';${code.replaceAll('import.meta.url', url)}`;
    },
  };
}

/** The same program without a character beyond ASCII: Node reads it faster, and V8 keeps it in half the memory. */
function asciiOf(code: string): string {
  return code.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Bundles both entries into a folder of this version, unless that is there. Throws what the bundler throws. */
export async function bundleWorkers(): Promise<void> {
  const parent = join(ROOT, BUNDLES);
  const bundle = await rolldown({
    cwd: ROOT,
    input: ENTRIES,
    platform: 'node',
    external: (id) => EXTERNAL.test(id) && !LATE.has(id),
    resolve: { conditionNames: ['node', 'import'] },
    plugins: [patchBash(), hostModules()],
  });
  const { output } = await bundle.generate({
    format: 'cjs',
    minify: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
  });
  await bundle.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  const modules = new Set(chunks.flatMap(({ moduleIds }) => moduleIds.map((id) => relative(ROOT, id))));
  const hashes = (paths: string[]) =>
    Object.fromEntries(paths.sort().map((path) => [path, sourceHash(join(ROOT, path))]));
  const sources = hashes([...modules].filter((path) => path.startsWith('lib/')));
  const tools = hashes(['package-lock.json', relative(ROOT, fileURLToPath(import.meta.url))]);
  const folder = createHash('sha256')
    .update(JSON.stringify([sources, tools]))
    .digest('hex')
    .slice(0, NAME_LENGTH);
  const making = join(parent, `${folder}.${process.pid}`);
  mkdirSync(making, { recursive: true });
  for (const { fileName, code } of chunks) writeFileSync(join(making, fileName), asciiOf(code));
  // A server that runs the bundle of this name goes on with it.
  if (existsSync(join(parent, folder))) rmSync(making, { recursive: true });
  else renameSync(making, join(parent, folder));
  noteSuperseded(parent);
  const list: BundleList = { folder, sources, tools };
  writeFileSync(`${making}.json`, `${JSON.stringify(list, null, 1)}\n`);
  renameSync(`${making}.json`, join(parent, BUNDLE_LIST));
  removeOld(parent, folder);
}

/** Dates the bundle that was the newest until now: a server may have started on it long after it was made. */
function noteSuperseded(parent: string): void {
  try {
    const { folder } = JSON.parse(readFileSync(join(parent, BUNDLE_LIST), 'utf8')) as BundleList;
    utimesSync(join(parent, folder), new Date(), new Date());
  } catch {
    // There is none, or its list is damaged: nothing runs it.
  }
}

/** Removes bundles that nobody can still run. */
function removeOld(parent: string, newest: string): void {
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    if (name === newest || name === BUNDLE_LIST || Date.now() - statSync(path).mtimeMs < KEEP_MS) continue;
    rmSync(path, { recursive: true });
  }
}

if (import.meta.main) await bundleWorkers();
