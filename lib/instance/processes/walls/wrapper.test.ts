import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { processStat, STAT } from '../../../base/process-stat.ts';
import { WALLS } from '../../../base/walls.ts';
import { isRunning } from '../../testing/stage.ts';
import { startWorker, startWorkerProcess } from '../process.ts';
import { buildWalls } from './walls.ts';

const folder = mkdtempSync(join(tmpdir(), 'winterdock-wrapper-'));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

function givesNamespaces(): boolean {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  return spawnSync('unshare', [...user, '--pid', '--fork', 'true']).status === 0;
}

test('a wrapper’s pid never takes the place of the worker’s: such a worker does not start', async () => {
  const options = {
    dataFolder: folder,
    spillFolder: join(folder, 'spill'),
    cacheFolder: process.env.WB_CACHE ?? join(folder, 'cache'),
    maxStartMs: 30_000,
    // It forks and waits: its own memory never grows.
    walls: { command: ['/bin/sh', '-c', '"$@"; exit $?', 'sh'], user: null },
  };
  const worker = startWorker(options);
  await expect(worker.ready).rejects.toThrow(/its process is not the one that was started/);
  expect(await worker.exited).toBe('SIGKILL');
});

test('a wrapper that has begun something else does not pass for its worker', async () => {
  const options = {
    dataFolder: folder,
    spillFolder: join(folder, 'spill'),
    cacheFolder: process.env.WB_CACHE ?? join(folder, 'cache'),
    maxStartMs: 30_000,
    // The worker is its grandchild, and has the id that it says.
    walls: { command: ['/bin/sh', '-c', '(("$@"); true); true', 'sh'], isWrapped: true, user: null },
  };
  const worker = startWorker(options);
  await expect(worker.ready).rejects.toThrow(/its process is not the one that was started/);
  await worker.exited;
});

/** Native code in place of a worker: it forks twice, so that nothing waits for what it leaves. */
const FORKS = `$0 = 'x'; for (1..3) { next if fork(); fork() and exit; exec('/bin/sleep', $ARGV[0]) }
  syswrite(STDERR, 'forked'); while (1) { select(undef, undef, undef, 0.05) }`;

test.runIf(givesNamespaces())(
  'what a process has forked ends with it, and none is left when its end is known',
  async () => {
    // With the filter it could not fork.
    const wanted = WALLS.filter((wall) => wall !== 'seccomp');
    const walls = await buildWalls({
      dataFolder: folder,
      cacheFolder: join(folder, 'cache'),
      maxStartMs: 30_000,
      wanted,
    });
    expect(walls.isWrapped).toBe(true);
    const marker = String(700_000 + process.pid);
    const forked = () =>
      readdirSync('/proc').filter((name) => /^\d+$/.test(name) && cmdlineOf(name).startsWith(`/bin/sleep\0${marker}`));
    for (const end of ['the worker', 'the wrapper'] as const) {
      const command = [...walls.command, '/usr/bin/perl', '-e', FORKS, marker];
      const worker = startWorkerProcess(command, { NODE_ENV: 'test' }, true);
      const pid = await worker.known;
      await expect.poll(() => worker.stderr() + forked().length).toBe('forked3');
      expect(pid).not.toBe(worker.child.pid);
      worker.signal('SIGSTOP');
      await expect.poll(() => processStat(pid)?.[STAT.state]).toBe('T');
      expect(processStat(worker.child.pid ?? 0)?.[STAT.state]).not.toBe('T');
      worker.signal('SIGCONT');
      await expect.poll(() => processStat(pid)?.[STAT.state]).toBe('S');
      // What ends with a server that is killed is another test's.
      if (end === 'the worker') worker.signal('SIGKILL');
      else worker.child.kill('SIGKILL');
      expect(await worker.exited).toBe('SIGKILL');
      expect([forked(), isRunning(pid)]).toEqual([[], false]);
    }
    walls.close();
  },
);

const cmdlineOf = (pid: string) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // Gone.
    return '';
  }
};
