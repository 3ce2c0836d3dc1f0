import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The layers of lib/, lowest first. A file may import its own layer and lower ones. */
const LAYERS = [
  ['lib/lifecycle/'],
  ['lib/base/'],
  ['lib/workbooks/', 'lib/outgoing/'],
  ['lib/vfs/', 'lib/native/file/'],
  ['lib/client/'],
  ['db/', 'lib/registry/'],
  ['lib/claims/'],
  ['lib/secrets/'],
  ['lib/auth/'],
  ['lib/storage/'],
  ['lib/replication/'],
  ['lib/workers/protocol/'],
  ['lib/native/'],
  ['lib/guest/'],
  ['lib/workers/'],
  ['lib/sandboxes/'],
  ['lib/hosts/'],
  ['lib/bundles/'],
  ['lib/copies/'],
  [
    'lib/ledger/',
    'lib/keys/',
    'lib/jobs/',
    'lib/runs/',
    'lib/logs/',
    'lib/terminals/',
    'lib/schedules/',
    'lib/webhooks/',
    'lib/network/',
    'lib/health/',
    'lib/backup/',
  ],
  ['lib/doctor/'],
  ['lib/contract/'],
  ['lib/operations/'],
  ['lib/http/'],
  ['lib/host/'],
  ['lib/front/'],
  ['lib/cli/'],
];

/** What the command line may know of the rest: the contract, the state map, and their words. */
const CLI_KNOWS =
  /^lib\/(cli\/|lifecycle\/|base\/(?:errors|error-status|git-repositories|zoned-time)\.ts$|vfs\/volumes\.ts$|client\/client\.ts$|contract\/(?:schema|typed-filter|recovery-words)\.ts$|(?:workers\/protocol\/policies|auth\/roles)\.ts$)/;
/** What runs in other projects and in browsers: nothing but itself, for its types neither. */
const CLIENT_KNOWS = /^lib\/(client\/|base\/(?:errors|error-status)\.ts$|vfs\/volumes\.ts$)/;

/** Kinds of syntax that name another module, types included. */
const NAMING = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
  'TSExternalModuleReference',
]);

interface SyntaxNode {
  type: string;
  [member: string]: unknown;
}
const isSyntax = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';

/** What a source imports, parsed: comments and texts hide nothing and add nothing. */
function importsOf(text: string, file = 'a.ts'): string[] {
  const found: string[] = [];
  const visit = (node: SyntaxNode): void => {
    const named = NAMING.has(node.type) ? (node.source ?? node.expression) : null;
    if (isSyntax(named)) {
      if (typeof named.value === 'string') found.push(named.value);
      else if (named.type === 'TemplateLiteral') found.push(text.slice(Number(named.start) + 1, Number(named.end) - 1));
    }
    for (const member of Object.values(node)) {
      for (const child of Array.isArray(member) ? member : [member]) if (isSyntax(child)) visit(child);
    }
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file) as unknown as SyntaxNode);
  return found;
}

/** The imports of each file, parsed once. */
const parsed = new Map<string, string[]>();
function importsOfFile(file: string): string[] {
  const known = parsed.get(file) ?? importsOf(readFileSync(join(ROOT, file), 'utf8'), file);
  parsed.set(file, known);
  return known;
}

function layerOf(path: string): number {
  return LAYERS.findIndex((places) =>
    places.some((place) => path === place || (place.endsWith('/') && path.startsWith(place))),
  );
}

/** The one file of the guest's house that the server knows. */
const WAY_IN = 'lib/guest/guest.ts';
/** What the guest's house stands on, beside itself. */
const GUEST_KNOWS = /^lib\/(?:guest|vfs|base\/(?!config)|workbooks|workers\/protocol)/;

