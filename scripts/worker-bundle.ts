/**
 * Bundles the code of the processes that the server starts again and again – workers, readers, those of real
 * programs, those that make and open bundles – into `dist/workers`: few files instead of hundreds, of which a process
 * loads what it uses. Starting a worker takes a third of the processor time (docs/performance.md), a bundle process
 * less than half. Knows the entries; lib/base/bundled.ts says whether a bundle is current.
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
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { BUNDLE_LIST, BUNDLES, type BundleList, sourceHash } from '../lib/base/bundled.ts';
import { patchedSource } from '../lib/guest/shell/patches/bash-patches.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const ENTRIES = {
  worker: 'lib/guest/worker/worker.ts',
  reader: 'lib/vfs/reader.ts',
  bundle: 'lib/bundles/worker.ts',
  base: 'lib/host/base-worker.ts',
  native: 'lib/native/worker/native-worker.ts',
  'fuse-thread': 'lib/native/fuse/fuse-thread.ts',
  'python-thread': 'lib/guest/component-runner/python-thread.ts',
  'wasm-thread': 'lib/guest/component-runner/wasm-thread.ts',
  'sqlite-thread': 'lib/guest/sqlite/sqlite-thread.ts',
  'interpreter-thread': 'lib/guest/python/interpreter-thread.ts',
};
const BASH = join(ROOT, 'lib/guest/shell/bash.ts');
const BASH_BUNDLE = '/node_modules/just-bash/dist/bundle/';
const NAME_LENGTH = 16;
/** How long a bundle is kept after a newer one took its place, in milliseconds: a week. */
const KEEP_MS = 7 * 86_400_000;
/** Loaded from node_modules when a guest uses them: WebAssembly and the code around it. */
const EXTERNAL =
  /^(?:node:|@sqlite\.org\/sqlite-wasm$|quickjs-emscripten$|sql\.js$|seek-bzip$|@mongodb-js\/zstd$|node-liblzma$)/;

/** How each file of just-bash begins. Few use it, and making a `require` takes a quarter of a millisecond. */
const REQUIRE = 'const require=createRequire(import.meta.url);';
/** Made when it is first called, and left out where it never is. */
const LATE_REQUIRE =
  'const require=/*@__PURE__*/(()=>{let made;return(id)=>(made??=createRequire(import.meta.url))(id)})();';

/** What bash.ts does with a loader hook while a process loads, done once here. */
function patchBash(): Plugin {
  return {
    name: 'patched-bash',
    transform(code, id) {
      if (id === BASH) return exportsOf(code);
      const at = id.indexOf(BASH_BUNDLE);
      if (at < 0) return null;
      return (patchedSource(id.slice(at + BASH_BUNDLE.length), () => code) ?? code).replace(REQUIRE, LATE_REQUIRE);
    },
  };
}

/** `export const { names } = await import('just-bash')` as a static export. */
function exportsOf(code: string): string {
  const names = /export const (\{[^}]+\}) = await import\(['"]just-bash['"]\)/.exec(code)?.[1];
  if (names === undefined) throw new Error('lib/guest/shell/bash.ts no longer exports what it imports from just-bash.');
  return `export ${names} from ${JSON.stringify(join(ROOT, BASH_BUNDLE, 'index.js'))};`;
}

/** The address of a program for an interpreter, as lib/guest/source-text.ts has it written. */
const PROGRAM = /\bsourceText\(\s*new URL\(\s*'(\.\/[^']+)',\s*import\.meta\.url,?\s*\),?\s*\)/g;

/** Puts the texts of such programs in the place of their addresses. They are sources of the bundle: `programs`. */
function inlinePrograms(programs: Set<string>): Plugin {
  return {
    name: 'inline-programs',
    transform(code, id) {
      if (!id.startsWith(join(ROOT, 'lib/guest/')) || !code.includes('sourceText(')) return null;
      return code.replaceAll(PROGRAM, (_, name: string) => {
        const path = join(dirname(id), name);
        programs.add(relative(ROOT, path));
        return JSON.stringify(readFileSync(path, 'utf8'));
      });
    },
  };
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

/** They change what is bundled, and are no part of it. */
const PATCHES = readdirSync(join(ROOT, 'lib', 'guest', 'shell', 'patches'))
  .filter((name) => /-patch(?:es)?\.ts$/.test(name))
  .map((name) => `lib/guest/shell/patches/${name}`);

/** Characters up to which what several parts share is loaded at once. */
const SMALL = 8000;

/** Bundles one entry; the modules of `first` are in its own file. */
async function bundleOnce(
  [name, path]: [string, string],
  first: ReadonlySet<string>,
  programs: Set<string>,
): Promise<OutputChunk[]> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: { [name]: path },
    platform: 'node',
    external: (id) => EXTERNAL.test(id) && !LATE.has(id),
    resolve: { conditionNames: ['node', 'import'] },
    preserveEntrySignatures: false,
    plugins: [patchBash(), inlinePrograms(programs), hostModules()],
  });
  const { output } = await bundle.generate({
    format: 'cjs',
    minify: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: `${name}-[name]-[hash].cjs`,
    ...(first.size > 0 && {
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [{ name: 'first', test: (id) => first.has(id) }],
      },
    }),
  });
  await bundle.close();
  return output.filter((file) => file.type === 'chunk');
}

/** The modules that an entry loads at once, and small ones that several of its later parts share. */
function firstModules(chunks: readonly OutputChunk[]): Set<string> {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const small = chunks.filter((chunk) => !chunk.isDynamicEntry && chunk.code.length < SMALL);
  const first = new Set(chunks.filter((chunk) => chunk.isEntry).concat(small));
  // A set is walked on to what is added meanwhile.
  for (const { imports } of first) {
    for (const name of imports) {
      const chunk = byName.get(name);
      if (chunk !== undefined) first.add(chunk);
    }
  }
  return new Set([...first].flatMap(({ moduleIds }) => moduleIds));
}

/**
 * Bundles one entry. A file for each thing that two parts share would be thirty for a worker's start and first command,
 * and finding them takes more processor time than their code: Node's own search becomes hot enough to be optimised.
 */
async function bundleEntry(entry: [string, string], programs: Set<string>): Promise<OutputChunk[]> {
  return bundleOnce(entry, firstModules(await bundleOnce(entry, new Set(), programs)), programs);
}

/** Bundles the entries into a folder of this version, unless that is there. Throws what the bundler throws. */
export async function bundleWorkers(): Promise<void> {
  const parent = join(ROOT, BUNDLES);
  const programs = new Set<string>();
  const chunks = (await Promise.all(Object.entries(ENTRIES).map((entry) => bundleEntry(entry, programs)))).flat();
  const modules = new Set(chunks.flatMap(({ moduleIds }) => moduleIds.map((id) => relative(ROOT, id))));
  const hashes = (paths: string[]) =>
    Object.fromEntries(paths.sort().map((path) => [path, sourceHash(join(ROOT, path))]));
  const sources = hashes([...[...modules].filter((path) => path.startsWith('lib/')), ...programs]);
  const tools = hashes(['package-lock.json', relative(ROOT, fileURLToPath(import.meta.url)), ...PATCHES]);
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

// Also when bin/run.cjs has imported it.
if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleWorkers();
