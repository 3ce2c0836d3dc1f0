import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildDebian, cannotBuild } from './debian.ts';
import { ROOT_RECIPES } from './recipes.ts';
import { Roots } from './roots.ts';

/** Kept between runs, as it is made of what the network has. */
const KEPT = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'winterdock-roots');
const NO_ARCHIVE = /could not resolve|temporary failure|failed to fetch|unable to connect|could not connect/i;
const BUILD_MS = 1_200_000;
const NAME = 'test';

const folder = mkdtempSync(join(tmpdir(), 'winterdock-debian-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const problem = cannotBuild();
const notRun = (why: string) =>
  process.stdout.write(`Not run: lib/native/roots/debian.test.ts, which builds a root: ${why}.\n`);
if (problem !== null) notRun(problem);

/** The least system; null where no archive of packages can be reached. */
async function built(): Promise<{ roots: Roots; folder: string } | null> {
  const roots = new Roots(KEPT);
  const kept = roots.list().find(({ name }) => name === NAME);
  if (kept !== undefined) return { roots, folder: kept.folder };
  try {
    const made = await roots.build(NAME, (at) => buildDebian({ folder: at, packages: [], variant: 'essential' }), 1000);
    return { roots, folder: made.folder };
  } catch (error) {
    if (!NO_ARCHIVE.test(String(error))) throw error;
    notRun('no archive of packages can be reached');
    return null;
  }
}

test.skipIf(problem !== null)(
  'a root is a whole system by itself, has nothing of this machine, and is as it was built',
  async () => {
    const root = await built();
    if (root === null) return;
    const run = (script: string) =>
      execFileSync('chroot', [root.folder, '/bin/bash', '-c', script], {
        encoding: 'utf8',
        env: { NODE_ENV: 'test', PATH: '/usr/sbin:/usr/bin' },
      });
    expect(run('echo $((6*7)); ls /usr/bin/perl').split('\n')).toEqual(['42', '/usr/bin/perl', '']);
    for (const name of [
      'etc/resolv.conf',
      'etc/machine-id',
      'etc/hostname',
      'var/log',
      'var/lib/apt/lists',
      'etc/apt/sources.list',
    ])
      expect([name, existsSync(join(root.folder, name))]).toEqual([name, false]);
    expect(readdirSync(join(root.folder, 'tmp'))).toEqual([]);
    expect(await root.roots.verify(NAME)).toEqual([]);
  },
  BUILD_MS,
);

test.skipIf(problem !== null)(
  'a build that fails says so in the words of mmdebstrap, and one that is stopped ends',
  async () => {
    const [taken, stopped] = [join(folder, 'taken'), join(folder, 'stopped')];
    mkdirSync(join(taken, 'usr'), { recursive: true });
    await expect(buildDebian({ folder: taken, packages: [] })).rejects.toThrow(/mmdebstrap failed: .*empty/);
    const abort = new AbortController();
    // Its first words: it has begun.
    const onProgress = () => abort.abort(new Error('stopped'));
    const { signal } = abort;
    await expect(buildDebian({ folder: stopped, packages: [], onProgress, signal })).rejects.toThrow('stopped');
  },
);

test('the recipes have what their description names', () => {
  for (const name of [
    'bash',
    'git',
    'python3',
    'python3-pip',
    'python3-venv',
    'python3-pytest',
    'nodejs',
    'npm',
    'ripgrep',
    'jq',
    'sqlite3',
    'zip',
    'make',
  ])
    expect(ROOT_RECIPES.base).toContain(name);
  expect(ROOT_RECIPES.dev).toEqual([...(ROOT_RECIPES.base ?? []), 'build-essential']);
});
