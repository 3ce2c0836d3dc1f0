/**
 * Builds the client and the command line as a package for other projects: plain JavaScript with types, which runs on
 * Node 20 and, the client, in browsers. Knows nothing of what they do.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { ROOT } from '../build.ts';

const { name, version, license, dependencies } = packageJson;

/** What other projects import: the name in the package, and its file. */
const ENTRIES = {
  client: 'client/client',
  sandbox: 'client/sandbox',
  'ai-sdk': 'client/adapters/ai-sdk',
  computesdk: 'client/adapters/computesdk',
  deepagents: 'client/adapters/deepagents',
  'openai-agents': 'client/adapters/openai-agents',
};

/** The frameworks of the adapters. Who has none of them installs none: an adapter imports nothing of its framework. */
const FRAMEWORKS = { '@openai/agents': '>=0.20', ai: '>=7', computesdk: '>=4', deepagents: '>=1.14' };

/** The package's own package.json. Versions are the repository's. */
const MANIFEST = {
  name,
  version,
  description:
    'Client and command line of Winterdock, a control plane for agent sandboxes whose whole durable state is one file.',
  license,
  type: 'module',
  // The client needs what Node 20 has; the command line what commander's line for it has.
  engines: { node: '>=20' },
  bin: { winterdock: 'cli/main.js' },
  exports: {
    ...Object.fromEntries(
      Object.entries(ENTRIES).map(([entry, path]) => [
        `./${entry}`,
        { types: `./${path}.d.ts`, default: `./${path}.js` },
      ]),
    ),
    './package.json': './package.json',
  },
  // The client needs nothing, neither at run time nor for its types. The command line needs commander.
  dependencies: { commander: dependencies.commander },
  peerDependencies: FRAMEWORKS,
  peerDependenciesMeta: Object.fromEntries(Object.keys(FRAMEWORKS).map((framework) => [framework, { optional: true }])),
};

const README = `# winterdock

The client and the command line of Winterdock.

\`\`\`js
import { Sandbox } from 'winterdock/sandbox';

const box = await Sandbox.create();
await box.commands.run('for n in 1 2 3; do echo $n; sleep 1; done', { onStdout: (text) => process.stdout.write(text) });
await box.files.write('note', 'hello');
await box.suspend();
\`\`\`

Sandboxes for agent frameworks, each to be installed beside it: \`winterdock/ai-sdk\`, \`winterdock/deepagents\`,
\`winterdock/openai-agents\` and \`winterdock/computesdk\`.

Every operation of the server, one method each:

\`\`\`js
import { createClient } from 'winterdock/client';

const dock = createClient();
await dock.createInstance({ id: 'sess-841', tenant: 'acme' });
const { stdout } = await dock.execInInstance('sess-841', { command: 'echo hello' });
// Any bytes go in and come out: stdin may be a Uint8Array, and both outputs are.
const zipped = await dock.execBytes('sess-841', { command: 'gzip', stdin: new Uint8Array([0xff, 0x00]) });
\`\`\`

\`\`\`sh
npx winterdock login localhost:3000
npx winterdock exec sess-841 'echo hello'
\`\`\`

Where the server is and with which key, both take from \`WINTERDOCK_URL\` and \`WINTERDOCK_KEY\` in the environment when it is not said
(\`createClient({ url, key })\`, \`--url\`); else the server is this machine, or, of the command line, the current context.
`;

/** The imports of a file of the package: static, bare or dynamic. */
export const IMPORT =
  /^(?:import|export)\s[^;]*?from ['"]([^'"]+)['"]|^import ['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;

/** Removes files that the entries do not reach: the compiler writes those that only types need too. */
function removeUnreached(folder: string, entries: readonly string[]): void {
  const reached = new Set<string>();
  const walk = (path: string) => {
    if (reached.has(path) || !existsSync(path)) return;
    reached.add(path);
    const isDeclaration = path.endsWith('.d.ts');
    for (const [, from, bare, called] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
      const target = from ?? bare ?? called ?? '';
      if (target.startsWith('.')) {
        walk(join(dirname(path), isDeclaration ? target.replace(/\.js$/, '.d.ts') : target));
      }
    }
  };
  for (const entry of entries) walk(join(folder, entry));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !reached.has(path)) rmSync(path);
  }
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted().reverse()) {
    const path = join(folder, name);
    if (statSync(path).isDirectory() && readdirSync(path).length === 0) rmdirSync(path);
  }
}

/** Declarations import `.ts` files; the package has `.js` files. */
function rewriteEndings(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.d.ts')) continue;
    const path = join(entry.parentPath, entry.name);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(/((?:from|import)\s*\(?\s*['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'),
    );
  }
}

/** Builds into `folder`, which is emptied first. Throws with the compiler's words when it does not compile. */
export function buildClient(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const tsc = spawnSync(join(ROOT, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.client.json', '--outDir', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (tsc.status !== 0) throw new Error(`The client did not build:\n${tsc.stdout}${tsc.stderr}`);
  rewriteEndings(folder);
  const entries = Object.values(ENTRIES).flatMap((entry) => [`${entry}.js`, `${entry}.d.ts`]);
  removeUnreached(folder, [...entries, 'cli/main.js']);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(MANIFEST, null, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), README);
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  chmodSync(join(folder, 'cli', 'main.js'), 0o755);
}
