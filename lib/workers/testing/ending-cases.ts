/** How a process ends, and what it leaves: what every isolation backend promises. */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { BackendFixture } from './backend-fixture.ts';

export function endingCases(backend: BackendFixture): void {
  const { fileOf, open, exec, say, atRest } = backend;

  describe('ending', () => {
    test('a process that was closed leaves one clean file and reports its identity', async () => {
      const a = open('close');
      await a.exec(exec('echo w > w'));
      expect(a.identity).toBeNull();
      expect(await a.close({ drainMs: 1000, force: false })).toBe(true);
      expect(await a.ended).toMatchObject({ cause: 'closed' });
      expect(a.identity).toEqual(expect.any(String));
      expect(['-wal', '-shm', '-journal'].filter((suffix) => existsSync(fileOf('close') + suffix))).toEqual([]);
      expect(atRest('close', '/w')).toBe('w\n');
    });

    test('a close while calls run is not done, and the process goes on; by force they are aborted', async () => {
      const a = open('drain');
      await a.exec(exec('echo w > w'));
      const running = a.exec(exec('while :; do sleep 0.01; done'));
      expect(await a.close({ drainMs: 50, force: false })).toBe(false);
      expect(a.busy).toBe(true);
      const waiting = a.exec(exec('true')).catch(() => undefined);
      expect(await a.close({ drainMs: 0, force: true })).toBe(true);
      expect(await running).toMatchObject({ exitCode: 124, timedOut: true });
      await waiting;
      expect(atRest('drain', '/w')).toBe('w\n');
    });

    test('a close without a running call refuses later calls', async () => {
      const a = open('late');
      await a.exec(exec('true'));
      const closed = a.close({ drainMs: 1000, force: false });
      await expect(a.exec(exec('true'))).rejects.toMatchObject({});
      expect(await closed).toBe(true);
    });

    test('a kill may be repeated, the first cause stays, and answered writes are kept', async () => {
      const a = open('kill');
      await a.exec(exec('echo w > w'));
      const running = a.exec(exec('sleep 30'));
      const death = await a.kill('killed');
      expect(death).toMatchObject({ cause: 'killed' });
      expect(await a.kill('memory')).toEqual(death);
      expect(await a.ended).toEqual(death);
      await expect(running).rejects.toMatchObject({ code: 'conflict' });
      await expect(a.exec(exec('true'))).rejects.toMatchObject({});
      expect(await say(open('kill', { mustExist: true }), 'cat w')).toBe('w\n');
    });

    test('a process that ends by itself is a crash, and its call is told whether it had begun', async () => {
      const a = open('crash');
      await a.exec(exec('echo w > w'));
      const running = a.exec(exec('sleep 30'));
      process.kill(a.pid, 'SIGKILL');
      await expect(running).rejects.toMatchObject({ code: 'conflict', extra: { cause: 'crash', started: true } });
      expect(await a.ended).toMatchObject({ cause: 'crash', detail: expect.stringContaining('SIGKILL') });
    });

    test('a process that hangs is reported as silent, and no other is', async () => {
      const [still, other] = [open('still'), open('other')];
      await Promise.all([still.opened, other.opened]);
      const silent: string[] = [];
      const told = new Promise<void>((resolve) => {
        for (const one of [still, other]) {
          one.watch({
            onSilent: () => {
              silent.push(one.id);
              resolve();
            },
            onThawed: () => {},
          });
        }
      });
      process.kill(still.pid, 'SIGSTOP');
      await told;
      expect(silent).toEqual(['still']);
      expect(await still.kill('silent')).toMatchObject({ cause: 'silent' });
    });
  });
}
