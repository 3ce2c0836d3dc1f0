/**
 * `WB_REGISTRY` that leads to no registry: the start ends with exit code 3 and one line that names the registry, and
 * makes, locks and changes nothing.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { programOf } from '../lib/testing/program.ts';
import { TEST_KEY } from '../lib/testing/server.ts';

/** Each test starts a process. */

const SERVER = programOf(fileURLToPath(new URL('../lib/front/server.ts', import.meta.url)));
/** Nobody, in every Linux. */
const USER = 65_534;
const AS_USER = ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'];
const canChange = process.getuid?.() === 0 && spawnSync('setpriv', [...AS_USER.slice(1), 'true']).status === 0;

let root: string;
let server: ServerProcess | null = null;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-wrong-'));
  mkdirSync(join(root, 'data/live'), { recursive: true, mode: 0o755 });
});
afterEach(async () => {
  await server?.end('SIGKILL');
  server = null;
  rmSync(root, { recursive: true, force: true });
});

const at = (name: string) => join(root, name);
/** Makes something there, and returns its path. */
function made(name: string, make: (path: string) => unknown): string {
  make(at(name));
  return at(name);
}
const database = (statements: string) => (path: string) => {
  const other = new DatabaseSync(path);
  other.exec(statements);
  other.close();
};

function everything(): string[] {
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
    .map(({ entry, path }) => {
      const bytes = entry.isFile() ? readFileSync(path).toString('base64') : '';
      return `${path} ${lstatSync(path).mode.toString(8)} ${bytes}`;
    })
    .sort();
}

/** Starts a server that is to be refused, and returns what it said. */
function refused(registry: string, within: readonly string[] = []): string {
  const before = everything();
  const [command = process.execPath, ...args] = [...within, process.execPath, SERVER, '--api-only'];
  const { status, stdout, stderr } = spawnSync(command, args, {
    env: {
      ...process.env,
      WB_DATA: at('data'),
      WB_REGISTRY: registry,
      WB_ADMIN_KEY: TEST_KEY,
      WB_POOL: '0',
      PORT: '0',
    },
    encoding: 'utf8',
    timeout: 240_000,
  });
  expect({ status, stdout }, stderr).toEqual({ status: 3, stdout: '' });
  expect(everything()).toEqual(before);
  return stderr.replace(/^Warning: Ignoring extra certs.*\n/m, '');
}

const starts = async (registry: string) => {
  server = await spawnServer({ folder: at('data'), settings: { WB_REGISTRY: registry } });
  expect((await server.call('GET', '/readyz')).status).toBe(200);
};

test.each<[string, RegExp, () => string]>([
  ['a folder', /is a folder\. Set WB_REGISTRY/, () => made('r', mkdirSync)],
  [
    'a path through a file',
    /cannot be made: \S+\/file is no folder\./,
    () => `${made('file', (path) => writeFileSync(path, ''))}/r`,
  ],
  ['a pipe', /is no file\./, () => made('pipe', (path) => spawnSync('mkfifo', [path]))],
  ['a circle of links', /is a link to \S+, and nothing is there/, () => made('o', (path) => symlinkSync(path, path))],
  [
    'a link to a disk that is not mounted',
    /is a link to \S+\/disk\/r\.sqlite, and nothing is there\. Mount the disk/,
    () => made('link', (path) => symlinkSync(at('disk/r.sqlite'), path)),
  ],
  [
    'another program’s database without tables',
    /is a database of something else: it has no tables/,
    () => made('other', database('CREATE TABLE t(x); DROP TABLE t')),
  ],
  [
    'another program’s database with a number of its own and a log',
    /is a database of something else: it has no tables/,
    () => made('other', database('PRAGMA journal_mode = WAL; PRAGMA application_id = 1196444487')),
  ],
  [
    'another program’s tables',
    /is a database of something else: it has tables/,
    () => made('other', database('CREATE TABLE t(x)')),
  ],
])('%s is no registry', async (_, why, make) => {
  const said = refused(make());
  expect(said).toMatch(why);
  expect(said).toMatch(/^The registry .*\n$/);
  expect(said).not.toContain('data folder');
});

test('an empty file is a registry that nobody began, also behind a link, and one that was begun starts', async () => {
  mkdirSync(at('disk'));
  writeFileSync(at('disk/r.sqlite'), '');
  symlinkSync(at('disk/r.sqlite'), at('link'));
  await starts(at('link'));
  await server?.end();
  rmSync(at('data'), { recursive: true });
  await starts(made('begun', database('PRAGMA page_size = 2048; PRAGMA journal_mode = WAL')));
});

// Only an administrator can take the rights of others.
test.runIf(canChange)('a registry that the server’s user cannot write is named, and not the data folder', () => {
  for (const folder of ['', 'data', 'data/live']) chownSync(at(folder), USER, USER);
  mkdirSync(at('closed'), { mode: 0o755 });
  expect(refused(at('closed/r'), AS_USER)).toMatch(
    /cannot be kept: its folder \S+\/closed cannot be written by this user/,
  );
  expect(refused(at('closed/deeper/r'), AS_USER)).toMatch(/its folder \S+\/closed cannot be written/);
  writeFileSync(at('r'), '', { mode: 0o600 });
  expect(refused(at('r'), AS_USER)).toMatch(/cannot be read and written by this user/);
  mkdirSync(at('shut'));
  chmodSync(at('shut'), 0o700);
  expect(refused(at('shut/r'), AS_USER)).toMatch(/cannot be looked at \(EACCES/);
});
