/** Pausing an idle process: what every isolation backend promises. */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import type { InstanceProcess } from '../protocol/instance.ts';
import type { BackendFixture } from './backend-fixture.ts';

export function pausingCases(backend: BackendFixture): void {
  const { fileOf, open, exec, say, atRest } = backend;

  describe('pausing', () => {
    /** A process that has answered a call and has nothing to do. */
    const idle = async (id: string) => {
      const opened = open(id);
      expect(await say(opened, 'echo w > w; echo t > /tmp/t; cat w')).toBe('w\n');
      return opened;
    };
    const paused = async (id: string) => {
      const opened = await idle(id);
      await pause(opened);
      return opened;
    };
    /** Again where a health check was under way. */
    const pause = async (opened: InstanceProcess) => {
      const report = { beforeBytes: expect.any(Number), afterBytes: expect.any(Number) };
      await expect.poll(() => opened.pause()).toMatchObject(report);
      expect(opened.thermal).toBe('warm');
    };

    test('an idle process is paused, and the next call continues it with its tmp', async () => {
      const a = await paused('warm');
      const thawed: number[] = [];
      a.watch({ onSilent: () => {}, onThawed: (tookMs) => thawed.push(tookMs) });
      expect(await say(a, 'cat w /tmp/t')).toBe('w\nt\n');
      expect([a.thermal, thawed.length]).toEqual(['hot', 1]);
    });

    test('a write and a read continue it too, and so does a thaw, which says how long it took', async () => {
      const a = await paused('warm-write');
      const put = { op: 'put', volume: 'workspace', path: vfsPath('/f'), content: Buffer.from('written') } as const;
      await a.write(put);
      expect(a.thermal).toBe('hot');
      await pause(a);
      await a.read({ op: 'get', volume: 'workspace', path: vfsPath('/f') });
      expect(a.thermal).toBe('hot');
      await pause(a);
      expect(await a.thaw()).toBeGreaterThan(0);
      expect(await a.thaw()).toBe(0);
      expect(await say(a, 'cat f')).toBe('written');
    });

    test('a process with a call or a write is not paused, and neither is one that has not opened its file', async () => {
      const a = open('warm-busy');
      expect(await a.pause()).toBeNull();
      await a.opened;
      const call = a.exec(exec('sleep 0.3; echo done'));
      expect(await a.pause()).toBeNull();
      expect(await call).toMatchObject({ stdout: 'done\n' });
      const put = { op: 'put', volume: 'workspace', path: vfsPath('/f'), content: Buffer.from('x') } as const;
      const write = a.write(put);
      expect(await a.pause()).toBeNull();
      await write;
      expect(a.thermal).toBe('hot');
    });

    test('a call in the moment of pausing is answered, whichever comes first', async () => {
      const a = await idle('warm-race');
      for (let delay = 0; delay < 24; delay += 1) {
        const pausing = a.pause();
        if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay * 4));
        expect(await say(a, `echo ${delay}`)).toBe(`${delay}\n`);
        await pausing;
        // Paused or not, the call was answered and the next one is.
        expect(await say(a, 'cat w')).toBe('w\n');
      }
    });

    test('calls that reach a paused process together keep their order', async () => {
      const a = await paused('warm-order');
      await Promise.all([1, 2, 3].map((each) => a.exec(exec(`echo ${each} >> order`))));
      expect(await say(a, 'cat order')).toBe('1\n2\n3\n');
    });

    test('a paused process is not checked, and is not taken for silent', async () => {
      const a = await paused('warm-checks');
      const silent: string[] = [];
      a.watch({ onSilent: () => silent.push(a.id), onThawed: () => {} });
      // Twenty checks.
      await new Promise((resolve) => setTimeout(resolve, 2000));
      expect([a.thermal, silent]).toEqual(['warm', []]);
      expect(await say(a, 'cat w')).toBe('w\n');
    });

    test.each([false, true])('a paused process is closed (force: %s) and leaves one clean file', async (force) => {
      const a = await paused(`warm-close-${force}`);
      expect(await a.close({ drainMs: 1000, force })).toBe(true);
      expect(await a.ended).toMatchObject({ cause: 'closed' });
      const suffixes = ['-wal', '-shm', '-journal'];
      expect(suffixes.filter((suffix) => existsSync(fileOf(a.id) + suffix))).toEqual([]);
      expect(atRest(a.id, '/w')).toBe('w\n');
    });

    test('a close in the moment of pausing closes it', async () => {
      const a = await idle('warm-close-race');
      const pausing = a.pause();
      expect(await a.close({ drainMs: 1000, force: false })).toBe(true);
      expect(await pausing).toBeNull();
      expect(atRest('warm-close-race', '/w')).toBe('w\n');
    });

    test('a paused process is killed, from here or from outside, and answered writes are kept', async () => {
      const [a, b] = [await paused('warm-kill'), await paused('warm-killed')];
      expect(await a.kill('killed')).toMatchObject({ cause: 'killed' });
      process.kill(b.pid, 'SIGKILL');
      expect(await b.ended).toMatchObject({ cause: 'crash' });
      await expect(b.exec(exec('true'))).rejects.toMatchObject({ code: 'conflict', extra: { started: false } });
      for (const id of ['warm-kill', 'warm-killed'])
        expect(await say(open(id, { mustExist: true }), 'cat w')).toBe('w\n');
    });
  });
}
