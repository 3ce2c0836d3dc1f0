/** How a process opens its file: what every isolation backend promises. */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import type { BackendFixture } from './backend-fixture.ts';

export function openingCases(backend: BackendFixture): void {
  const { kind, fileOf, specOf, open, exec, say } = backend;

  describe('opening', () => {
    test('a process serves its own file, which is made when it never was there', async () => {
      const [a, b] = [open('own-a'), open('own-b')];
      expect(await say(a, 'echo a > f; cat f')).toBe('a\n');
      expect(await say(b, 'ls; echo b > f; cat f')).toBe('b\n');
      expect(await say(a, 'cat f')).toBe('a\n');
      expect(a.id).toBe('own-a');
    });

    test('a missing file is an error and is not created', async () => {
      const a = open('absent', { mustExist: true });
      await expect(a.opened).rejects.toMatchObject({ code: 'missing_file' });
      await expect(a.exec(exec('true'))).rejects.toMatchObject({});
      expect(existsSync(fileOf('absent'))).toBe(false);
    });

    test('tmp is empty once a process has its file open, and the other volumes are as they were', async () => {
      const a = open('tmp');
      await a.exec(exec('echo w > w; echo m > /memory/m; echo t > /tmp/t'));
      expect(await a.close({ drainMs: 1000, force: false })).toBe(true);
      const again = open('tmp', { mustExist: true });
      await again.opened;
      expect(await say(again, 'ls /tmp; cat w /memory/m')).toBe('w\nm\n');
    });

    test('calls sent before the file is open are served', async () => {
      const a = open('early');
      const answers = await Promise.all([a.exec(exec('echo 1')), a.exec(exec('echo 2')), a.opened]);
      expect(answers.slice(0, 2)).toMatchObject([{ stdout: '1\n' }, { stdout: '2\n' }]);
    });

    test.runIf(kind.hasMemorySandboxes)(
      'a sandbox in memory has no file, and is read through its process',
      async () => {
        const a = backend.pool.open(specOf('memory', { file: ':memory:' }));
        await a.write({ op: 'put', volume: 'workspace', path: vfsPath('/f'), content: Buffer.from('kept') });
        const { content } = (await a.read({ op: 'get', volume: 'workspace', path: vfsPath('/f') })) as {
          content: Uint8Array;
        };
        expect(Buffer.from(content).toString()).toBe('kept');
        expect(existsSync(fileOf('memory'))).toBe(false);
      },
    );
  });
}
