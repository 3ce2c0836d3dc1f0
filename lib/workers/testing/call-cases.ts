/** Calls, evaluations and writes: what every isolation backend promises. */
import { describe, expect, test } from 'vitest';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import type { BackendFixture } from './backend-fixture.ts';

export function callCases(backend: BackendFixture): void {
  const { kind, open, exec, say } = backend;

  describe('calls', () => {
    test('a capability that a policy lacks is refused, and an unknown policy has the fewest', async () => {
      const compute = { code: 'capability', extra: { needs: 'shell', policy: 'compute' } };
      await expect(open('compute', { policy: 'compute' }).exec(exec('true'))).rejects.toMatchObject(compute);
      await expect(open('unknown', { policy: 'root' }).exec(exec('true'))).rejects.toMatchObject(compute);
    });

    test('calls run one at a time in the order they came, and 64 may wait', async () => {
      const a = open('queue');
      await a.opened;
      const first = a.exec(exec('sleep 0.5; echo 0 >> order'));
      const answered: number[] = [];
      const calls = Array.from({ length: 64 }, (_, index) =>
        a.exec(exec(`echo ${index + 1} >> order`)).then(() => answered.push(index)),
      );
      expect(a.busy).toBe(true);
      await expect(a.exec(exec('true'))).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
      await Promise.all([first, ...calls]);
      expect(answered).toEqual(Array.from({ length: 64 }, (_, index) => index));
      expect((await say(a, 'cat order')).trim().split('\n')).toEqual(Array.from({ length: 65 }, (_, at) => String(at)));
      expect(a.busy).toBe(false);
    });

    test('output arrives while a call runs, and all of it together is the outcome’s', async () => {
      const chunks: string[] = [];
      const outcome = await open('output').exec(exec('echo one; echo two; echo three'), {
        onOutput: ({ text }) => chunks.push(text),
      });
      expect(chunks.join('')).toBe(outcome.stdout);
      expect(outcome).toMatchObject({ exitCode: 0, timedOut: false, truncated: false });
    });

    test('a signal stops a running call, and a waiting one never begins', async () => {
      const a = open('signal');
      const [running, waiting] = [new AbortController(), new AbortController()];
      const printed = Promise.withResolvers<unknown>();
      const first = a.exec(exec('echo on; while :; do :; done'), {
        signal: running.signal,
        onOutput: (chunk) => printed.resolve(chunk),
      });
      const second = a.exec(exec('echo never > never'), { signal: waiting.signal });
      waiting.abort();
      await expect(second).rejects.toMatchObject({ code: 'conflict', extra: { cause: 'aborted' } });
      await printed.promise;
      running.abort();
      expect(await first).toMatchObject({ exitCode: 130, stdout: 'on\n', timedOut: false });
      expect(await say(a, 'ls')).toBe('');
    });

    test('a call that takes longer than it may is ended, and its answer says so', async () => {
      const outcome = await open('time').exec(exec('echo begun; while :; do :; done', 300));
      expect(outcome).toMatchObject({ timedOut: true, exitCode: 124, stdout: 'begun\n' });
    });

    test.runIf(kind.evaluates)('an evaluation gives its value, and what it throws is its error', async () => {
      const a = open('evaluation');
      expect(await a.eval({ language: 'js', code: '6 * 7' })).toMatchObject({ ok: true, value: 42 });
      expect(await a.eval({ language: 'js', code: 'throw new Error("no")' })).toMatchObject({
        ok: false,
        error: expect.stringContaining('no'),
      });
    });

    test('a write waits for no call that runs, and is on disk when it is answered', async () => {
      const a = open('write');
      await a.opened;
      const running = a.exec(exec('sleep 5')).catch(() => undefined);
      await a.write({ op: 'put', volume: 'workspace', path: vfsPath('/f'), content: Buffer.from('answered') });
      expect(a.busy).toBe(true);
      await a.kill('killed');
      await running;
      expect(await say(open('write', { mustExist: true }), 'cat f')).toBe('answered');
    });
  });
}
