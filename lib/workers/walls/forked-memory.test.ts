import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { withForked } from '../../base/process-stat.ts';
import { WALLS } from '../../base/walls.ts';
import { MemoryBudget } from '../memory-budget.ts';
import { startWorkerProcess } from '../process.ts';
import { SupervisedInstance } from '../supervisor.ts';
import { isRunning } from '../testing/stage.ts';
import { giveSandbox } from './user.ts';
import { buildWalls, type Walls } from './walls.ts';

const MIB = 1024 * 1024;
const TAKEN_BYTES = 1536 * MIB;
const WAIT = { timeout: 240_000 };

const folder = mkdtempSync(join(tmpdir(), 'winterdock-forked-'));
let walls: Walls;
beforeAll(async () => {
  chmodSync(folder, 0o755);
  const options = { dataFolder: folder, cacheFolder: join(folder, 'cache'), maxStartMs: 240_000 };
  // With the filter it could not fork.
  walls = await buildWalls({ ...options, wanted: WALLS.filter((wall) => wall !== 'seccomp') });
});
afterAll(() => {
  walls.close();
  rmSync(folder, { recursive: true });
});

function givesNamespaces(): boolean {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  return spawnSync('unshare', [...user, '--pid', '--fork', 'true']).status === 0;
}

/** A sandbox whose worker forks, on SIGUSR2, what takes so many bytes. Its policy allows 256 MiB. */
function open(id: string, bytes: number): SupervisedInstance {
  const file = join(folder, 'live', id, 'vfs.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  giveSandbox({ id, file }, walls);
  const entry = join(import.meta.dirname, '..', 'testing', 'forking-worker.ts');
  const command = [...walls.command, process.execPath, '--no-warnings', '--expose-gc', entry, String(bytes)];
  const worker = startWorkerProcess(command, { NODE_ENV: 'production' }, walls.isWrapped);
  const limits = { maxBytes: 64 * MIB, maxFileBytes: MIB, mustExist: false };
  return new SupervisedInstance(
    worker,
    { id, file, policy: 'posix', ...limits },
    {},
    {
      uid: walls.ownUser?.(id).uid ?? null,
    },
  );
}

const forkedBy = (bytes: number) =>
  readdirSync('/proc').filter((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').endsWith(`\0${bytes}\0`) && /^\d+$/.test(name);
    } catch {
      return false;
    }
  });

test.runIf(givesNamespaces()).each(['in a call', 'between calls'] as const)(
  'without the filter a fork that takes 1.5 GB %s is ended with its sandbox, and counted',
  async (when) => {
    // Told apart by the last digits.
    const bytes = TAKEN_BYTES + (process.pid % 100_000) + (when === 'in a call' ? 0 : 100_000);
    const a = open(`forks-${when.replaceAll(' ', '-')}`, bytes);
    await a.opened;
    expect(a.processes()).toEqual({ pids: [a.pid], isWhole: true });
    const call = when === 'in a call' ? a.exec({ command: 'sleep 50', timeoutMs: 60_000 }) : null;
    const budget = new MemoryBudget(1, new Set([a]));
    const before = budget.fits(0) ? 0 : budget.bytesOf(a);
    process.kill(a.pid, 'SIGUSR2');
    if (call === null) {
      await vi.waitFor(() => {
        budget.fits(0);
        expect(budget.bytesOf(a) - before).toBeGreaterThan(TAKEN_BYTES);
      }, WAIT);
      a.check();
    } else {
      await expect(call).rejects.toMatchObject({ extra: { cause: 'memory' } });
    }
    expect(await a.ended).toMatchObject({
      cause: 'memory',
      detail: expect.stringContaining('more than the 256 MiB that the policy "posix" allows'),
    });
    // The kernel ends the namespace.
    expect([isRunning(a.pid), forkedBy(bytes)]).toEqual([false, []]);
  },
);

test.runIf(process.platform === 'linux')(
  'of what has forked more than is looked at it is known that it is more',
  async () => {
    const forks = 'for (1..1001) { fork() or do { sleep 60; exit } } $| = 1; print 1; sleep 60';
    const parent: ChildProcess = spawn('/usr/bin/perl', ['-e', forks], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    if (parent.stdout !== null) await once(parent.stdout, 'data');
    const pid = parent.pid ?? 0;
    expect(withForked(pid).isWhole).toBe(false);
    expect(withForked(process.pid).pids).toContain(pid);
    const exited = once(parent, 'exit');
    process.kill(-pid, 'SIGKILL');
    await exited;
    expect(withForked(pid)).toEqual({ pids: [pid], isWhole: true });
  },
);