/** Why `file` may not import `target` (a path in the repository or a package), or null when it may. */
function forbidden(file: string, target: string): string | null {
  const isTest = /\.(test|spec)\.tsx?$/.test(file) || file.includes('/testing/');
  if (isTest) return null;
  if (file.startsWith('lib/lifecycle/'))
    return target.startsWith('lib/lifecycle/') ? null : 'lifecycle imports nothing';
  if (file.startsWith('lib/cli/') && target.startsWith('lib/') && !CLI_KNOWS.test(target))
    return 'the command line knows only the contract';
  if (file.startsWith('lib/client/') && !CLIENT_KNOWS.test(target)) return 'the client runs anywhere';
  if (file.startsWith('lib/') || file.startsWith('db/')) {
    if (/^(app|components|e2e|scripts)\//.test(target)) return 'the engine knows nothing of its users';
    if (file.startsWith('lib/guest/') && target.startsWith('lib/') && !GUEST_KNOWS.test(target))
      return 'the guest knows the files of sandboxes, the base and the protocol';
    if (!file.startsWith('lib/guest/') && target.startsWith('lib/guest/') && target !== WAY_IN)
      return 'one file is the way into the guest';
    if (file.startsWith('lib/storage/') && target.startsWith('lib/registry/')) return 'drawers know no rows';
    const from = layerOf(file);
    const to = layerOf(target);
    if (to > from) return 'imports point to lower layers only';
    return null;
  }
  if (file.startsWith('components/')) {
    if (target.startsWith('components/') || target.startsWith('lib/lifecycle/')) return null;
    if (
      /^lib\/(contract\/(schema|access|load-limits|(?:recovery|amount|trouble)-words)|client\/(client|call-text|command-lines)|base\/zoned-time)\.ts$/.test(
        target,
      )
    )
      return null;
    return /^(lib|db|app|node:|better-sqlite3|drizzle-orm)/.test(target)
      ? 'components know only the contract, the state map and time zones'
      : null;
  }
  if (file.startsWith('app/')) {
    return /^(db\/|node:(fs|sqlite|child_process)|better-sqlite3|drizzle-orm|lib\/(registry|storage|workers|guest|sandboxes)\/)/.test(
      target,
    )
      ? 'pages never touch SQL, files or processes'
      : null;
  }
  return null;
}

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return relative(ROOT, resolve(ROOT, dirname(file), specifier));
  return specifier.startsWith('#') ? specifier.slice(1) : specifier;
}

test('every import points to a lower layer, and every file of lib has a layer', () => {
  const files = ['lib', 'app', 'components', 'db'].flatMap(sources);
  const wrong = files.flatMap((file) =>
    importsOfFile(file).flatMap((specifier) => {
      const target = targetOf(file, specifier);
      const why = forbidden(file, target);
      return why === null ? [] : [`${file} imports ${target}: ${why}`];
    }),
  );
  expect(wrong).toEqual([]);
  const layerless = files.filter(
    (file) => file.startsWith('lib/') && !file.endsWith('.test.ts') && !file.includes('/testing/'),
  );
  expect(layerless.filter((file) => layerOf(file) < 0)).toEqual([]);
});

test('docs/code.md names every folder of lib in the order of the layers', () => {
  const table =
    readFileSync(join(ROOT, 'docs', 'code.md'), 'utf8')
      .split('## The layers')[1]
      ?.split('## ')[0] ?? '';
  const cells = table
    .split('\n')
    .filter((line) => line.startsWith('| `lib/'))
    .map((line) => line.split(' | ')[0] ?? '');
  const named = cells.flatMap((cell) =>
    [...cell.matchAll(/`(lib\/(?:native\/file|[a-z]+(?:\/protocol)?))/g)].map(([, name = '']) => name),
  );
  const places = named.map((name) => layerOf(`${name}/`));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  const folders = LAYERS.flat().filter((place) => place.startsWith('lib/'));
  expect([...new Set(named)].toSorted()).toEqual(folders.map((place) => place.slice(0, -1)).toSorted());
});

/** Groups of files that import each other, directly or through others (Tarjan's strongly connected components). */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): void => {
    const own = index.size;
    index.set(file, own);
    low.set(file, own);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(low.get(file) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(file) !== own) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || graph.get(file)?.includes(file)) found.push(group.toSorted());
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return found;
}

test('drawers are built in one place, and no path leads into one but in its driver', () => {
  const files = sources('lib').filter((file) => !/\.test\.ts$/.test(file) && !file.includes('/testing/'));
  const having = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(having(/createDiskDrawers|createColdDrawer|createArchiveDrawer/)).toEqual([
    'lib/host/drawers.ts',
    'lib/storage/disk.ts',
  ]);
  expect(having(/join\([^)]*'(?:cold|snapshots|blueprints)'|[`'](?:cold|snapshots|blueprints)\/\$\{/)).toEqual([]);
});

test('registries are opened in one place, and only their driver knows that there is a file', () => {
  const files = ['lib', 'scripts', 'app', 'e2e'].flatMap(sources).filter((file) => file !== 'lib/layers.test.ts');
  const having = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join(ROOT, file), 'utf8')));
  // A backup goes into a database by way of a file of this version.
  expect(having(/openSqliteRegistry/)).toEqual([
    'lib/registry/postgres/driver.ts',
    'lib/registry/sqlite/driver.ts',
    'lib/registry/sqlite/open.ts',
  ]);
  expect(
    having(/openRegistryFile|openLiveReader|openLedgerFile/).filter(
      (file) => !/registry\/(?:sqlite|postgres)\//.test(file),
    ),
  ).toEqual([]);
  expect(having(/sqliteFileDriver|memoryDriver/)).toEqual(['lib/registry/drivers.ts', 'lib/registry/sqlite/driver.ts']);
  const named = files.filter((file) => !/\.test\.ts$/.test(file) && !file.includes('/testing/'));
  expect(named.filter((file) => /registryPath/.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
});

test('no imports form a circle, types included', () => {
  const files = ['lib', 'app', 'components', 'db']
    .flatMap(sources)
    .filter((file) => !/\.(test|spec)\.tsx?$/.test(file) && !file.includes('/testing/'));
  const graph = new Map(
    files.map((file) => [
      file,
      importsOfFile(file)
        .map((specifier) => targetOf(file, specifier))
        .filter((target) => files.includes(target)),
    ]),
  );
  expect(circles(graph)).toEqual([]);
});

test('a circle is found, also through a third file', () => {
  const found = circles(new Map(Object.entries({ a: ['b'], b: ['c'], c: ['a'], d: ['a'] })));
  expect(found).toEqual([['a', 'b', 'c']]);
});

test('imports are found whatever stands in them, and texts and comments are none', () => {
  const found =
    importsOf(`import type { A } from './a.ts'; export * from './b.ts'; export { c } from './c.ts'; import './d.ts';
    const e = await import(/* bundler: ignore */ /* it */ './e.ts'), f = import(\`./f.ts\`); type G = import('./g.ts').G;
    // import './not.ts'
    const text = "import './nor.ts'", template = \`import('./neither.ts')\`;`);
  expect(found).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `./${name}.ts`));
});

