/** Those who wait until something changes. Who changes it calls each of `waiters`, which leaves by itself. */
export function waitForCall(waiters: Set<() => void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      waiters.delete(done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    waiters.add(done);
    signal.addEventListener('abort', done, { once: true });
  });
}
