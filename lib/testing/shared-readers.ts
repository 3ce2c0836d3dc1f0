/**
 * For tests: reader processes that engines of one process share, one after another. An engine of its own processes
 * starts two, and one more for each kind of check: most of what a short test would cost.
 */
import { WinterdockError } from '../base/errors.ts';
import { createReaders } from '../vfs/readers.ts';
import type { Readers } from '../vfs/types.ts';

/** The processes, by the largest file that they take. They end with the process that started them. */
const pools = new Map<number, Readers>();

function poolFor(maxFileBytes: number): Readers {
  const pool = pools.get(maxFileBytes) ?? createReaders({ maxFileBytes });
  pools.set(maxFileBytes, pool);
  return pool;
}

/**
 * Readers for one engine. Its `stop` waits for what runs and refuses what comes later, and leaves the processes to the
 * next engine. Copies, which an engine breaks off, run in processes of its own.
 */
export function sharedReaders({ maxFileBytes }: { maxFileBytes: number }): Readers {
  const pool = poolFor(maxFileBytes);
  const own = createReaders({ maxFileBytes });
  const running = new Set<Promise<unknown>>();
  let isStopped = false;
  const whileRunning = <T>(start: () => Promise<T>): Promise<T> => {
    if (isStopped) {
      return Promise.reject(
        new WinterdockError('storage_unavailable', 'The server is stopping.', { retryAfterSeconds: 5 }),
      );
    }
    const result = start();
    const settled = result.catch(() => undefined).finally(() => running.delete(settled));
    running.add(settled);
    return result;
  };
  return {
    read: (target, request, whose) => whileRunning(() => pool.read(target, request, whose)),
    check: (path, how) => whileRunning(() => pool.check(path, how)),
    settle: (path) => whileRunning(() => pool.settle(path)),
    copy: (target, path, how) => own.copy(target, path, how),
    breakOffCopies: () => own.breakOffCopies(),
    // The first read starts them.
    start: async () => {},
    async stop() {
      isStopped = true;
      await own.stop();
      await Promise.all(running);
    },
  };
}
