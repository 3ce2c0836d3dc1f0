import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { observeEffects } from '../base/effects.ts';
import { compileCacheFolder, isEmptyFolder } from './compile-cache.ts';
import { createPool } from './pool.ts';
import { startWorker } from './process.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-compiled-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('compiled code is kept for this version of the code, and for another as long as it may still run', () => {
  const [old, other] = [join(folder, 'an-older-version'), join(folder, 'another-version')];
  mkdirSync(old);
  mkdirSync(other);
  const dayBefore = Date.now() / 1000 - 86_500;
  utimesSync(old, dayBefore, dayBefore);
  const mine = compileCacheFolder(folder);
  expect([existsSync(old), existsSync(other)]).toEqual([false, true]);
  expect(isEmptyFolder(mine)).toBe(true);
  mkdirSync(join(mine, 'v24'));
  expect(compileCacheFolder(folder)).toBe(mine);
  expect(isEmptyFolder(mine)).toBe(false);
});

test.runIf(process.getuid?.() === 0)(
  'what another user’s workers compiled for an older version is left where it is',
  () => {
    const old = join(folder, 'an-older-version-60600');
    mkdirSync(old, { mode: 0o700 });
    writeFileSync(join(old, 'compiled'), '');
    const dayBefore = Date.now() / 1000 - 86_500;
    utimesSync(old, dayBefore, dayBefore);
    chmodSync(folder, 0o777);
    const source = JSON.stringify(join(import.meta.dirname, 'compile-cache.ts'));
    const script = `console.log((await import(${source})).compileCacheFolder(${JSON.stringify(folder)}))`;
    const plainUser = ['--reuid=61000', '--regid=61000', '--clear-groups', process.execPath];
    const run = spawnSync('setpriv', [...plainUser, '--no-warnings', '--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    expect(run).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(folder) });
    expect(existsSync(join(old, 'compiled'))).toBe(true);
  },
);

test.runIf(process.getuid?.() === 0)(
  'a user has folders of their own where root’s server has made the usual ones',
  () => {
    const source = JSON.stringify(join(import.meta.dirname, 'compile-cache.ts'));
    const script = `const { compileCacheFolder, isEmptyFolder, serverCompileCacheFolder } = await import(${source});
    const folders = [compileCacheFolder, serverCompileCacheFolder].map((made) => made(${JSON.stringify(folder)}));
    console.log(JSON.stringify([...folders, ...folders.map(isEmptyFolder)]));`;
    const run = (...within: string[]) => {
      const [file = '', ...args] = [...within, process.execPath, '--no-warnings', '--input-type=module', '-e', script];
      const { stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' });
      expect(stderr).toBe('');
      return JSON.parse(stdout) as [string, string, boolean, boolean];
    };
    chmodSync(folder, 0o777);
    const [code, server] = run();
    const plainUser = ['setpriv', '--reuid=61000', '--regid=61000', '--clear-groups'];
    expect(run(...plainUser)).toEqual([`${code}-61000`, `${server}-61000`, true, true]);
  },
);

test('this version is kept although another server has a clock that is days behind', () => {
  const dayBefore = Date.now() / 1000 - 86_500;
  observeEffects({
    after({ kind, path }) {
      if (kind === 'mode') utimesSync(path, dayBefore, dayBefore);
    },
  });
  try {
    expect(isEmptyFolder(compileCacheFolder(folder))).toBe(true);
  } finally {
    observeEffects(null);
  }
});

test('a folder of this version that another user’s workers write is kept, although its time is days behind', () => {
  const mine = compileCacheFolder(folder, 61_000);
  const dayBefore = Date.now() / 1000 - 86_500;
  utimesSync(mine, dayBefore, dayBefore);
  compileCacheFolder(folder);
  expect(existsSync(mine)).toBe(true);
});

test('a folder that was removed meanwhile is an empty one', () => {
  expect(isEmptyFolder(join(folder, 'removed'))).toBe(true);
});

test('the code is compiled before the first worker that may serve a sandbox is started', async () => {
  const none = createPool({ size: 0, maxActive: 1, dataFolder: folder });
  await none.start();
  await none.stop();
  const cache = compileCacheFolder(join(folder, 'cache'));
  const compiled = () => readdirSync(cache, { recursive: true }).sort();
  const first = compiled();
  // The folder of this version of Node, and in it the entry and each chunk that a first call loads.
  expect(first.length).toBeGreaterThan(5);
  const one = createPool({ size: 1, maxActive: 1, dataFolder: folder });
  await one.start();
  await one.stop();
  expect(compiled()).toEqual(first);
});

test('a worker starts although the compile cache was deleted while its server ran', async () => {
  const pool = createPool({ size: 0, maxActive: 1, dataFolder: folder });
  await pool.start();
  rmSync(join(folder, 'cache'), { recursive: true });
  mkdirSync(join(folder, 'live', 'a'));
  const file = join(folder, 'live', 'a', 'vfs.sqlite');
  const a = pool.open({ id: 'a', file, policy: 'minimal', maxBytes: 1e7, maxFileBytes: 1e6, mustExist: false });
  expect(await a.exec({ command: 'echo up' })).toMatchObject({ stdout: 'up\n' });
  await pool.stop();
});

test('a worker that cannot rehearse waits for its file all the same', async () => {
  vi.stubEnv('WB_TEST_REHEARSALS', undefined);
  const cacheFolder = join(folder, 'cache');
  const spillFolder = join(folder, 'spill');
  const worker = startWorker({ dataFolder: folder, spillFolder, cacheFolder, maxStartMs: 120_000 });
  try {
    await worker.ready;
    // Before the first rehearsal, whose file would lie there.
    rmSync(cacheFolder, { recursive: true });
    expect(await Promise.race([worker.exited, pause(1000, 'it waits')])).toBe('it waits');
  } finally {
    vi.unstubAllEnvs();
    worker.child.kill('SIGKILL');
    await worker.exited;
  }
});
