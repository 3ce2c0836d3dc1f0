/**
 * Which files of this repository and of node_modules a running Winterdock reads: traced from its entries, so that
 * nothing of a list has to be kept. Knows nothing of where they go.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { isAbsolute, join, relative, resolve } from 'node:path';

interface Traced {
  fileList: Set<string>;
  reasons: Map<string, { type: string[] }>;
}
type Trace = (
  entries: string[],
  options: {
    base: string;
    processCwd: string;
    /** Packages of which one part is CommonJS and another modules. */
    mixedModules: boolean;
    /** Shared by the rounds: what was read once is not read again. */
    cache: object;
    analysis: { emitGlobs: boolean; computeFileReferences: boolean; evaluatePureExpressions: boolean };
    readFile(path: string): Promise<string | Buffer | null>;
    ignore(path: string): boolean;
  },
) => Promise<Traced>;

/** The tracer that Next carries and traces its own builds with (Vercel's nft). */
const { nodeFileTrace } = createRequire(import.meta.url)('next/dist/compiled/@vercel/nft') as { nodeFileTrace: Trace };

/** What people start; the processes that these start are found from them, by the URLs of their entries. */
const ENTRIES = [
  'bin/winterdock.js',
  'lib/front/server.ts',
  'lib/cli/main.ts',
  'scripts/backup.ts',
  'scripts/doctor.ts',
  'scripts/keys.ts',
  'scripts/ledger-verify.ts',
  'scripts/restore.ts',
];

/**
 * What the code names but a server that is built never loads: types, maps, Next's compilers, its development, and
 * images that it would make smaller.
 */
const NEVER_LOADED = [
  /\.d\.[cm]?ts$/,
  /\.map$/,
  /\.development\.js$/,
  /\.dev\.js$/,
  /^node_modules\/(sharp|@img|@next\/swc[^/]*|postcss|browserslist|caniuse-lite|typescript|webpack)\//,
  /^node_modules\/next\/dist\/compiled\/(webpack|babel|terser|postcss|jest-worker|next-devtools|@vercel\/nft)/,
  /^node_modules\/next\/dist\/lib\/upgrade\//,
];
const neverLoaded = (path: string) => NEVER_LOADED.some((pattern) => pattern.test(path));

/**
 * Paths, from `root`, of every file that the server, its processes, the command line and the operators' commands load.
 * Throws when a source cannot be read.
 */
export async function tracedFiles(root: string): Promise<Set<string>> {
  const entries = ENTRIES.map((path) => join(root, path));
  const cache = {};
  const required = new Set<string>();
  for (;;) {
    const { fileList, reasons } = await nodeFileTrace(entries, {
      base: root,
      processCwd: root,
      mixedModules: true,
      cache,
      // Folders that are only named are not taken whole.
      analysis: { emitGlobs: false, computeFileReferences: true, evaluatePureExpressions: true },
      readFile: (path) => sourceOf(path, required),
      ignore: neverLoaded,
    });
    // A source that is named by its path is a process or a thread, or loaded before one: what it loads is traced too.
    const started = [...fileList]
      .filter((path) => /\.(?:ts|cjs)$/.test(path) && reasons.get(path)?.type.includes('asset'))
      .map((path) => join(root, path));
    const more = [...started, ...required].filter((path) => !entries.includes(path));
    if (more.length === 0) return new Set([...fileList, ...pagesFiles(root)]);
    entries.push(...more);
  }
}

/**
 * A source as the tracer can read it: its own reading takes no types. What a source of ours requires is added to
 * `required`.
 */
async function sourceOf(path: string, required: Set<string>): Promise<string | Buffer | null> {
  try {
    const bytes = await readFile(path);
    if (!path.endsWith('.ts') || path.includes('node_modules')) return bytes;
    const source = bytes.toString();
    for (const file of requiredBy(path, source)) required.add(file);
    return stripTypeScriptTypes(source);
  } catch (error) {
    // The tracer tries names; null is its "there is none".
    if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** What a module asks for by a `createRequire` of its own: the CommonJS build, where the tracer takes the other one. */
function requiredBy(path: string, source: string): string[] {
  const names = [...source.matchAll(/\bconst (\w+) = createRequire\(import\.meta\.url\)/g)].map(([, name]) => name);
  const calls = names.flatMap((name) => [...source.matchAll(new RegExp(`\\b${name}\\('([^']+)'\\)`, 'g'))]);
  const require = createRequire(path);
  return calls.map(([, wanted = '']) => require.resolve(wanted)).filter(isAbsolute);
}

/** What Next itself traced for the pages while it built them. */
function pagesFiles(root: string): string[] {
  return readdirSync(join(root, '.next', 'server'), { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith('.nft.json'))
    .flatMap(({ parentPath, name }) => {
      const { files } = JSON.parse(readFileSync(join(parentPath, name), 'utf8')) as { files: string[] };
      return files.map((file) => relative(root, resolve(parentPath, file)));
    })
    .filter((path) => path.startsWith('node_modules/') && !neverLoaded(path));
}
