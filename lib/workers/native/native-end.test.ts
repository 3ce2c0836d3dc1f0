/** What is left of real programs when their server, their process or a part of it is killed: nothing but the file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { JailGroups } from '../../native/jail/jail-groups.ts';
import { endLeftoverWorkers } from '../leftover-workers.ts';
import { createPool } from '../pool.ts';
import type { InstancePool, OpenSpec } from '../protocol/instance.ts';
import type { NativeBackend } from './native-backend.ts';
import { HAS_NATIVES, NATIVE_USER, nativesOn, saysWhyNot } from './testing/native-stage.ts';

saysWhyNot('lib/workers/native/native-end.test.ts');

const MIB = 1024 * 1024;
const WAIT = { timeout: 60_000, interval: 20 };
/** One at each of these moments, and then anywhere. */
const MOMENTS = ['mounting', 'running', 'committing', 'freezing', 'closing'] as const;

describe.runIf(HAS_NATIVES)('of real programs', () => {
  let folder: string;
  let native: NativeBackend;
  let pool: InstancePool;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-native-end-'));
    native = nativesOn(folder);
    pool = createPool({ size: 0, maxActive: 20, dataFolder: folder, native });
  });
  afterAll(async () => {
    await pool.stop();
    await native.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const specOf = (id: string, more: Partial<OpenSpec> = {}): OpenSpec => {
    mkdirSync(join(folder, 'live', id), { recursive: true });
    const file = join(folder, 'live', id, 'vfs.sqlite');
    return { id, file, policy: 'native', maxBytes: 64 * MIB, maxFileBytes: 16 * MIB, mustExist: false, ...more };
  };
  /** Processes of guests, groups by the ids of sandboxes, and mounts. */
  const left = (ids: readonly string[]) => ({
    processes: guests(),
    groups: (JailGroups.open().groups?.names() ?? []).filter((name) => ids.some((id) => name.endsWith(`-${id}`))),
    mounts: readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(folder)),
    folders: readdirSync(join(folder, 'mounts')),
  });
  const NOTHING = { processes: [], groups: [], mounts: [], folders: [] };

  test.each(MOMENTS)(
    'a process that is killed while %s leaves nothing, and what was answered is there',
    async (moment) => {
      const id = `kill-${moment}`;
      for (let round = 0; round < 2; round += 1) {
        const opened = pool.open(specOf(id));
        opened.opened.catch(() => {});
        const calls: Promise<unknown>[] = [];
        if (moment !== 'mounting') {
          expect((await opened.exec({ command: `echo ${round} >> answered; sync` })).exitCode).toBe(0);
          const busy = 'setsid sleep 1000 & while :; do echo x > noise; done';
          if (moment === 'running' || moment === 'committing') calls.push(opened.exec({ command: busy }));
          if (moment === 'committing') {
            for (let at = 0; at < 5; at += 1)
              calls.push(opened.write({ op: 'mkdir', volume: 'workspace', path: `/made-${round}-${at}` as never }));
          }
          if (moment === 'freezing') calls.push(opened.pause());
          if (moment === 'closing') calls.push(opened.close({ drainMs: 1000, force: true }));
        }
        for (const call of calls) call.catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, Math.random() * (moment === 'mounting' ? 800 : 60)));
        try {
          process.kill(opened.pid, 'SIGKILL');
        } catch {
          // It was quicker: it has closed.
        }
        await opened.ended;
        await Promise.allSettled(calls);
        await native.sweep();
        await vi.waitFor(() => expect(left([id])).toEqual(NOTHING), WAIT);
      }
      const after = pool.open(specOf(id));
      const { stdout } = await after.exec({ command: 'cat answered 2>/dev/null || echo none' });
      expect(stdout).toBe(moment === 'mounting' ? 'none\n' : '0\n1\n');
      expect(await after.close({ drainMs: 1000, force: false })).toBe(true);
    },
  );

  test('programs in the background keep it busy and from being paused, until they end', async () => {
    const opened = pool.open(specOf('behind'));
    await opened.exec({ command: 'while [ ! -e /tmp/stop ]; do date +%N > beat; sleep 0.05; done &' });
    await vi.waitFor(() => expect(opened.busy).toBe(true), WAIT);
    expect(await opened.pause()).toBeNull();
    await opened.exec({ command: 'touch /tmp/stop' });
    await vi.waitFor(() => expect(opened.busy).toBe(false), WAIT);
    await vi.waitFor(async () => expect(await opened.pause()).not.toBeNull(), WAIT);
    expect(await opened.close({ drainMs: 1000, force: false })).toBe(true);
  });

  test('a jail whose first process is killed ends, its call says so, and the next call has another', async () => {
    const opened = pool.open(specOf('first'));
    await opened.exec({ command: 'echo kept > kept' });
    const running = opened.exec({ command: 'sleep 1000' });
    running.catch(() => {});
    await vi.waitFor(() => expect(guests().length).toBeGreaterThan(2), WAIT);
    const [first = 0] = guests();
    process.kill(first, 'SIGKILL');
    await expect(running).rejects.toMatchObject({ code: 'conflict', extra: { started: true } });
    expect(await opened.exec({ command: 'cat kept; echo on' })).toMatchObject({ stdout: 'kept\non\n', exitCode: 0 });
    await opened.kill('killed');
  });

  test('programs that take all memory, all processes, all time or all room leave the sandbox as it was', async () => {
    const opened = pool.open(specOf('bombs', { maxBytes: 8 * MIB }));
    const run = (command: string, timeoutMs = 60_000) => opened.exec({ command, timeoutMs });
    await run('echo kept > kept');
    const memory = await run('python3 -c "x = bytearray(3 << 30); print(len(x))"').catch((error: Error) => error);
    expect(memory).not.toMatchObject({ exitCode: 0 });
    expect(await run('while :; do :; done', 500)).toMatchObject({ timedOut: true, exitCode: 124 });
    const full = await run('head -c 20000000 /dev/urandom > large');
    expect(full).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('No space left') });
    expect(await run('cat kept; rm large; echo more > more && cat more')).toMatchObject({ stdout: 'kept\nmore\n' });
    // A fork bomb goes on behind the call that began it, and ends with the sandbox's sleep.
    await run('f() { f | f & }; f; sleep 1', 3000).catch(() => {});
    expect(await opened.close({ drainMs: 1000, force: true })).toBe(true);
    await vi.waitFor(() => expect(left(['bombs'])).toEqual(NOTHING), WAIT);
    const after = pool.open(specOf('bombs', { maxBytes: 8 * MIB }));
    expect(await after.exec({ command: 'cat kept more' })).toMatchObject({ stdout: 'kept\nmore\n' });
    expect(await after.close({ drainMs: 1000, force: false })).toBe(true);
  });

  test('a server that is killed at any moment leaves empty groups at most, which the next one removes', async () => {
    const script = `import { createPool } from ${JSON.stringify(join(import.meta.dirname, '..', 'pool.ts'))};
      import { nativesOn } from ${JSON.stringify(join(import.meta.dirname, 'testing', 'native-stage.ts'))};
      const folder = ${JSON.stringify(folder)};
      const pool = createPool({ size: 0, maxActive: 5, dataFolder: folder, native: nativesOn(folder) });
      const opened = pool.open(${JSON.stringify(specOf('served'))});
      for (let n = 0; ; n += 1) {
        await opened.exec({ command: 'echo ' + n + ' > count; sync; setsid sleep 1000 &' });
        process.stdout.write(n + '\\n');
        if (n % 3 === 2) await opened.pause();
      }`;
    let answered = -1;
    for (let round = 0; round < 3; round += 1) {
      const server = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, NODE_ENV: 'test' },
      });
      server.stdout.setEncoding('utf8').on('data', (text: string) => {
        answered = Number(text.trim().split('\n').at(-1));
      });
      await once(server.stdout, 'data');
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 500));
      server.kill('SIGKILL');
      await once(server, 'exit');
      await endLeftoverWorkers(folder);
      await native.sweep();
      await vi.waitFor(() => expect(left(['served'])).toEqual(NOTHING), WAIT);
      const after = pool.open(specOf('served', { mustExist: true }));
      const { stdout } = await after.exec({ command: 'cat count' });
      // One more may have been done and not yet told.
      expect([answered, answered + 1]).toContain(Number(stdout));
      expect(await after.close({ drainMs: 1000, force: false })).toBe(true);
    }
  });
});

/** The processes of jails of this test, by their user; the first one first. */
function guests(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        return status.includes(`Uid:\t${NATIVE_USER}\t`) && !/^State:\s+[ZX]/m.test(status);
      } catch {
        return false;
      }
    });
}
