/**
 * For tests: reader processes that engines of one process share, one after another. An engine of its own processes
 * starts two, and one more for each kind of check: most of what a short test would cost.
 */
import { WinterdockError } from '../base/errors.ts';
import { createReaders } from '../vfs/readers.ts';
import type { Readers } from '../vfs/types.ts';

interface Shared {
  readonly pool: Readers;
  /** Readers for copies that no engine has now. */
  readonly copiers: Readers[];
}

/** The processes, by the largest file that they take. They end with the process that started them. */
const shared = new Map<number, Shared>();

function sharedBy(maxFileBytes: number): Shared {
  const known = shared.get(maxFileBytes) ?? { pool: createReaders({ maxFileBytes }), copiers: [] };
  shared.set(maxFileBytes, known);
  return known;
}

const stopping = () => new WinterdockError('storage_unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });

/**
 * Readers for one engine. Its `stop` waits for what runs and refuses what comes later, and leaves the processes to the
 * next engine. An engine breaks off its copies, so their processes are its own until it stops; when it broke off none,
 * the next engine has them.
 */
export function sharedReaders({ maxFileBytes }: { maxFileBytes: number }): Readers {
  const { pool, copiers } = sharedBy(maxFileBytes);
  const copier = copiers.pop() ?? createReaders({ maxFileBytes });
  let copies = 0;
  let isCopierStopped = false;
  const running = new Set<Promise<unknown>>();
  let isStopped = false;
  let isBrokenOff = false;
  const whileRunning = <T>(start: () => Promise<T>): Promise<T> => {
    if (isStopped) return Promise.reject(stopping());
    const result = start();
    const settled = result.catch(() => undefined).finally(() => running.delete(settled));
    running.add(settled);
    return result;
  };
  return {
    read: (target, request, tenant) => whileRunning(() => pool.read(target, request, tenant)),
    check: (path, how) => whileRunning(() => pool.check(path, how)),
    hash: (path) => whileRunning(() => pool.hash(path)),
    settle: (path) => whileRunning(() => pool.settle(path)),
    copyComplete: (from, path) => whileRunning(() => pool.copyComplete(from, path)),
    mark: (path, limits) => whileRunning(() => pool.mark(path, limits)),
    async copy(target, path, how) {
      if (isStopped || isBrokenOff) throw stopping();
      copies += 1;
      try {
        return await copier.copy(target, path, how);
      } finally {
        copies -= 1;
      }
    },
    async breakOffCopies() {
      isBrokenOff = true;
      if (copies === 0) return;
      isCopierStopped = true;
      await copier.breakOffCopies();
    },
    // The first read starts them.
    start: async () => {},
    async stop() {
      if (isStopped) return;
      isStopped = true;
      await this.breakOffCopies();
      if (isCopierStopped) await copier.stop();
      else copiers.push(copier);
      await Promise.all(running);
    },
  };
}
