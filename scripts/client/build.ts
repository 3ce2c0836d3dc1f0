/**
 * Builds the client and the command line as a package for other projects: plain JavaScript with types, which runs on Node 20 and, the
 * client, in browsers. Knows nothing of what they do.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { ROOT } from '../build.ts';

const { name, version, license, dependencies } = packageJson;

/** What the package says of itself. Its version and those of what it needs are the repository's. */
const MANIFEST = {
  name,
  version,
  description:
    'Client and command line of Winterdock, a control plane for agent sandboxes whose whole durable state is one file.',
  license,
  type: 'module',
  engines: { node: '>=20' },
  bin: { winterdock: 'cli/main.js' },
  exports: {
    './client': { types: './api/client.d.ts', default: './api/client.js' },
    './package.json': './package.json',
  },
  // The client's types are zod's; at run time it needs nothing. The command line needs commander.
  dependencies: { commander: dependencies.commander, zod: dependencies.zod },
};

const README = `# winterdock

The client and the command line of Winterdock.

\`\`\`js
import { createClient } from 'winterdock/client';

const dock = createClient({ url: 'http://localhost:3000', key: process.env.WINTERDOCK_KEY });
await dock.createInstance({ id: 'sess-841', tenant: 'acme' });
const { stdout } = await dock.execInInstance('sess-841', { command: 'echo hello' });
// Any bytes go in and come out: stdin may be a Uint8Array, and both outputs are.
const zipped = await dock.execBytes('sess-841', { command: 'gzip', stdin: new Uint8Array([0xff, 0x00]) });
\`\`\`

\`\`\`sh
npx winterdock login localhost:3000
npx winterdock exec sess-841 'echo hello'
\`\`\`
`;

/** Declarations keep the endings of the sources; whoever installs them has no sources. */
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
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(MANIFEST, null, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), README);
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  chmodSync(join(folder, 'cli', 'main.js'), 0o755);
}
