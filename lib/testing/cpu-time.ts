/** For tests: processor time, where a busy machine makes every clock run fast. Knows nothing of what runs. */

/** Milliseconds of processor time that this thread has had. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
