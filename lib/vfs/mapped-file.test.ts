/**
 * A disk that fails under a mapped file: the kernel ends the process that touches the page (SIGBUS). A file that is cut
 * off under its mapping does the same.
 */
import { existsSync, readFileSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { closeToRest, openAtRest, openLive } from './open.ts';
import { createReaders } from './readers.ts';
import { readersOf } from './testing/proc.ts';
import { MIB, tmpFile, vfsPath } from './testing/tmp-files.ts';

const CONTENT_MIB = 24;
const LIMITS = { maxBytes: 512 * MIB, maxFileBytes: 64 * MIB, mustExist: false };

function restingFile(mebibytes: number): string {
  const file = tmpFile();
  const vfs = openLive(file, LIMITS);
  vfs.put(vfsPath('/first'), Buffer.from('kept'));
  for (let n = 0; n < 4; n += 1) vfs.put(vfsPath(`/large-${n}`), Buffer.alloc((mebibytes * MIB) / 4, n));
  closeToRest(vfs);
  return file;
}

const mapsOf = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8');
  } catch {
    return '';
  }
};

test('the copy that reads it fails with a clear error, leaves nothing behind, and the next copy is whole', async () => {
  const readers = createReaders({ maxFileBytes: 64 * MIB, processes: 1 });
  onTestFinished(() => readers.stop());
  const [failing, whole] = [restingFile(CONTENT_MIB), restingFile(4)];
  const target = join(dirname(failing), 'copy.sqlite');
  const copy = (path: string, to: string) =>
    readers.copy({ path, mode: 'rest' }, to, { volumes: ['workspace', 'memory'], durable: false });
  // Starts the process of copies.
  await copy(whole, join(dirname(whole), 'warm.sqlite'));
  const before = readersOf(process.pid);
  const failed = copy(failing, target).then(
    () => null,
    (error: unknown) => error,
  );
  let struck = 0;
  while (struck === 0) {
    await new Promise((resolve) => setImmediate(resolve));
    struck = before.find((pid) => mapsOf(pid).includes(failing)) ?? 0;
  }
  process.kill(struck, 'SIGSTOP');
  truncateSync(failing, 8192);
  process.kill(struck, 'SIGCONT');
  expect(await failed).toMatchObject({
    code: 'storage_unavailable',
    message: 'The copy was broken off before it ended.',
    retryAfterSeconds: 5,
    cause: { message: expect.stringContaining('SIGBUS') },
  });
  expect(existsSync(target)).toBe(false);
  expect(readersOf(process.pid)).not.toContain(struck);
  const again = join(dirname(whole), 'again.sqlite');
  await copy(whole, again);
  const resting = openAtRest(again);
  expect(Buffer.from(resting.get(vfsPath('/first')) ?? []).toString()).toBe('kept');
  resting.close();
});
