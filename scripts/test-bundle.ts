/**
 * Bundles the programs that tests start hundreds of times – the server, the scripts, the processes that tests kill –
 * into `dist/tests`: half of the processor time of a start is the loading of five hundred modules. The code is the
 * same; lib/testing/program.ts says which file a test starts. Other tests start the same programs from their sources.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { BUNDLED_PROGRAMS, bundledName } from '../lib/testing/program.ts';
import { ROOT } from './build.ts';

const PROGRAMS = [
  'lib/backup/testing/carry-victim.ts',
  'lib/cli/main.ts',
  'lib/front/server.ts',
  'lib/keys/testing/victim.ts',
  'lib/registry/testing/make-database.ts',
  'lib/runs/testing/victim.ts',
  'lib/schedules/testing/victim.ts',
  'lib/sandboxes/testing/restore-victim.ts',
  'lib/sandboxes/testing/victim.ts',
  'lib/testing/copies-victim.ts',
  'lib/testing/forget-victim.ts',
  'lib/webhooks/testing/victim.ts',
  'scripts/backup.ts',
  'scripts/doctor.ts',
  'scripts/keys.ts',
  'scripts/ledger-verify.ts',
  'scripts/migrate-registry.ts',
  'scripts/restore.ts',
];
const PARENT = join(ROOT, 'dist', 'tests');
const DRIZZLE = join(ROOT, 'db', 'drizzle.ts');
const NAME_LENGTH = 16;
/** How long an earlier bundle is kept, in milliseconds: a run that started on it may go on. */
const KEEP_MS = 3_600_000;

/** Packages that stay outside: native, loaded by few programs, or themselves looking for files beside them. */
const EXTERNAL = /^(?:node:|better-sqlite3|better-auth|pino|next(?:\/|$)|just-bash|quickjs-emscripten|sql\.js)/;

/** What a source knows of its own place stays true. */
function placesOfSources(): Plugin {
  return {
    name: 'places-of-sources',
    transform(code, id) {
      const isOurs = id.startsWith(ROOT) && !id.includes('/node_modules/');
      if (!isOurs || !/import\.meta|__dirname/.test(code)) return null;
      return code
        .replaceAll('__dirname', JSON.stringify(dirname(id)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)));
    },
  };
}

/** drizzle is loaded as CommonJS, which a bundler does not follow; here it is imported. */
function importedDrizzle(): Plugin {
  return {
    name: 'imported-drizzle',
    transform(code, id) {
      if (id !== DRIZZLE) return null;
      const imports: string[] = [];
      const loaded = code.replaceAll(/\bload\(['"]([^'"]+)['"]\)/g, (_, name: string) => {
        imports.push(`import * as $drizzle${imports.length} from ${JSON.stringify(name)};`);
        return `$drizzle${imports.length - 1}`;
      });
      return imports.join('') + loaded;
    },
  };
}

/** Bundles all programs. Returns the absolute path of the folder. Throws what the bundler throws. */
export async function bundlePrograms(): Promise<string> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(PROGRAMS.map((path) => [bundledName(join(ROOT, path)), path])),
    platform: 'node',
    external: EXTERNAL,
    resolve: { conditionNames: ['node', 'import'] },
    plugins: [importedDrizzle(), placesOfSources()],
  });
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  });
  await bundle.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  const hash = createHash('sha256');
  for (const { fileName, code } of chunks) hash.update(`${fileName}\0${code}\0`);
  const folder = join(PARENT, hash.digest('hex').slice(0, NAME_LENGTH));
  if (!existsSync(folder)) {
    const making = `${folder}.${process.pid}`;
    mkdirSync(making, { recursive: true });
    for (const { fileName, code } of chunks) writeFileSync(join(making, fileName), code);
    try {
      renameSync(making, folder);
    } catch (error) {
      // Another run was quicker.
      rmSync(making, { recursive: true });
      if (!existsSync(folder)) throw error;
    }
  }
  for (const name of readdirSync(PARENT)) {
    const path = join(PARENT, name);
    if (path !== folder && Date.now() - statSync(path).mtimeMs > KEEP_MS) rmSync(path, { recursive: true });
  }
  return folder;
}

/** Bundles the programs for the tests that this process and its children run, unless one of its parents did. */
export async function ensureTestBundle(): Promise<void> {
  process.env[BUNDLED_PROGRAMS] ??= await bundlePrograms();
}

// Also when bin/run.cjs has imported it.
if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(`${relative(ROOT, await bundlePrograms())}\n`);
