/**
 * Makes the folder that runs elsewhere: Node, the traced sources and packages, the built console, and what is read by
 * computed names. Owns its layout; builds nothing.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUNDLE_LIST, BUNDLES, currentBundle } from '../../lib/base/bundled.ts';
import { tracedFiles } from './trace.ts';

/** What the whole folder may take, Node included, in bytes. */
export const MOST_BYTES = 350 * 1024 * 1024;

const LAUNCHER = fileURLToPath(new URL('./winterdock.sh', import.meta.url));

/** What programs in JavaScript load of Node's interface, and what that loads. */
const GUEST_PACKAGES = [
  ...['base64-js', 'buffer', 'events', 'ieee754', 'node-inspect-extracted', 'path-browserify', 'readable-stream'],
  'string_decoder',
];

/** Read at run time by names that are computed, which no trace finds. */
function computedNames(): string[] {
  const bundle = currentBundle();
  return [
    ...(bundle === null ? [] : [bundle, join(BUNDLES, BUNDLE_LIST)]),
    'db/migrations',
    'examples',
    'lib/guest/javascript/guest',
    ...GUEST_PACKAGES.map((name) => `node_modules/${name}`),
    'node_modules/just-bash/dist/bundle/chunks',
    'node_modules/just-bash/vendor',
    'node_modules/sql.js/dist/sql-wasm.wasm',
    'node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3.wasm',
    `node_modules/better-sqlite3/prebuilds/${process.platform}-${process.arch}.node`,
  ];
}

/** What comes along for whoever runs it. */
const ALONG = [
  'LICENSE',
  'Caddyfile',
  'docs/cli.md',
  'docs/operations.md',
  'docs/security.md',
  'docs/settings.md',
  'winterdock.service',
];

/** What of the console's build only a builder reads. */
const OF_THE_BUILD = new Set(['build', 'cache', 'dev', 'diagnostics', 'trace', 'trace-build', 'turbopack', 'types']);
const OF_A_RUN = join('server', 'route-cache');

/**
 * Makes `target` of the repository at `root`, whose console is built. Returns its size in bytes. Throws when `target`
 * is there already, or when something that is read at run time is missing.
 */
export async function makePackage(root: string, target: string): Promise<number> {
  if (existsSync(target)) throw new Error(`${target} is there already.`);
  const take = (path: string) => cpSync(join(root, path), join(target, path), { recursive: true, dereference: true });
  const traced = await tracedFiles(root);
  for (const path of [...traced, ...computedNames(), ...ALONG, ...licences(root, traced)]) take(path);
  cpSync(join(root, 'public'), join(target, 'public'), { recursive: true });
  takeConsole(join(root, '.next'), join(target, '.next'));
  takeNode(join(target, 'runtime'));
  cpSync(LAUNCHER, join(target, 'bin', 'winterdock'));
  writeFileSync(join(target, 'package.json'), manifest(root));
  return tidy(target);
}

/** The console as it was built, without what building it left. */
function takeConsole(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    filter(path) {
      const inside = path.slice(from.length + 1);
      if (OF_THE_BUILD.has(inside.split(sep)[0] ?? '') || inside.startsWith(OF_A_RUN)) return false;
      return !/\.(map|nft\.json)$/.test(path);
    },
  });
}

/** The Node that this runs on, which is the pinned one, with its licence. */
function takeNode(folder: string): void {
  mkdirSync(folder, { recursive: true });
  cpSync(process.execPath, join(folder, 'node'), { dereference: true });
  const licence = join(dirname(dirname(process.execPath)), 'LICENSE');
  if (existsSync(licence)) cpSync(licence, join(folder, 'LICENSE'));
}

/** The licence of every package of which something is taken. */
function licences(root: string, traced: Set<string>): string[] {
  const packages = new Set(
    [...traced].flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []),
  );
  return [...packages].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => /^(licen[cs]e|notice|copying)/i.test(name) && statSync(join(root, folder, name)).isFile())
      .map((name) => `${folder}/${name}`),
  );
}

/** What Node and the command line read of package.json; nothing in it can be installed or run by npm. */
function manifest(root: string): string {
  const { name, version, description, license, type, imports } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return `${JSON.stringify({ name, version, description, license, private: true, type, imports }, null, 2)}\n`;
}

/**
 * Lets everybody read and its owner alone write, whoever made it with whatever umask. Returns how much it is, in bytes.
 */
function tidy(target: string): number {
  let bytes = 0;
  chmodSync(target, 0o755);
  for (const entry of readdirSync(target, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const runs =
      entry.isDirectory() || path === join(target, 'runtime', 'node') || path === join(target, 'bin', 'winterdock');
    chmodSync(path, runs ? 0o755 : 0o644);
    if (entry.isFile()) bytes += statSync(path).size;
  }
  return bytes;
}

/** Throws when something lies at `target` that no earlier packaging made. */
export function refuseOther(target: string): void {
  const earlier = existsSync(join(target, 'bin', 'winterdock')) && existsSync(join(target, 'runtime', 'node'));
  if (existsSync(target) && !earlier && readdirSync(target).length > 0) {
    throw new Error(`${target} is there and is no package of Winterdock, so it is not replaced.`);
  }
}