test('a forbidden import of each kind is found', () => {
  const found = (file: string, text: string) =>
    importsOf(text).some((specifier) => forbidden(file, targetOf(file, specifier)) !== null);
  expect(found('lib/lifecycle/state-map.ts', "import { z } from 'zod';")).toBe(true);
  expect(found('lib/vfs/vfs.ts', "import type { Registry } from '../registry/registry.ts';")).toBe(true);
  expect(found('lib/sandboxes/moves/wake.ts', "export * from '../../contract/schema.ts';")).toBe(true);
  expect(found('lib/guest/worker/worker.ts', "const { readConfig } = await import('../../base/config.ts');")).toBe(
    true,
  );
  expect(found('lib/workers/pool.ts', "import { Shell } from '../guest/shell/shell.ts';")).toBe(true);
  expect(found('lib/guest/shell/shell.ts', "import { createPool } from '../../workers/pool.ts';")).toBe(true);
  expect(found('lib/guest/shell/shell.ts', "import { guarded } from '../../outgoing/guard.ts';")).toBe(true);
  expect(found('lib/workers/process.ts', "import { WORKER_ENTRY } from '../guest/guest.ts';")).toBe(false);
  expect(found('components/list.tsx', "import {\n  getHost,\n} from '#lib/host/host.ts';")).toBe(true);
  expect(found('app/page.tsx', "import { readFile } from 'node:fs/promises';")).toBe(true);
  expect(found('app/page.tsx', "import Database from 'better-sqlite3';")).toBe(true);
  expect(found('lib/cli/main.ts', "import { createHost } from '../host/compose.ts';")).toBe(true);
  expect(found('lib/auth/sign-ins.ts', "import { now } from '../sandboxes/engine.ts';")).toBe(true);
  expect(found('lib/storage/disk.ts', "import type { Registry } from '../registry/registry.ts';")).toBe(true);
  expect(found('lib/client/transport.ts', "import { request } from 'node:http';")).toBe(true);
  expect(found('lib/client/client.ts', "import type { Operations } from '../operations/operations.ts';")).toBe(true);
  expect(found('lib/cli/main.ts', "import { createClient } from '../client/client.ts';")).toBe(false);
  expect(found('lib/registry/sqlite/open.ts', "import { STATES } from '../lifecycle/state-map.ts';")).toBe(false);
  expect(found('components/list.tsx', "import type { Instance } from '#lib/contract/schema.ts';")).toBe(false);
});
